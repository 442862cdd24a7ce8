// How long every reading endpoint of a real API process takes, over databases of growing size.

import { newId } from '@weir/shared/ids';
import type { ProgressLine } from '@weir/shared/progress-line';
import { startChild } from '../child.ts';
import { fillEvents } from '../fill/fill-events.ts';
import type { Environment, RoundDatabase } from '../environment.ts';
import { weirEnv } from '../patterns.ts';
import { signIn, signUp } from '../sign-up.ts';
import { oneDigit, percentileOf, whole, type Spread } from '../spread.ts';
import { measureStall } from './measure-stall.ts';
import { QUESTIONS, type Asked, type Question } from './questions.ts';

/** How much there is to read beside the number of events. */
const CUSTOMERS = 1_000;
const METERS = 10;
const USERS = 2_000;
const DAYS = 90;
export const READ_SCALE = { customers: CUSTOMERS, meters: METERS, users: USERS, days: DAYS } as const;

/** One after another: what is measured is a request, and not how many fit into a second. */
const REQUESTS = 200;
/** No question is asked for longer than this: of a slow one fewer requests say enough. */
const ASKING_MS_MAX = 60_000;
/** Before those: connections are opened and plans made. */
const WARMUP_REQUESTS = 20;
interface Reading {
  title: string;
  /** Asked for the first time: most of what is read comes from the disk. */
  first: Latency;
  /** The same requests once more: it is in memory. */
  again: Latency;
}

interface Latency {
  p50Ms: number;
  p99Ms: number;
}

export interface ReadResult {
  events: number;
  databaseBytes: number;
  readings: Reading[];
  /** How long other callers wait while the largest window is answered. */
  stallMs: Spread;
}

/** Fills a database with so many events, and asks every question of it. */
export async function measureReading(
  environment: Environment,
  events: number,
  progress: ProgressLine,
  signal: AbortSignal,
): Promise<ReadResult> {
  const database = await environment.clear();
  // One caller asks everything here, and its budget is not what is measured.
  const env = { ...weirEnv({ environment, database }), READ_BUCKETS_PER_CALLER: '1000000000' };
  const api = await startChild('apps/api/dist/main.js', { env, signal });
  try {
    const {
      caller: { apiKey },
    } = await signUp(api.url);
    const asked = await fill(database, events, progress, signal);
    const cookie = await signIn(api.url);
    const ask = async ({ path, isForPeople = false }: Question, n: number): Promise<number> => {
      signal.throwIfAborted();
      const from = performance.now();
      const headers = isForPeople ? { cookie } : { 'x-api-key': apiKey };
      const response = await fetch(`${api.url}/api/v1/${path(asked, n)}`, { headers });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path(asked, n)} answered ${response.status}: ${text}`);
      return performance.now() - from;
    };
    const bytes = await database.client.query<{ size: string }>('SELECT pg_database_size(current_database()) AS size');
    const readings: Reading[] = [];
    for (const question of QUESTIONS) {
      const { title } = question;
      for (let n = 0; n < WARMUP_REQUESTS; n += 1) await ask(question, REQUESTS + n);
      const askAll = () => measureLatency((n) => ask(question, n));
      const reading = { title, first: await askAll(), again: await askAll() };
      readings.push(reading);
      const inWords = ({ p50Ms, p99Ms }: Latency) => `p50 ${oneDigit(p50Ms)} ms, p99 ${oneDigit(p99Ms)} ms`;
      progress.log(`  ${title}: ${inWords(reading.first)}; again: ${inWords(reading.again)}`);
    }
    const stallMs = await measureStall(api.url, apiKey, asked.meterIds[0] ?? '', asked.until);
    progress.log(`  the largest window, how long others wait: ${oneDigit(stallMs.median)} ms`);
    return { events, databaseBytes: Number(bytes.rows[0]?.size), readings, stallMs };
  } finally {
    await api.stop();
    await database.drop();
  }
}

async function measureLatency(ask: (n: number) => Promise<number>): Promise<Latency> {
  const times: number[] = [];
  const end = performance.now() + ASKING_MS_MAX;
  for (let n = 0; n < REQUESTS && performance.now() < end; n += 1) times.push(await ask(n));
  return { p50Ms: percentileOf(times, 0.5), p99Ms: percentileOf(times, 0.99) };
}

/** Makes the meters, of which the last counts distinct users, the records of the customers, and their events until now. */
async function fill(
  { client }: RoundDatabase,
  events: number,
  progress: ProgressLine,
  signal: AbortSignal,
): Promise<Asked> {
  const { rows } = await client.query<{ id: string }>('SELECT id FROM organizations');
  const organizationId = rows[0]?.id ?? '';
  const meterIds = Array.from({ length: METERS }, () => newId());
  const until = new Date();
  await client.query(
    `INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type)
     SELECT $1, id, 'Meter ' || n, id::text, CASE WHEN n = cardinality($2::uuid[]) THEN 'UNIQUE_COUNT' ELSE 'SUM' END
     FROM unnest($2::uuid[]) WITH ORDINALITY AS t (id, n)`,
    [organizationId, meterIds],
  );
  const customers = await client.query<{ id: string }>(
    `INSERT INTO customers (organization_id, id, external_id)
     SELECT $1, gen_random_uuid(), 'customer-' || n FROM generate_series(0, $2::int - 1) AS n RETURNING id`,
    [organizationId, CUSTOMERS],
  );
  progress.log(`making ${whole(events)} events …`);
  await fillEvents(client, {
    events,
    customers: CUSTOMERS,
    meters: METERS,
    users: USERS,
    days: DAYS,
    organizationId,
    meterIds,
    until,
    onProgress(what, share) {
      signal.throwIfAborted();
      progress.show(() => `making ${whole(events)} events: ${what}, ${whole(share * 100)} %`);
    },
  });
  const eventIds = await client.query<{ id: string }>(
    'SELECT id FROM events TABLESAMPLE SYSTEM (least(100, 1e7 / $1::float8)::real) ORDER BY random() LIMIT 1000',
    [events],
  );
  return {
    meterIds: meterIds.slice(0, -1),
    usersMeterId: meterIds.at(-1) ?? '',
    customerIds: customers.rows.map(({ id }) => id),
    eventIds: eventIds.rows.map(({ id }) => id),
    days: DAYS,
    until: until.getTime(),
  };
}
