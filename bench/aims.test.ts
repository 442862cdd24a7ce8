import { expect, test } from 'vitest';
import { READ_AIMS, aimsOf, aimsTable } from './aims.ts';
import type { BenchResults } from './bench-results.ts';
import type { BillingResult } from './billing/measure-billing.ts';
import type { Midnight } from './billing/run-midnight.ts';
import { madeUpResults, madeUpRound } from './made-up-results.ts';
import { WEIR_BATCH, WEIR_SINGLE } from './patterns.ts';
import { QUESTIONS } from './read/questions.ts';
import type { RoundResult } from './round.ts';

const recorded = (...rates: number[]) =>
  rates.map((rate) => madeUpRound({ recordedPerSecond: rate, requestsPerSecond: rate, postgresBytesPerEvent: null }));

const throughputOf = (rounds: Record<string, RoundResult[]>) =>
  Object.entries(rounds).map(([name, rounds]) => ({ name, title: name, rounds }));

const aims = (measured: Partial<BenchResults>) => aimsOf(madeUpResults(measured));

test('a ratio is the median of those of each round', () => {
  const rounds = { 'weir-single': recorded(9_000, 3_000, 10_000), floor: recorded(20_000, 10_000, 50_000) };
  expect(aims({ throughput: throughputOf(rounds) })).toMatchObject([
    { figure: { median: 0.3, min: 0.2, max: 0.45 }, isKept: true },
  ]);
});

test('two processes are held against two, and one against one', () => {
  const throughput = throughputOf({
    'weir-single': recorded(9_000),
    'weir-single-2': recorded(12_000),
    floor: recorded(20_000),
    'floor-2': recorded(48_000),
  });
  expect(aims({ throughput })).toMatchObject([
    { figure: { median: 0.45 }, isKept: true },
    { figure: { median: 0.25 }, isKept: false },
  ]);
  expect(aims({ throughput: throughput.slice(0, 3) })).toHaveLength(1);
});

test('open consoles are held against none in the same round', () => {
  const rounds = { 'weir-single': recorded(9_000, 5_000), 'weir-single-consoles': recorded(8_910, 4_850) };
  expect(aims({ throughput: throughputOf(rounds) })).toMatchObject([
    { figure: { median: 0.98, min: 0.97, max: 0.99 } },
  ]);
});

test('deliveries of webhooks are held against none in the same round', () => {
  const rounds = { 'weir-single': recorded(10_000), 'weir-single-webhooks': recorded(8_000) };
  expect(aims({ throughput: throughputOf(rounds) })).toMatchObject([
    { title: 'single beside 100 webhooks a second ÷ without', figure: { median: 0.8 }, limit: 0.9, isKept: false },
  ]);
});

test('a second copy, and the way without Redis, are held against one copy and Redis in the same round', () => {
  const rounds = {
    'weir-single': recorded(8_000, 10_000),
    'weir-single-replica': recorded(6_400, 8_200),
    'weir-single-standby': recorded(6_000, 7_500),
    'weir-single-direct': recorded(4_800, 4_800),
  };
  expect(aims({ throughput: throughputOf(rounds) })).toMatchObject([
    { title: 'single, two copies in Redis ÷ one', figure: { median: 0.81 }, limit: 0.8, isKept: true },
    { title: 'single, a synchronous standby of Postgres ÷ none', figure: { median: 0.75 }, limit: 0.9, isKept: false },
    { title: 'single, Redis away ÷ through Redis', figure: { median: 0.54 }, limit: 0.5, isKept: true },
  ]);
});

test('a figure on the wrong side of its aim does not keep it', () => {
  const rounds = {
    'weir-single': recorded(1_000, 1_000, 2_000),
    floor: recorded(4_000, 4_000, 4_000),
    'job-per-request': recorded(250, 250, 250),
  };
  expect(aims({ throughput: throughputOf(rounds) }).map(({ isKept }) => isKept)).toEqual([false, true]);
  const heavy = throughputOf({ 'weir-single': [madeUpRound({ postgresBytesPerEvent: 401 })] });
  expect(aims({ throughput: heavy })).toMatchObject([{ unit: 'bytes', isKept: false }]);
});

test('latency at half of the top rate is that share, and no other', () => {
  const at = (sharePercent: number, p99: number) => ({
    sharePercent,
    rounds: [madeUpRound({ latencyMs: { p50: 1, p99, p999: 99 } })],
  });
  expect(aims({ rates: [at(25, 3), at(50, 11), at(75, 5)] })).toMatchObject([
    { figure: { median: 11 }, isKept: false },
  ]);
  expect(aims({ rates: [at(25, 3)] })).toEqual([]);
});

test('growth compares the most rows with none, for each pattern', () => {
  const plain = { kind: 'rows' as const, title: '', workers: 1, customers: 1, organizations: 1 };
  const growth = [
    { ...plain, pattern: WEIR_SINGLE, rows: 20_000_000, rounds: recorded(7_000, 9_000) },
    { ...plain, pattern: WEIR_SINGLE, rows: 0, rounds: recorded(10_000, 10_000) },
    { ...plain, pattern: WEIR_SINGLE, rows: 5_000_000, rounds: recorded(1, 1) },
    { ...plain, pattern: WEIR_BATCH, rows: 20_000_000, rounds: recorded(7_000) },
  ];
  expect(aims({ growth })).toMatchObject([
    { title: 'weir-single, recorded at 20,000,000 rows ÷ at none', figure: { median: 0.8, min: 0.7, max: 0.9 } },
  ]);
});

test('reading is held against the aim of its question, and each aim is of a question that is asked', () => {
  const reading = (title: string, p99Ms: number) => ({
    title,
    first: { p50Ms: 1, p99Ms: 1_000 },
    again: { p50Ms: 1, p99Ms },
  });
  const readings = [
    reading('usage of a customer by day, UTC', 26),
    reading('usage of a customer by day, Asia/Kolkata', 26),
    reading('usage of a whole meter by day, Europe/Berlin', 150),
    reading('receipt of an event', 999),
  ];
  const stallMs = { median: 10.1, min: 1, max: 60 };
  expect(aims({ reading: [{ events: 20_000_000, databaseBytes: 1, readings, stallMs }] })).toMatchObject([
    { title: 'usage of a customer by day, UTC, p99 at 20,000,000 events', isKept: false },
    { isKept: true },
    { isKept: true },
    { figure: stallMs, isKept: false },
  ]);
  for (const { title } of READ_AIMS) expect(QUESTIONS.some((question) => question.title.startsWith(title))).toBe(true);
});

test('an aim is left out below the size that it is of', () => {
  const midnight = { kind: 'alone' as const, draftsSeconds: 24.1, finalizedSeconds: 86.4, kills: 0 };
  const asked = { earlyBytes: null, mostBytes: null, tracked: null, draftP99Ms: 18.9, entitlementP99Ms: 5.2 };
  const midnights = [{ ...midnight, ...asked }] as unknown as Midnight[];
  const titlesOf = (subscriptions: number) =>
    aims({ billing: { subscriptions, events: 1, midnights } as BillingResult }).map(({ title }) => title);
  const ofAnySize = ['a draft of ten charges, p99', 'an entitlement at 300/s, p99'];
  expect(titlesOf(20_000)).toEqual(ofAnySize);
  expect(titlesOf(100_000)).toEqual([
    'drafts of 100,000 subscriptions, alone',
    'the same finalized after the grace, alone',
    ...ofAnySize,
  ]);
  const first = { p50Ms: 1, p99Ms: 1 };
  const readings = [{ title: 'usage of a customer by day, UTC', first, again: first }];
  const stallMs = { median: 1, min: 1, max: 1 };
  const read = (events: number) => aims({ reading: [{ events, databaseBytes: 1, readings, stallMs }] });
  expect(read(1_000_000).map(({ title }) => title)).toEqual(['the largest window, how long others wait']);
  expect(read(20_000_000)).toHaveLength(2);
});

test('each aim is a row with its figure', () => {
  const throughput = throughputOf({ 'weir-single': [madeUpRound({ postgresBytesPerEvent: 512 })] });
  const [, , row] = aimsTable(aims({ throughput })).split('\n');
  expect(row?.replaceAll(/ +/g, ' ')).toBe(
    '| single, disk in Postgres for each event | 512 | ≤ 400 bytes | not kept |',
  );
});
