// One pattern, once: fresh ground → its processes → warm-up → drain → load → count → drain → check.

import { setTimeout as delay } from 'node:timers/promises';
import { rejectOnAbort, startChild, type Child } from './child.ts';
import { cpuPerEvent, cpuSecondsByPart } from './cpu.ts';
import type { Ground, RoundDatabase } from './ground.ts';
import type { LoadMessage, LoadPlan, LoadResult } from './load/plan.ts';
import { measureBusy } from './machine.ts';
import type { Pattern, Target } from './patterns.ts';

/** After this a queue that does not get empty is taken for one that never will. */
const DRAIN_SECONDS_MAX = 300;

/** Answers under way at the end of the load are waited for, and the processes get some time around that. */
const LOAD_SECONDS_EXTRA = 60;

export interface RoundSettings {
  seconds: number;
  warmupSeconds: number;
  connections: number;
  profileFolder: string | undefined;
}

export interface RoundResult {
  requestsPerSecond: number;
  acceptedPerSecond: number;
  /** Events that were in Postgres when the load ended; null for a pattern that keeps nothing. */
  recordedPerSecond: number | null;
  /** Events that were accepted by then and not in Postgres. */
  backlog: number | null;
  latencyMs: LoadResult['latencyMs'];
  errors: Record<string, number>;
  firstError?: string | undefined;
  /** Microseconds of CPU for each accepted event, by part; null where the system does not tell. */
  cpuPerEvent: Record<string, number> | null;
  /** Share of all cores that others used just before the load or just after it, whichever was more. */
  busyElsewhere: number;
}

/** What was accepted is not what was recorded. Nothing that was measured is worth anything then. */
class WrongCount extends Error {}

/** Runs a round. Throws a WrongCount, and whatever a process of the pattern died of. */
export async function runRound(
  pattern: Pattern,
  ground: Ground,
  settings: RoundSettings,
  signal: AbortSignal,
): Promise<RoundResult> {
  const database = await ground.clear();
  const children: Child[] = [];
  const run = async (program: string, env: Record<string, string>) => {
    const { profileFolder } = settings;
    const child = await startChild(program, { env, signal, profileFolder });
    children.push(child);
    return child;
  };
  try {
    const target = await pattern.start({ ground, database, run });
    const load = await run('bench/dist/load/load-main.js', {});
    const failed = Promise.race([...children.map((child) => child.failed), rejectOnAbort(signal)]);
    const result = measure(pattern, target, load, database, settings);
    return await Promise.race([result, failed]);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await database.drop();
  }
}

async function measure(
  pattern: Pattern,
  target: Target,
  load: Child,
  database: RoundDatabase,
  settings: RoundSettings,
): Promise<RoundResult> {
  const plan: LoadPlan = {
    url: target.url,
    path: target.path,
    headers: { 'x-api-key': target.apiKey },
    meterToken: target.meterToken,
    eventsPerRequest: pattern.eventsPerRequest,
    connections: Math.max(1, Math.round(settings.connections * pattern.connectionShare)),
    seconds: settings.warmupSeconds,
  };
  const warmup = await runPlan(load, plan, async () => {});
  await drain(target);
  const busyBefore = await measureBusy();
  const before = await countEvents(database);

  let during = before;
  let cpuAtEnd: Map<string, number> | null = null;
  const countAtEnd = async () => {
    [during, cpuAtEnd] = await Promise.all([countEvents(database), cpuSecondsByPart()]);
  };
  const cpuAtStart = await cpuSecondsByPart();
  const result = await runPlan(load, { ...plan, seconds: settings.seconds }, countAtEnd);
  await drain(target);
  const busyAfter = await measureBusy();
  if (pattern.records) await check(pattern, database, warmup, result);

  const accepted = result.requests * pattern.eventsPerRequest;
  const recorded = during - before;
  return {
    requestsPerSecond: result.requests / result.seconds,
    acceptedPerSecond: accepted / result.seconds,
    recordedPerSecond: pattern.records ? recorded / result.seconds : null,
    // Some requests are answered after the load has ended, and their events may have been quicker than their answers.
    backlog: pattern.records ? Math.max(0, accepted - recorded) : null,
    latencyMs: result.latencyMs,
    errors: result.errors,
    firstError: result.firstError,
    cpuPerEvent: cpuPerEvent(cpuAtStart, cpuAtEnd, accepted),
    busyElsewhere: Math.max(busyBefore, busyAfter),
  };
}

/** Has the load made; `onEnded` runs at the moment its time is over. */
async function runPlan(load: Child, plan: LoadPlan, onEnded: () => Promise<void>): Promise<LoadResult> {
  const { process: loader } = load;
  const limit = AbortSignal.timeout((plan.seconds + LOAD_SECONDS_EXTRA) * 1_000);
  let ended: Promise<void> | undefined;
  const result = new Promise<LoadResult>((resolve) => {
    loader.on('message', (message: LoadMessage) => {
      if (message.kind === 'ended') ended = onEnded();
      else resolve(message);
    });
  });
  try {
    loader.send(plan);
    const answer = await Promise.race([result, rejectOnAbort(limit)]);
    await ended;
    return answer;
  } finally {
    loader.removeAllListeners('message');
  }
}

async function drain(target: Target): Promise<void> {
  const deadline = Date.now() + DRAIN_SECONDS_MAX * 1_000;
  while ((await target.pending()) > 0) {
    if (Date.now() > deadline) throw new WrongCount(`the queue was not empty after ${DRAIN_SECONDS_MAX} s`);
    await delay(50);
  }
}

async function countEvents({ client }: RoundDatabase): Promise<number> {
  const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM events');
  return rows[0]?.count ?? 0;
}

/** Every event that was answered with 201 is recorded once, and the rollups add up to the same. */
async function check(pattern: Pattern, { client }: RoundDatabase, ...results: LoadResult[]): Promise<void> {
  const sum = (of: (result: LoadResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const accepted = sum((result) => result.accepted);
  const unclear = sum((result) => result.unclear);
  const quantity = sum((result) => result.acceptedQuantity);
  const { rows } = await client.query<Record<'events' | 'keys' | 'rolled' | 'quantity' | 'rolled_quantity', number>>(`
    SELECT (SELECT count(*) FROM events)::int AS events, (SELECT count(*) FROM idempotency_keys)::int AS keys,
           (SELECT coalesce(sum(event_count), 0) FROM usage_rollups)::int AS rolled,
           (SELECT coalesce(sum(quantity), 0) FROM events)::float8 AS quantity,
           (SELECT coalesce(sum(quantity_sum), 0) FROM usage_rollups)::float8 AS rolled_quantity`);
  const [found] = rows;
  const isRight =
    found !== undefined &&
    found.events >= accepted &&
    found.events <= accepted + unclear &&
    found.keys === found.events &&
    found.rolled === found.events &&
    found.rolled_quantity === found.quantity &&
    (unclear > 0 || found.quantity === quantity);
  if (isRight) return;
  throw new WrongCount(
    `${pattern.name}: accepted ${accepted} events (${unclear} unclear) of quantity ${quantity}, found ${JSON.stringify(found)}`,
  );
}
