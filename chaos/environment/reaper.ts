import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Messages to the reaper. */
export type ReaperMessage = { pid: number } | { keepFolder: true };

/** Takes away what is left when this process has ended, in whatever way. */
export interface Reaper {
  /** Has a process ended with this one. */
  add(pid: number): void;
  /** Leaves the folder for people to look into. */
  keepFolder(): void;
  /** Takes everything away now. */
  close(): Promise<void>;
}

/** Starts a process that ends every part of the system, and removes its folder, once this process is gone. */
export function openReaper(folder: string): Reaper {
  const script = fileURLToPath(new URL('./reaper-main.js', import.meta.url));
  const reaper = spawn(process.execPath, [script, folder], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Out of reach of Ctrl-C, which would end it before it can clear away.
    detached: true,
  });
  const ended = once(reaper, 'exit');
  const tell = (message: ReaperMessage) => reaper.send(message);
  return {
    add: (pid) => void tell({ pid }),
    keepFolder: () => void tell({ keepFolder: true }),
    async close() {
      reaper.disconnect();
      await ended;
    },
  };
}
