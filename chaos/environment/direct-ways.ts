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

/** An API that has just started was on no way. */
const STARTED = 'the API listens';

/** Milliseconds since 1970. `until` is missing where the way back is not in the log. */
interface DirectWay {
  from: number;
  until?: number;
}

/**
 * Reads the log of one API. It leaves Redis that does not answer, that is full, or that is badly set up, and says of each by itself when
 * it is over; all that while it may record directly. A flush that it records directly by itself is a moment.
 */
export async function readDirectWays(lines: AsyncIterable<string> | Iterable<string>): Promise<DirectWay[]> {
  const ways: DirectWay[] = [];
  const open = new Map<string, DirectWay>();
  for await (const line of lines) {
    const entry = entryOf(line);
    if (entry === undefined) continue;
    if (entry.msg === STARTED) {
      for (const way of open.values()) way.until = entry.time;
      open.clear();
    }
    if (entry.way === undefined) continue;
    if (entry.because === ONE_FLUSH) {
      ways.push({ from: entry.time, until: entry.time });
      continue;
    }
    const reason = reasonOf(entry);
    const way = open.get(reason);
    if (entry.way === 'direct' && way === undefined) {
      const left = { from: entry.time };
      ways.push(left);
      open.set(reason, left);
    } else if (entry.way === 'redis' && way !== undefined) {
      way.until = entry.time;
      open.delete(reason);
    }
  }
  return ways;
}

/** What an API names as the reason where one flush alone went directly, since its sender had been looked up in another epoch. */
const ONE_FLUSH = 'unsure';

interface Entry {
  time: number;
  msg?: string;
  way?: string;
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
  if (!line.includes('"way":') && !line.includes(STARTED)) return undefined;
  try {
    return JSON.parse(line) as Entry;
  } catch {
    // A process that is killed may leave half a line.
    return undefined;
  }
}
