// What the processes said of themselves, and how they ended.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { SystemUnderTest } from '../environment/system.ts';
import { Check } from './check.ts';
import type { Facts } from './history-facts.ts';

/** Pino's levels. */
const ERROR = 50;
const FATAL = 60;

/** Written by Node when a process dies of an error. */
const UNCAUGHT = /unhandled ?rejection|uncaught ?exception|ERR_UNHANDLED|^node:internal|FATAL ERROR: /i;

/**
 * Maintenance that meets a fault fails, is logged as an error, and is done again a few seconds later. While a part is away, that
 * stands before it. Where it meets none, something broke.
 */
const MAINTENANCE_FAILED = 'maintenance failed; it will be done again';

/**
 * Billing puts a row off that workers died of twice, and chaos may kill two of them over the same one. Who dies of it by itself is found by
 * how it ended.
 */
const DIED_TWICE = 'a worker began this and did not come back from it';

/** Postgres is another one after a promotion, and whoever runs Weir has to hear it. */
const TOOK_OVER = 'another Postgres took over';

/** So it is where Redis has lost its data. */
const LOST_ITS_MARK = 'in Redis belonged to no database';

/** A start with a clock that is an hour ahead or behind. */
const CLOCK_OFF = 'clock off';

/** A connection that went dead is noticed by its time-outs only: 5 s for a new one, and 9 s for an answer. */
const NOTICED_MS_MAX = 16_000;

export interface LogProblem {
  process: string;
  line: string;
  /** Of maintenance that failed: when, in milliseconds since 1970. */
  failedAt?: number;
}

/** One line of the log of a process that says that something broke. */
export function problemInLog(process: string, line: string): LogProblem | undefined {
  if (!line.startsWith('{')) return UNCAUGHT.test(line) ? { process, line } : undefined;
  let entry: { level?: number; time?: number; msg?: string; err?: { message?: string } };
  try {
    entry = JSON.parse(line) as typeof entry;
  } catch {
    // A process that is killed may leave half a line.
    return undefined;
  }
  const { level = 0, time = 0, msg = '', err } = entry;
  const isExpected =
    msg.startsWith(TOOK_OVER) || msg.includes(LOST_ITS_MARK) || err?.message?.startsWith(DIED_TWICE) === true;
  const isProblem = level >= FATAL || (level >= ERROR && !isExpected);
  if (!isProblem) return undefined;
  const told = `${msg}${err?.message === undefined ? '' : `: ${err.message}`}`;
  return { process, line: told, ...(msg.endsWith(MAINTENANCE_FAILED) && { failedAt: time }) };
}

/** Whether something was done meanwhile to the process, to what it needs, or to the way to that. */
function hasMetFault({ faults, phases }: Facts, { process, failedAt }: LogProblem): boolean {
  const [first] = phases;
  if (failedAt === undefined || first === undefined) return false;
  const at = first.at + failedAt - first.time;
  const targets = new Set(['postgres', 'redis', process, `${process}>postgres`, `${process}>redis`]);
  return faults.some((fault) => {
    if (!fault.target.split(',').some((target) => targets.has(target))) return false;
    // By a clock that is off it is not known when.
    return fault.kind === CLOCK_OFF ? fault.target === process : at >= fault.at && at <= fault.until + NOTICED_MS_MAX;
  });
}

/** Reads the log of every API and worker. */
export async function readLogs(system: SystemUnderTest): Promise<{ lines: number; problems: LogProblem[] }> {
  const problems: LogProblem[] = [];
  let lines = 0;
  const paths = new Map(system.processes.map(({ name, logPath }) => [logPath, name]));
  for (const [path, process] of paths) {
    if (!/^(api|worker)/.test(process)) continue;
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      lines += 1;
      const problem = problemInLog(process, line);
      if (problem !== undefined) problems.push(problem);
    }
  }
  return { lines, problems };
}

/** No process broke, none ended by itself, and each that was told to stop did so in order. */
export function processesAreSound(
  facts: Facts,
  processes: SystemUnderTest['processes'],
  { lines, problems }: { lines: number; problems: LogProblem[] },
): Check {
  const check = new Check(
    'processes',
    'No process logs an error that nobody expected, ends by itself, or fails to stop in order.',
  );
  check.examine(lines + processes.length);
  for (const problem of problems)
    if (!hasMetFault(facts, problem)) check.violate(`${problem.process} logged: ${problem.line}`);
  for (const { name, ended } of processes) {
    if (ended === undefined) continue;
    const { code, signal, expected, isHung = false } = ended;
    if (isHung) check.violate(`${name} was told to stop, did not, and was killed`);
    else if (!expected) check.violate(`${name} ended by itself with ${signal ?? `code ${code}`}`);
    else if (code !== null && code !== 0 && /^(api|worker)/.test(name))
      check.violate(`${name} was told to stop and ended with code ${code}`);
  }
  return check;
}
