import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { NODE_ARGUMENTS } from './node-arguments.ts';

/** A process of Weir, and every line that it wrote. */
export interface Captured {
  url: string;
  /** Standard output and standard error. */
  output(): string;
  /** Ends it with SIGTERM and waits until all that it wrote has arrived. */
  stop(): Promise<void>;
}

/** Runs one of the programs, with these settings and no others, and keeps what it writes. */
export async function spawnCaptured(main: string, env: Record<string, string>): Promise<Captured> {
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, main], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += String(chunk)));
  const closed = once(child, 'close');
  const [message] = (await Promise.race([
    once(child, 'message'),
    closed.then(([code]) => Promise.reject(new Error(`${main} ended with code ${String(code)}: ${text}`))),
  ])) as [{ url: string }];
  return {
    url: message.url,
    output: () => text,
    async stop() {
      child.kill('SIGTERM');
      await closed;
    },
  };
}
