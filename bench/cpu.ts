import { readdir, readFile } from 'node:fs/promises';

/** Linux counts CPU time in these, whatever its own clock does. */
const TICKS_PER_SECOND = 100;

interface Process {
  pid: number;
  parent: number;
  name: string;
  seconds: number;
}

/**
 * The seconds of CPU that each part has used so far: the processes that this one has started, and those that they have.
 * It depends on what else the machine does far less than everything that is measured in time. Null where the system has
 * no /proc; services that were given and not started are left out.
 */
export async function cpuSecondsByPart(): Promise<Map<string, number> | null> {
  const pids = await readdir('/proc').catch(() => null);
  if (pids === null) return null;
  const all = (await Promise.all(pids.filter((pid) => /^\d+$/.test(pid)).map(readProcess))).filter(
    (each) => each !== null,
  );
  const parts = new Map<string, number>();
  const parents = new Set([process.pid]);
  // Parents before their children, save where numbers have begun anew: those are found in another pass.
  for (let before = 0; before < parents.size;) {
    before = parents.size;
    for (const { pid, parent } of all) if (parents.has(parent)) parents.add(pid);
  }
  for (const { pid, name, seconds } of all) {
    const part = parents.has(pid) ? await partOf(pid, name) : null;
    if (part !== null) parts.set(part, (parts.get(part) ?? 0) + seconds);
  }
  return parts;
}

/** What each part has used between two of those, as microseconds for each event; `all` is their sum without the load. */
export function cpuPerEvent(
  before: Map<string, number> | null,
  after: Map<string, number> | null,
  events: number,
): Record<string, number> | null {
  if (before === null || after === null || events === 0) return null;
  const used = [...after].map(
    ([part, seconds]) => [part, ((seconds - (before.get(part) ?? 0)) * 1e6) / events] as const,
  );
  const all = used.reduce((sum, [part, each]) => (part === 'load' ? sum : sum + each), 0);
  return { all, ...Object.fromEntries(used) };
}

/** Null for one that has ended meanwhile. */
async function readProcess(pid: string): Promise<Process | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The name stands in brackets and may hold brackets and spaces itself.
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  return {
    pid: Number(pid),
    parent: Number(fields[1]),
    name: stat.slice(stat.indexOf('(') + 1, nameEnd),
    seconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  };
}

async function partOf(pid: number, name: string): Promise<string | null> {
  if (name === 'postgres') return 'Postgres';
  if (/^(redis|valkey)-server/.test(name)) return 'Redis';
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (command.includes('/load-main.js')) return 'load';
  if (/worker\/dist\/main\.js|worker-main\.js/.test(command)) return 'worker';
  return /api\/dist\/main\.js|rivals\/[a-z-]+-main\.js/.test(command) ? 'API' : null;
}
