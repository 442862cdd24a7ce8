// One pattern, once: fresh database → its processes → warm-up → drain → load → count → drain → check.

import { setTimeout as delay } from 'node:timers/promises';
import { withChildren, type Child } from './child.ts';
import { WrongCount, check, countEvents, countTotals, estimateEvents } from './counts.ts';
import type { BenchDeps, RoundDatabase } from './environment.ts';
import type { Caller, LoadPlan, LoadResult } from './load/plan.ts';
import { runPlan } from './load/run-plan.ts';
import { measureNoise, watchStolen } from './machine.ts';
import { ComponentWatch, cpuPerEvent } from './component-usage.ts';
import type { Pattern, Target } from './patterns.ts';
import { postgresBytes, redisBytes } from './sizes.ts';
import { oneDigit, whole } from './spread.ts';

/** After this a queue that does not get empty is taken for one that never will. */
const DRAIN_SECONDS_MAX = 300;

/** What the host takes is told of a round from this share on. */
const SHOWN_STOLEN = 0.02;

/** The count of what is recorded at the end has to find the connection free. */
const LAST_PROGRESS_SECONDS = 1.5;

/** A database that is not made for a round alone, and who is in it. */
export interface PreparedDatabase {
  database: RoundDatabase;
  callers: Caller[];
}

export interface RoundSettings {
  seconds: number;
  warmupSeconds: number;
  connections: number;
  apis: number;
  /** Worker processes of Weir. */
  workers: number;
  /** How many customers the events are of. */
  customers: number;
  /** Requests that are due in each second; null: as many as are answered. */
  requestsPerSecond: number | null;
  /** Undefined: a new database, which is dropped after the round. */
  prepared?: PreparedDatabase | undefined;
  profileFolder: string | undefined;
  /** What the line of progress says first. */
  label: string;
}

/** What a round has of one process to measure, unless it says otherwise. */
export const ONE_OF_EACH = { workers: 1, customers: 1_000, requestsPerSecond: null } as const;

export interface RoundResult {
  /** Null where the events come from memory. */
  requestsPerSecond: number | null;
  acceptedPerSecond: number;
  /** Events that were in Postgres when the load ended; null for a pattern that keeps nothing. */
  recordedPerSecond: number | null;
  /** Events that were accepted by then and not in Postgres. */
  backlog: number | null;
  /** Requests that were due in each second, and how many never found a connection; null where none were due by a rate. */
  duePerSecond: number | null;
  unsent: number | null;
  latencyMs: LoadResult['latencyMs'];
  errors: Record<string, number>;
  firstError?: string | undefined;
  /** Microseconds of CPU for each accepted event, by component; null where the system does not tell. */
  cpuPerEvent: Record<string, number> | null;
  /** The most resident memory in bytes that was seen during the load, by component; null where the system does not tell. */
  memoryBytes: Record<string, number> | null;
  /** By how much the tables and indexes have grown for each recorded event; null for a pattern that keeps nothing. */
  postgresBytesPerEvent: number | null;
  /** By how much Redis has grown for each accepted event once the queue was empty: what a held claim takes. */
  redisBytesPerEvent: number | null;
  /** Share of all cores that others used just before the load or just after it, whichever was more. */
  busyElsewhere: number;
  /** Share of all cores that the host of a virtual machine gave to others during the load; null where the system does not tell. */
  stolen: number | null;
}

/** Runs a round and logs what came of it. Throws a WrongCount, and whatever a process of the pattern died of. */
export async function runRound(pattern: Pattern, settings: RoundSettings, deps: BenchDeps): Promise<RoundResult> {
  const { environment, progress, signal } = deps;
  const { prepared, apis, workers, profileFolder } = settings;
  progress.log(`${settings.label} …`);
  const database = prepared?.database ?? (await environment.clear());
  try {
    if (prepared !== undefined) {
      await environment.emptyRedis();
      // A round does not pay for what the one before has left in memory; that is so for a new database, too.
      await database.client.query('CHECKPOINT');
    }
    const { secondCopyOf } = pattern;
    const second = secondCopyOf === undefined ? undefined : await environment.openSecondCopy(secondCopyOf);
    try {
      const result = await withChildren({ signal, profileFolder }, async (run) => {
        const callers = prepared?.callers;
        const target = await pattern.start({ environment, database, apis, workers, callers, run });
        const load = target.loader ?? (await run('bench/dist/load/load-main.js', {}));
        return measure({ pattern, database, target, load }, settings, deps);
      });
      progress.log(roundLine(result));
      return result;
    } finally {
      await second?.close();
    }
  } finally {
    if (prepared === undefined) await database.drop();
  }
}

/** A pattern whose processes are ready. */
interface RunningPattern {
  pattern: Pattern;
  database: RoundDatabase;
  target: Target;
  load: Child;
}

async function measure(running: RunningPattern, settings: RoundSettings, deps: BenchDeps): Promise<RoundResult> {
  const { pattern, database, target, load } = running;
  const { client } = database;
  const sizes = async () => ({
    postgres: await postgresBytes(client),
    redis: await redisBytes(deps.environment.redis),
  });
  const plan = planOf(running, settings);
  const totalsBefore = await countTotals(client);
  // At full speed also where the round has a rate: what is not warm yet gets warm sooner.
  const warmup = await runPlan(load, { ...plan, requestsPerSecond: null, seconds: settings.warmupSeconds }, {});
  await drain(target);
  const busyBefore = await measureNoise();
  const before = await countEvents(client);
  const sizesBefore = await sizes();

  let during = before;
  let stolenDuring: number | null = null;
  let watch: ComponentWatch | null = null;
  const estimateBefore = await estimateEvents(client);
  const stolen = watchStolen();
  const result = await runPlan(load, plan, {
    async onBegan() {
      watch = ComponentWatch.open();
    },
    async onProgress(seconds, accepted) {
      const secondsLeft = Math.max(0, plan.seconds - seconds);
      watch?.look();
      if (secondsLeft < LAST_PROGRESS_SECONDS) return;
      const recorded = pattern.records ? (await estimateEvents(client)) - estimateBefore : null;
      deps.progress.show(() => progressLine(settings.label, secondsLeft, accepted / seconds, recorded));
    },
    async onEnded() {
      watch?.look();
      stolenDuring = stolen();
      during = await countEvents(client);
    },
  });
  await drain(target);
  const busyAfter = await measureNoise();
  const after = await countTotals(client);
  if (pattern.records) check(pattern.name, totalsBefore, after, [warmup, result]);
  const sizesAfter = await sizes();

  const accepted = result.requests * pattern.eventsPerRequest;
  const recorded = during - before;
  const used = (watch as ComponentWatch | null)?.used();
  const hasRedis = pattern.records && pattern.takesRequests && result.accepted > 0;
  return {
    requestsPerSecond: pattern.takesRequests ? result.requests / result.seconds : null,
    acceptedPerSecond: accepted / result.seconds,
    recordedPerSecond: pattern.records ? recorded / result.seconds : null,
    // Some requests are answered after the load has ended, and their events may have been quicker than their answers.
    backlog: pattern.records ? Math.max(0, accepted - recorded) : null,
    duePerSecond: result.due === null ? null : result.due / plan.seconds,
    unsent: result.unsent,
    latencyMs: result.latencyMs,
    errors: result.errors,
    firstError: result.firstError,
    cpuPerEvent: used === undefined ? null : cpuPerEvent(used, accepted),
    memoryBytes:
      used === undefined ? null : Object.fromEntries([...used].map(([name, { memoryBytes }]) => [name, memoryBytes])),
    postgresBytesPerEvent:
      pattern.records && after.events > before
        ? (sizesAfter.postgres - sizesBefore.postgres) / (after.events - before)
        : null,
    redisBytesPerEvent: hasRedis ? (sizesAfter.redis - sizesBefore.redis) / result.accepted : null,
    busyElsewhere: Math.max(busyBefore, busyAfter),
    stolen: stolenDuring,
  };
}

function planOf({ pattern, target }: RunningPattern, settings: RoundSettings): LoadPlan {
  return {
    urls: target.urls,
    path: target.path,
    callers: target.callers,
    customers: settings.customers,
    eventsPerRequest: pattern.eventsPerRequest,
    connections: pattern.connections(settings.connections),
    seconds: settings.seconds,
    requestsPerSecond: settings.requestsPerSecond,
  };
}

function progressLine(label: string, secondsLeft: number, acceptedPerSecond: number, recorded: number | null): string {
  const ofRecorded = recorded === null ? '' : `, about ${whole(recorded)} recorded`;
  return `${label}: ${Math.ceil(secondsLeft)} s left, ${whole(acceptedPerSecond)} events/s accepted${ofRecorded}`;
}

function roundLine(result: RoundResult): string {
  const { requestsPerSecond, recordedPerSecond, backlog, latencyMs, cpuPerEvent, errors, firstError, unsent, stolen } =
    result;
  const figures = [
    requestsPerSecond !== null && `${whole(requestsPerSecond)} requests/s`,
    recordedPerSecond !== null && `${whole(recordedPerSecond)} events/s recorded, backlog ${backlog}`,
    `p99 ${oneDigit(latencyMs.p99)} ms`,
    cpuPerEvent !== null && `CPU ${whole(cpuPerEvent['all'] ?? 0)} µs an event`,
    (stolen ?? 0) >= SHOWN_STOLEN && `${whole((stolen ?? 0) * 100)} % of the cores given to others by the host`,
    (unsent ?? 0) > 0 && `${unsent} requests never sent`,
    Object.keys(errors).length > 0 && `errors ${JSON.stringify(errors)} ${firstError ?? ''}`,
  ];
  return `  ${figures.filter((figure) => figure !== false).join(', ')}`;
}

/** Waits until everything that was accepted is in Postgres. */
export async function drain(target: Pick<Target, 'pending'>): Promise<void> {
  const deadline = Date.now() + DRAIN_SECONDS_MAX * 1_000;
  while ((await target.pending()) > 0) {
    if (Date.now() > deadline) throw new WrongCount(`the queue was not empty after ${DRAIN_SECONDS_MAX} s`);
    await delay(50);
  }
}
