import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { cpus, platform, release, tmpdir, totalmem } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Longer than the steps of 10 ms in which systems count, and short beside a round. */
const BUSY_SAMPLE_MS = 700;

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

/** So little is in use on a machine at rest. */
const AT_REST = 0.1;

/** For so long Postgres may still tidy up what a load has left. */
const TIDYING_MS_MAX = 30_000;

/**
 * The share of all cores that other programs use: the least that is in use over a short while, looked at until it is next to nothing,
 * for half a minute at most. The bench itself rests meanwhile.
 */
export async function measureNoise(): Promise<number> {
  const deadline = performance.now() + TIDYING_MS_MAX;
  let noise = 1;
  do noise = Math.min(noise, await measureBusy());
  while (noise > AT_REST && performance.now() < deadline);
  return noise;
}

async function measureBusy(): Promise<number> {
  const before = cpuTimes();
  await delay(BUSY_SAMPLE_MS);
  const after = cpuTimes();
  return 1 - (after.idle - before.idle) / (after.total - before.total);
}

function cpuTimes(): { idle: number; total: number } {
  const times = cpus().map(({ times }) => times);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  return { idle: sum(times.map(({ idle }) => idle)), total: sum(times.flatMap((each) => Object.values(each))) };
}

/**
 * Begins to count what the host of a virtual machine gives to others while this one has work (`steal` of proc_stat(5)): nobody in it
 * uses it, and everybody is slower by it. Returns what tells the share of all cores since then; null where the system does not tell.
 */
export function watchStolen(): () => number | null {
  const before = readStolen();
  return () => {
    const after = readStolen();
    if (before === null || after === null || after.total === before.total) return null;
    return (after.stolen - before.stolen) / (after.total - before.total);
  };
}

function readStolen(): { stolen: number; total: number } | null {
  if (platform() !== 'linux') return null;
  // user, nice, system, idle, iowait, irq, softirq and steal, of all cores; what guests take is in user and nice already.
  const times = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/ +/).slice(1, 9).map(Number) ?? [];
  return { stolen: times[7] ?? 0, total: times.reduce((sum, time) => sum + time, 0) };
}

const TMPFS = 0x01021994;

/** Whether temporary folders lie in memory, where fsync costs nothing and says nothing. */
export async function isTemporaryFolderInMemory(): Promise<boolean> {
  return (await statfs(tmpdir())).type === TMPFS;
}
