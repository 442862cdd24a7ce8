import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The system's numbers of a user; a server is started under them when Weir itself runs as root. */
export interface User {
  uid: number;
  gid: number;
}

export interface RunOptions {
  /** After this time the program is killed, and the run counts as failed; undefined: it takes as long as it does. */
  seconds: number | undefined;
  /** Told each line of its standard output as it comes, which is not in `output` then. */
  onLine?: (line: string) => void;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  user?: User | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Runs one program to its end. Never throws: a program that is missing, fails, or takes too long gives `ok: false`,
 * with the reason in `output` behind whatever it printed.
 */
export function run(program: string, args: string[], options: RunOptions): Promise<{ ok: boolean; output: string }> {
  const { seconds, onLine, user, ...rest } = options;
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      {
        ...rest,
        ...user,
        timeout: (seconds ?? 0) * 1000,
        killSignal: 'SIGKILL',
        maxBuffer: 64 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        const output = `${onLine === undefined ? stdout : ''}${stderr}`.trim();
        if (!error) return resolve({ ok: true, output });
        const reason = error.killed ? `${program} was stopped after ${seconds} s` : error.message;
        resolve({ ok: false, output: output === '' ? reason : output });
      },
    );
    if (onLine !== undefined && child.stdout !== null) createInterface(child.stdout).on('line', onLine);
  });
}
