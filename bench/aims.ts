// Aims, and whether Weir reaches them. A benchmark is no test: an aim that is missed is a line to read, and no failure.

import { trackedShare, type BillingResult } from './billing/measure-billing.ts';
import { ENTITLEMENTS_PER_SECOND, type Midnight } from './billing/run-midnight.ts';
import type { BenchResults } from './bench-results.ts';
import { markdownTable } from './markdown-table.ts';
import type { GrowthCase } from './measure-growth.ts';
import type { ReadResult } from './read/measure-reading.ts';
import type { RoundResult } from './round.ts';
import { oneDigit, ratioOf, spreadOf, spreadOfAll, spreadText, twoDigits, whole, type Spread } from './spread.ts';

type Unit = 'ratio' | 'ms' | 's' | 'bytes';

export interface Aim {
  title: string;
  figure: Spread;
  unit: Unit;
  limit: number;
  isKept: boolean;
}

/** An aim is of a size: what fewer of them come to says nothing of it, and is left out. */
const SUBSCRIPTIONS = 100_000;
const EVENTS = 20_000_000;

/** p99 in milliseconds of reading 90 days at `EVENTS` that are in memory, by how the titles of questions begin. */
export const READ_AIMS = [
  { title: 'usage of a customer by day, UTC', limit: 25 },
  { title: 'usage of a customer by day, Europe/Berlin', limit: 40 },
  { title: 'usage of a customer by day, Asia/Kolkata', limit: 40 },
  { title: 'usage of a whole meter by day', limit: 150 },
  { title: 'distinct users of a whole meter by day', limit: 450 },
  { title: 'how the organization stands', limit: 100 },
] as const;

/** One for each aim of which the figures were measured. */
export function aimsOf({ throughput, rates, growth, reading, billing }: BenchResults): Aim[] {
  const roundsOf = (name: string) => throughput.find((pattern) => pattern.name === name)?.rounds ?? [];
  const requests = (name: string) => roundsOf(name).map(({ requestsPerSecond }) => requestsPerSecond);
  const recorded = (name: string) => recordedOf(roundsOf(name));
  const half = rates.find(({ sharePercent }) => sharePercent === 50)?.rounds ?? [];
  const aims = [
    atLeast('single, recorded ÷ requests of the bare route', ratioOf(recorded('weir-single'), requests('floor')), 0.3),
    atLeast('the same, two processes each', ratioOf(recorded('weir-single-2'), requests('floor-2')), 0.3),
    atLeast('single ÷ one job a request, recorded', ratioOf(recorded('weir-single'), recorded('job-per-request')), 4),
    atLeast(
      'single beside ten open consoles ÷ without',
      ratioOf(recorded('weir-single-consoles'), recorded('weir-single')),
      0.98,
    ),
    atLeast(
      'single beside 100 webhooks a second ÷ without',
      ratioOf(recorded('weir-single-webhooks'), recorded('weir-single')),
      0.9,
    ),
    atLeast(
      'single, two copies in Redis ÷ one',
      ratioOf(recorded('weir-single-replica'), recorded('weir-single')),
      0.8,
    ),
    atLeast(
      'single, a synchronous standby of Postgres ÷ none',
      ratioOf(recorded('weir-single-standby'), recorded('weir-single')),
      0.9,
    ),
    atLeast(
      'single, Redis away ÷ through Redis',
      ratioOf(recorded('weir-single-direct'), recorded('weir-single')),
      0.5,
    ),
    atLeast('batch ÷ the statement from memory', ratioOf(recorded('weir-batch'), recorded('raw-postgres')), 0.6),
    atMost(
      'single, p99 at half of its top rate',
      spreadOfAll(half, ({ latencyMs }) => latencyMs.p99),
      10,
      'ms',
    ),
    atMost(
      'single, disk in Postgres for each event',
      spreadOfAll(roundsOf('weir-single'), ({ postgresBytesPerEvent }) => postgresBytesPerEvent),
      400,
      'bytes',
    ),
    ...growthAims(growth),
    ...reading.flatMap(readAims),
    ...(billing === null ? [] : billingAims(billing)),
  ];
  return aims.filter((aim) => aim !== null);
}

/** Whether a table that is full slows Weir down. Needs rounds without any rows. */
function growthAims(growth: readonly GrowthCase[]): (Aim | null)[] {
  const onRows = growth.filter(({ kind }) => kind === 'rows').toSorted((a, b) => a.rows - b.rows);
  const names = [...new Set(onRows.map(({ pattern }) => pattern.name))];
  return names.map((name) => {
    const cases = onRows.filter(({ pattern }) => pattern.name === name);
    const [none, most] = [cases[0], cases.at(-1)];
    if (none?.rows !== 0 || most === undefined || most.rows === 0) return null;
    const ratio = ratioOf(recordedOf(most.rounds), recordedOf(none.rounds));
    return atLeast(`${name}, recorded at ${whole(most.rows)} rows ÷ at none`, ratio, 0.8);
  });
}

function readAims({ events, readings, stallMs }: ReadResult): (Aim | null)[] {
  const aims = readings.map(({ title, again }) => {
    const aim = events < EVENTS ? undefined : READ_AIMS.find((each) => title.startsWith(each.title));
    return aim === undefined
      ? null
      : atMost(`${title}, p99 at ${whole(events)} events`, spreadOf([again.p99Ms]), aim.limit, 'ms');
  });
  return [...aims, atMost('the largest window, how long others wait', stallMs, 10, 'ms')];
}

/** How long a midnight takes, and what it takes from tracking, is of `SUBSCRIPTIONS`. */
function billingAims(billing: BillingResult): (Aim | null)[] {
  const { subscriptions, midnights } = billing;
  const of = (figure: (midnight: Midnight) => number | null) => midnights.map(figure).filter((value) => value !== null);
  const least = (title: string, values: number[], limit: number) =>
    values.length === 0 ? null : atLeast(title, spreadOf(values), limit);
  const most = (title: string, values: number[], limit: number, unit: Unit) =>
    values.length === 0 ? null : atMost(title, spreadOf(values), limit, unit);
  const all = `${whole(subscriptions)} subscriptions`;
  const isWhole = subscriptions >= SUBSCRIPTIONS;
  return (isWhole ? midnights : [])
    .flatMap(({ kind, draftsSeconds, finalizedSeconds }) => [
      most(`drafts of ${all}, ${kind}`, [draftsSeconds], 120, 's'),
      most(`the same finalized after the grace, ${kind}`, [finalizedSeconds], 360, 's'),
    ])
    .concat(
      least(
        'tracking beside a midnight ÷ without one',
        isWhole ? of((midnight) => trackedShare(midnight, billing)) : [],
        0.8,
      ),
      most(
        'a draft of ten charges, p99',
        of(({ draftP99Ms }) => draftP99Ms),
        50,
        'ms',
      ),
      most(
        `an entitlement at ${ENTITLEMENTS_PER_SECOND}/s, p99`,
        of(({ entitlementP99Ms }) => entitlementP99Ms),
        10,
        'ms',
      ),
    );
}

const recordedOf = (rounds: readonly RoundResult[]) => rounds.map(({ recordedPerSecond }) => recordedPerSecond);

function atLeast(title: string, figure: Spread | null, limit: number): Aim | null {
  return figure && { title, figure, unit: 'ratio', limit, isKept: figure.median >= limit };
}

function atMost(title: string, figure: Spread | null, limit: number, unit: Unit): Aim | null {
  return figure && { title, figure, unit, limit, isKept: figure.median <= limit };
}

export function aimsTable(aims: readonly Aim[]): string {
  const number = { ratio: twoDigits, ms: oneDigit, s: oneDigit, bytes: whole };
  return markdownTable(
    ['figure', 'this run', 'aim', ''],
    aims.map(({ title, figure, unit, limit, isKept }) => [
      title,
      spreadText(figure, number[unit]),
      unit === 'ratio' ? `≥ ${limit}` : `≤ ${limit} ${unit}`,
      isKept ? 'kept' : 'not kept',
    ]),
  );
}
