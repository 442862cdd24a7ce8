import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What the keeper is told, over its channel. */
export type KeeperMessage = { pid: number } | { keepFolder: true };

/** Takes away what is left when this process has ended, in whatever way. */
export interface Keeper {
  /** Has a process ended with this one. */
  add(pid: number): void;
  /** Leaves the folder for people to look into. */
  keepFolder(): void;
  /** Takes everything away now. */
  close(): Promise<void>;
}

/** Starts a process that ends every part of the system, and removes its folder, once this process is gone. */
export function openKeeper(folder: string): Keeper {
  const script = fileURLToPath(new URL('./reaper-main.js', import.meta.url));
  const keeper = spawn(process.execPath, [script, folder], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Out of reach of Ctrl-C, which would end it before it can clear away.
    detached: true,
  });
  const ended = once(keeper, 'exit');
  const tell = (message: KeeperMessage) => keeper.send(message);
  return {
    add: (pid) => void tell({ pid }),
    keepFolder: () => void tell({ keepFolder: true }),
    async close() {
      keeper.disconnect();
      await ended;
    },
  };
}
