import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { NODE_ARGUMENTS } from './node-arguments.ts';

/** What a process that ended by itself left behind. */
export interface Ended {
  code: unknown;
  out: string;
  err: string;
}

/** Runs one of the programs with these settings and no others, until it ends. */
export async function runToEnd(main: string, env: Record<string, string>, args: string[] = []): Promise<Ended> {
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, main, ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (texts.out += String(chunk)));
  child.stderr.on('data', (chunk) => (texts.err += String(chunk)));
  const [code] = (await once(child, 'close')) as unknown[];
  return { code, ...texts };
}
