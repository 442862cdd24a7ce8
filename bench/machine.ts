import { execFileSync } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { cpus, platform, release, tmpdir, totalmem } from 'node:os';

export interface Machine {
  cores: number;
  cpu: string;
  memoryGb: number;
  system: string;
  node: string;
  /** Of Weir; `unknown` outside a git repository. */
  commit: string;
}

export function describeMachine(): Machine {
  const all = cpus();
  return {
    cores: all.length,
    cpu: all[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    node: process.version,
    commit: commit(),
  };
}

function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', ['--no-optional-locks', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' with changes');
  } catch {
    return 'unknown';
  }
}

const TMPFS = 0x01021994;

/** Whether temporary folders lie in memory, where fsync costs nothing and says nothing. */
export async function isTemporaryFolderInMemory(): Promise<boolean> {
  return (await statfs(tmpdir())).type === TMPFS;
}
