import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { History } from '../history.ts';
import type { SystemUnderTest } from './system.ts';

/** Writes down when APIs recorded events directly, as their logs say. One that died on that way took it until it was started again. */
export async function writeDirectWays(
  { processes }: Pick<SystemUnderTest, 'processes'>,
  history: History,
): Promise<void> {
  const logs = new Map(processes.map(({ name, logPath }) => [logPath, name]));
  for (const [path, api] of logs) {
    if (!api.startsWith('api')) continue;
    const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
    for (const way of await readDirectWays(lines))
      history.write({
        type: 'direct way',
        api,
        at: history.at(way.from),
        until: way.until === undefined ? history.now() : history.at(way.until),
      });
  }
}

/** By so much the clock of a process may be off. No API is silent for half of it. */
const OFF_MS = 3_600_000;

/** Milliseconds since 1970. `until` is missing where the way back is not in the log. */
interface DirectWay {
  from: number;
  until?: number;
}

/**
 * Reads the log of one API. It leaves Redis that does not answer, that is full, or that is badly set up, and says of each by itself when
 * it is over; all that while it may record directly. A flush that it records directly by itself is a moment, known to the millisecond. A
 * process that has just started was on no way, and its clock may be off: from the line before its first one to that pass seconds.
 */
export async function readDirectWays(lines: AsyncIterable<string> | Iterable<string>): Promise<DirectWay[]> {
  const ways: DirectWay[] = [];
  const open = new Map<string, DirectWay>();
  let [pid, offMs, lastAt] = ['', 0, NaN];
  for await (const line of lines) {
    const stamp = STAMP.exec(line);
    if (stamp === null) continue;
    const saidAt = Number(stamp[1]);
    if (stamp[2] !== pid) {
      pid = stamp[2] ?? '';
      if (!Number.isNaN(lastAt)) offMs = Math.round((saidAt - lastAt) / OFF_MS) * OFF_MS;
      for (const way of open.values()) way.until = saidAt - offMs;
      open.clear();
    }
    const at = saidAt - offMs;
    lastAt = at;
    const entry = entryOf(line);
    if (entry === undefined) continue;
    if (entry.because === ONE_FLUSH) {
      ways.push({ from: at - 1, until: at + 1 });
      continue;
    }
    const reason = reasonOf(entry);
    const way = open.get(reason);
    if (entry.way === 'direct' && way === undefined) {
      const left = { from: at };
      ways.push(left);
      open.set(reason, left);
    } else if (entry.way === 'redis' && way !== undefined) {
      way.until = at;
      open.delete(reason);
    }
  }
  return ways;
}

/** When a line was written, and by which process. */
const STAMP = /"time":(\d+),"pid":(\d+)/;

/** What an API names as the reason where one flush alone went directly, since its sender had been looked up in another epoch. */
const ONE_FLUSH = 'unsure';

interface Entry {
  way: string;
  /** When Redis did not answer, what keeps it away since, and when it was taken again. */
  because?: string;
  err?: object;
  seconds?: number;
  /** Of what is said of its room. */
  memoryShare?: number;
}

function reasonOf({ because, err, seconds, memoryShare }: Entry): string {
  if (because !== undefined || err !== undefined || seconds !== undefined) return 'away';
  return memoryShare === undefined ? 'badly set up' : 'full';
}

function entryOf(line: string): Entry | undefined {
  if (!line.includes('"way":')) return undefined;
  try {
    return JSON.parse(line) as Entry;
  } catch {
    // A process that is killed may leave half a line.
    return undefined;
  }
}
