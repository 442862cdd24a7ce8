import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Services, ServicesOptions } from './services.ts';

/** Options of temporary services. */
export type TemporaryOptions = Omit<ServicesOptions, 'home' | 'signal'>;

/** Messages of the keeper. */
export type KeeperMessage = { line: string } | { error: string } | { services: Omit<Services, 'close'> };

/**
 * The same as `openServices` in a new home, for tests and measurements. The home is removed with everything in it when it is
 * closed, or when this process ends in any way: a process of its own (temporary-keeper.ts) sees to that.
 */
export async function openTemporaryServices({ log, ...options }: TemporaryOptions): Promise<Services> {
  const keeper = spawnKeeper(JSON.stringify(options));
  const ended = once(keeper, 'exit');
  const close = async (): Promise<void> => {
    if (keeper.connected) keeper.disconnect();
    await ended;
  };
  const services = await new Promise<Omit<Services, 'close'>>((resolve, reject) => {
    keeper.on('message', (message: KeeperMessage) => {
      if ('line' in message) log(message.line);
      else if ('error' in message) reject(new Error(message.error));
      else resolve(message.services);
    });
    void ended.then(([code, signal]) => reject(new Error(`The keeper of the services ended (${signal ?? code}).`)));
  });
  return { ...services, close };
}

function spawnKeeper(options: string): ChildProcess {
  // As it was built, also where tests load this file as it was written.
  const script = fileURLToPath(new URL('../dist/temporary-keeper.js', import.meta.url));
  return spawn(process.execPath, [script, options], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Out of reach of Ctrl-C, which would end it before it can clear away.
    detached: true,
  });
}
