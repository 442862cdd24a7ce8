import { readFile } from 'node:fs/promises';
import { statusFields } from './processes.ts';
import { run } from './run.ts';

const pollMilliseconds = 500;

/**
 * Calls `gone` once when the npm that runs us is no more. npm that is killed takes nobody with it and says nothing;
 * the system only gives its child another parent. The child is this process, or a shell between npm and us. Does
 * nothing when not run by npm.
 */
export async function watchNpm(script: string, gone: () => void): Promise<void> {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const above = await look(parent);
  const isShell = above?.command.includes(script) ?? false;
  const timer = setInterval(() => void check(), pollMilliseconds);
  timer.unref();

  async function check(): Promise<void> {
    if (process.ppid === parent && (!isShell || (await look(parent))?.parent === above?.parent)) return;
    clearInterval(timer);
    gone();
  }
}

async function look(pid: number): Promise<{ parent: number; command: string } | undefined> {
  if (process.platform !== 'linux') {
    const { output } = await run('ps', ['-o', 'ppid=,command=', '-p', String(pid)], { seconds: 10 });
    const [, parent, command] = /^\s*(\d+)\s+(.*)$/.exec(output) ?? [];
    return command === undefined ? undefined : { parent: Number(parent), command };
  }
  try {
    const [stat, command] = await Promise.all(
      ['stat', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
    );
    return { parent: Number(statusFields(stat ?? '')[1]), command: command ?? '' };
  } catch {
    return undefined;
  }
}
