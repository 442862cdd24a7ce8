// The statements that count, as Postgres gets them: they are put together from parts, and here one can read each as a whole.
// `npx vitest run test/usage/statements.test.ts -u` writes packages/db/statements after a change.

import type { Database } from '@weir/db/database';
import type { DueUsageQuestion } from '@weir/db/billing/usage/due-question';
import { readEntitlementUsage } from '@weir/db/billing/plans/entitlements';
import { findTakenOut } from '@weir/db/billing/usage/due-taken-out';
import { readDueUsage } from '@weir/db/billing/usage/due-usage';
import { sumsFromRollups } from '@weir/db/billing/usage/due-rows';
import { findLateDues } from '@weir/db/billing/subscriptions/late-events';
import { learnForRecording } from '@weir/db/known-for-recording';
import { recordEvents } from '@weir/db/record';
import { readGroupedUsage, type GroupQuestion } from '@weir/db/usage/read-groups';
import { readMeterUsage } from '@weir/db/usage/read-usage';
import { newId } from '@weir/shared/ids';
import { AGGREGATION_TYPES, type AggregationType } from '@weir/shared/meter';
import { toEnd } from '@weir/shared/to-end';
import { planningWindow } from '@weir/shared/window';
import { fileURLToPath } from 'node:url';
import { format } from 'sql-formatter';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteStatements } from '../support/note-statements.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let database: Database;
let statements: string[];

beforeAll(async () => {
  admin = await signUp(weir);
  database = openTestDatabase(weir, 1);
  statements = noteStatements(database);
  // What a connection sets up is none of it.
  await database.pool.query('SELECT 1');
});
afterAll(() => database.close());

const COLUMNS = 116;

/** Puts back into one line what fits there: the formatter gives each column of a list, and each word of a clause, its own. */
function folded(text: string): string {
  const depth = (line: string): number => line.search(/\S/);
  let lines = text.split('\n');
  for (let before = lines.length + 1; lines.length < before;) {
    before = lines.length;
    const next: string[] = [];
    for (let at = 0; at < lines.length;) {
      const head = lines[at] ?? '';
      let end = at + 1;
      while (end < lines.length && depth(lines[end] ?? '') > depth(head)) end += 1;
      const closes = /^\s*\)/.test(lines[end] ?? '') && head.endsWith('(') ? 1 : 0;
      const whole = lines
        .slice(at, end + closes)
        .map((line) => line.trim())
        .join(' ');
      const single = ' '.repeat(depth(head)) + whole.replaceAll('( ', '(').replaceAll(' )', ')');
      const isFolded = single.length <= COLUMNS;
      const line = isFolded ? single : head;
      const last = next.at(-1);
      const isOfList = last !== undefined && last.endsWith(',') && depth(last) === depth(line);
      if (isFolded && isOfList && last.length + line.trim().length < COLUMNS)
        next[next.length - 1] = `${last} ${line.trim()}`;
      else next.push(line);
      at = isFolded ? end + closes : at + 1;
    }
    lines = next;
  }
  return lines.join('\n');
}

/** Holds the one statement that some work sends, or the first of so many, against the one that lies in the repository. */
async function expectStatement(name: string, work: () => Promise<unknown>, count = 1): Promise<void> {
  statements.length = 0;
  await work();
  expect(statements).toHaveLength(count);
  const text = folded(format(statements[0] ?? '', { language: 'postgresql', expressionWidth: 110 }));
  const path = fileURLToPath(new URL(`../../packages/db/statements/${name}.sql`, import.meta.url));
  await expect(`${text}\n`).toMatchFileSnapshot(path);
}

const ANYBODY = '01900000-0000-7000-8000-000000000000';
const CUSTOMER = { customerExternalId: 'acme' };

/** A month and a half by day, in a zone that is half an hour off, so that its days and the end of the window cut rows of rollups. */
function usageOf(aggregation: AggregationType): Omit<GroupQuestion, 'keys' | 'filters'> {
  const query = {
    start_date: '2026-03-01',
    end_date: '2026-04-15T10:07:00Z',
    timezone: 'Asia/Kolkata',
    group_by: 'day',
  } as const;
  const window = toEnd(planningWindow(query, Date.parse('2026-05-01')));
  if ('problem' in window) throw new Error(window.problem.message);
  return { organizationId: ANYBODY, meterId: ANYBODY, aggregation, window };
}

test('usage of a customer by day is read in one statement', () =>
  expectStatement('read-usage', () => readMeterUsage(database.pool, { ...usageOf('SUM'), ...CUSTOMER })));

test('usage by a metadata key is read in one statement', () =>
  expectStatement('read-groups', () =>
    readGroupedUsage(database.pool, {
      ...usageOf('SUM'),
      keys: ['region', 'model'],
      filters: [{ key: 'model', value: 'large' }],
      groupBy: { key: 'region', limit: 10 },
    }),
  ));

test('distinct values of all customers are read in one statement', () =>
  expectStatement('read-distinct-values', () => readMeterUsage(database.pool, usageOf('UNIQUE_COUNT'))));

/** A due of each kind of usage, closed by a closing, whose period cuts an hour. */
const DUES = AGGREGATION_TYPES.map((aggregation): DueUsageQuestion => ({
  organizationId: ANYBODY,
  meterId: ANYBODY,
  ...CUSTOMER,
  aggregation,
  start: Date.parse('2026-03-01T10:30:00Z') * 1000,
  end: Date.parse('2026-04-01T10:30:00Z') * 1000,
  closing: 3,
}));

/** Those of an organization of which no month may be missing. */
const ofAdmin = () => DUES.map((due) => ({ ...due, organizationId: admin.id }));

test.each(['rollups', 'events'] as const)('usage of dues at a closing is read from %s in one statement', (from) =>
  expectStatement(`read-dues-from-${from}`, () => readDueUsage(database.kysely, ofAdmin(), from)),
);

test('hours of dues that are not all there are found in one statement', () =>
  expectStatement('find-dues-taken-out', () =>
    findTakenOut(database.pool, DUES, 'rollups', Date.parse('2026-05-02') * 1000),
  ));

test('events of cut hours are counted only where a month may be missing', async () => {
  const dues = ofAdmin();
  const sent = async (): Promise<number> => {
    statements.length = 0;
    for (const from of ['rollups', 'events'] as const) await readDueUsage(database.kysely, dues, from);
    return statements.length;
  };
  expect(await sent()).toBe(2);
  // Then it was there before the months that have partitions here.
  await weir.pool.query(`UPDATE organizations SET created_at = '2026-01-01' WHERE id = $1`, [admin.id]);
  expect(await sent()).toBe(4);
});

test('entitlements are read in one statement also where a month may be missing', async () => {
  await weir.pool.query(`UPDATE organizations SET created_at = '2026-01-01' WHERE id = $1`, [admin.id]);
  const given = {
    customer_external_id: 'acme',
    time_zone: 'UTC',
    billing_alignment: 'anniversary',
    anchor: '2026-03-01',
    anchored_at: null,
    start_at: '2026-03-01T10:30:00Z',
    is_enabled: true,
    usage_limit: '5',
    usage_reset_period: null,
    is_soft_limit: false,
    static_value: null,
  } as const;
  const of = { meter_id: ANYBODY, type: 'meter', is_subscribed: true, given, as_of: '2026-06-01T00:00:00Z' } as const;
  const terms = AGGREGATION_TYPES.map((aggregation_type) => ({ ...of, feature: aggregation_type, aggregation_type }));
  statements.length = 0;
  const read = await readEntitlementUsage(database.pool, admin.id, terms);
  expect(read.map((each) => each?.usage)).toEqual(terms.map(() => '0'));
  expect(statements).toEqual([expect.not.stringContaining('complete_from')]);
});

test('a limit of distinct values that never resets is read in one statement of some stretches', async () => {
  const for200Years = { start: Date.parse('2026-03-01T10:30:00Z') * 1000, end: Date.parse('2200-01-01') * 1000 };
  const question = { organizationId: ANYBODY, meterId: ANYBODY, ...CUSTOMER, ...for200Years, closing: null };
  const { text, values } = sumsFromRollups([{ ...question, aggregation: 'UNIQUE_COUNT' }], { ofWhatIsThere: true });
  expect(values.join().length).toBeLessThan(1_000);
  await expectStatement('read-distinct-values-of-limit', () => database.pool.query(text, values));
});

test('dues with late events are found in one statement, and those to be billed again in another', () =>
  expectStatement('find-late-dues', () => findLateDues(database.kysely, ANYBODY, [ANYBODY], 7), 2));

test('a batch is recorded in one statement, with and without groups, and where there are alerts', async () => {
  const meters = [await admin.createMeter('SUM'), await admin.createMeter('SUM', undefined, ['region'])];
  const [plain = '', grouped = ''] = meters.map(({ id }) => id);
  const record = async (name: string, meter_id: string): Promise<void> => {
    await learnForRecording(database.pool);
    const event = {
      id: newId(),
      organization_id: admin.id,
      meter_id,
      customer_external_id: 'acme',
      quantity: '1',
      timestamp: '2026-03-01T00:00:00.000000Z',
      metadata: '{"region": "eu"}',
    };
    await expectStatement(name, () => recordEvents(database.pool, [{ event, countsUniqueValues: false }]));
  };
  await record('record', plain);
  await record('record-with-groups', grouped);
  const body = { name: 'Alert', meter_id: plain, thresholds: [1] };
  expect((await weir.request('POST', '/api/v1/alerts', { session: admin.session, body })).status).toBe(201);
  await record('record-for-alerts', plain);
  const { rows } = await weir.pool.query('SELECT count(*)::integer AS n FROM events');
  expect(rows).toEqual([{ n: 3 }]);
});
