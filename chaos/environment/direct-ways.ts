import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { History } from '../history.ts';
import type { SystemUnderTest } from './system.ts';

/** Writes down when APIs recorded events directly, as their logs say. One that died on that way took it to its end. */
export async function writeDirectWays(
  { processes }: Pick<SystemUnderTest, 'processes'>,
  history: History,
): Promise<void> {
  const logs = new Map(processes.map(({ name, logPath }) => [logPath, name]));
  for (const [path, api] of logs) {
    if (!api.startsWith('api')) continue;
    let leftAt: number | undefined;
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      const { way, time } = wayOf(line);
      if (way === 'direct') leftAt ??= time;
      else if (way === 'redis' && leftAt !== undefined) {
        history.write({ type: 'direct way', api, at: history.at(leftAt), until: history.at(time) });
        leftAt = undefined;
      }
    }
    if (leftAt !== undefined) history.write({ type: 'direct way', api, at: history.at(leftAt), until: history.now() });
  }
}

function wayOf(line: string): { way?: string; time: number } {
  if (!line.includes('"way":')) return { time: 0 };
  try {
    return JSON.parse(line) as { way?: string; time: number };
  } catch {
    // A process that is killed may leave half a line.
    return { time: 0 };
  }
}
