// What is moved in parts leaves nothing behind, whatever hours, void events and groups there are, and whatever is recorded meanwhile.

import type { Database } from '@weir/db/database';
import { performMoves } from '@weir/db/moves/perform-moves';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findInTables, throwIt } from '../support/erasing.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

// A failure prints the seed: write it here to see the same events again.
const seed = Date.now() | 0;
const FIRST_HOUR = Date.parse('2025-01-05T22:00:00Z');
const MINUTE = 60_000;

const weir = ownWeir({ withWorker: false, unobserved: true });
let database: Database;
beforeAll(() => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());

interface Draft {
  /** Since the first of the hours. */
  minute: number;
  user: number;
  model: number;
  quantity: number;
  isVoid: boolean;
}

interface Usage {
  admin: Organization;
  meterId: string;
}

async function openUsage(): Promise<Usage> {
  const admin = await signUp(weir);
  return { admin, meterId: (await admin.createMeter('UNIQUE_COUNT', undefined, ['model'])).id };
}

async function record(usage: Usage, customer: string, drafts: readonly Draft[]): Promise<void> {
  const events = drafts.map(({ minute, user, model, quantity }) => ({
    event: {
      id: newId(),
      organization_id: usage.admin.id,
      meter_id: usage.meterId,
      customer_external_id: customer,
      quantity: String(quantity),
      timestamp: new Date(FIRST_HOUR + minute * MINUTE).toISOString(),
      metadata: JSON.stringify({ user_id: user, model: `m${model}` }),
    },
    countsUniqueValues: true,
  }));
  expect((await recordEvents(database.pool, events)).recorded).toBe(drafts.length);
  const corrections = events
    .filter((_, index) => drafts[index]?.isVoid === true)
    .map(({ event }) => ({ type: 'void', event_id: event.id, reason: 'a test' }));
  if (corrections.length > 0) await ask(usage, '/corrections', { corrections }, 201);
}

async function ask(usage: Usage, path: string, body: object, status = 202): Promise<void> {
  await usage.admin.call('POST', path, body, status);
}

const moveOnePart = (from: Database, part: number) =>
  performMoves(
    from,
    -1,
    () => Promise.resolve(true),
    throwIt,
    () => {},
    part,
  );

/** Moves parts of so many events, each in a look of its own; `between` comes before each look that may find events. */
async function moveInParts(
  usage: Usage,
  part: number,
  between: (look: number) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  for (let look = 0; look < 1_000; look += 1) {
    const { rows } = await weir.pool.query<{ moved_at: string | null }>(
      'SELECT moved_at FROM usage_moves WHERE organization_id = $1 AND finished_at IS NULL',
      [usage.admin.id],
    );
    const [running] = rows;
    if (running === undefined) return;
    if (running.moved_at === null) await between(look);
    await moveOnePart(database, part);
  }
  throw new Error('it is moved for ever');
}

/** Under which external ids there is anything that is made of events. */
async function whose({ admin }: Usage): Promise<string[]> {
  const tables = ['events', 'late_events', 'customer_usage_hours', 'customer_usage_days', 'customer_value_days'].concat(
    ['customer_group_hours', 'customer_group_value_days'],
  );
  const { rows } = await weir.pool.query<{ who: string }>(
    tables
      .map((table) => `SELECT customer_external_id AS who FROM ${table} WHERE organization_id = $1`)
      .join(' UNION '),
    [admin.id],
  );
  return rows.map(({ who }) => who).toSorted();
}

/** One event of each minute of some hours. */
const eachOf = (hours: number, perHour: number, isVoid: (index: number) => boolean): Draft[] =>
  Array.from({ length: hours * perHour }, (_, index) => ({
    minute: Math.floor(index / perHour) * 60 + (index % perHour),
    user: index,
    model: index % 3,
    quantity: 1 + (index % 7),
    isVoid: isVoid(index),
  }));

// The first one here: how large a table is that has not been analyzed, decides how its rows are found.
test('a look at a part, or at values that parts have left, reads no more for all that the hour has', async () => {
  const [values, part] = [2_000, 50];
  const usage = await openUsage();
  const events = Array.from({ length: values }, (_, user) => ({
    minute: 5,
    user,
    model: 1,
    quantity: 1,
    isVoid: false,
  }));
  await record(usage, 'a-wrong', events);
  await ask(usage, '/usage-moves', { from_external_id: 'a-wrong', to_external_id: 'b-right' });
  // All of the hour is counted before the first part, and not again.
  await moveOnePart(database, part);
  expect(await rowsReadBy(weir, (observed) => moveOnePart(observed, part))).toBeLessThan(values);
  for (let moved = 2 * part; moved < values - part; moved += part) await moveOnePart(database, part);
  const { rows } = await weir.pool.query('SELECT events::int FROM usage_moves WHERE organization_id = $1', [
    usage.admin.id,
  ]);
  expect(rows).toEqual([{ events: values - part }]);
  expect(await rowsReadBy(weir, (observed) => moveOnePart(observed, part))).toBeLessThan(values);
  await moveInParts(usage, values);
  expect(await whose(usage)).toEqual(['b-right']);
  await expectRollupsToEqualEvents(weir.pool);
});

test('hours that fit in one part but for a void event leave no distinct value behind', async () => {
  const usage = await openUsage();
  await record(
    usage,
    'a-wrong',
    eachOf(5, 10, (index) => index === 7),
  );
  await record(usage, 'a-wrong', [{ minute: 299, user: 99, model: 1, quantity: 1, isVoid: false }]);
  await ask(usage, '/usage-moves', { from_external_id: 'a-wrong', to_external_id: 'b-right' });
  await moveInParts(usage, 50);
  expect(await whose(usage)).toEqual(['b-right']);
  await expectRollupsToEqualEvents(weir.pool);
});

test('an hour that ends with void events leaves no distinct value behind, and no name', async () => {
  const usage = await openUsage();
  await record(
    usage,
    'ada lovelace',
    eachOf(1, 60, (index) => index >= 45),
  );
  await ask(usage, '/erasures', { customer_external_id: 'ada lovelace' });
  await moveInParts(usage, 45);
  expect(await findInTables(weir, 'ada lovelace')).toEqual([]);
  await expectRollupsToEqualEvents(weir.pool);
});

/** Over the end of a day, and more often in one hour than in the others. */
const draft: fc.Arbitrary<Draft> = fc.record({
  minute: fc.oneof(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 299 })),
  user: fc.nat({ max: 15 }),
  model: fc.nat({ max: 3 }),
  quantity: fc.integer({ min: 1, max: 50 }),
  isVoid: fc.nat({ max: 4 }).map((drawn) => drawn === 0),
});
const drafts = (max: number) => fc.array(draft, { minLength: 1, maxLength: max, size: 'max' });

const scene = fc.record({
  isErased: fc.boolean(),
  part: fc.integer({ min: 1, max: 12 }),
  own: drafts(60),
  ofTarget: drafts(20),
  ofOthers: drafts(10),
  meanwhile: fc.array(fc.record({ look: fc.nat({ max: 8 }), events: drafts(6) }), { maxLength: 4 }),
});

test.each(fc.sample(scene, { numRuns: 6, seed }).map((drawn, index) => ({ ...drawn, name: `${index} of ${seed}` })))(
  'whatever is moved in parts is what its events give, and nothing is left: $name',
  async ({ isErased, part, own, ofTarget, ofOthers, meanwhile, name }) => {
    const usage = await openUsage();
    const from = `a person ${name}`;
    await record(usage, from, own);
    await record(usage, 'b-right', ofTarget);
    await record(usage, 'c-other', ofOthers);
    if (isErased) await ask(usage, '/erasures', { customer_external_id: from });
    else await ask(usage, '/usage-moves', { from_external_id: from, to_external_id: 'b-right' });
    await moveInParts(usage, part, async (look) => {
      for (const each of meanwhile.filter((then) => then.look === look)) {
        const counting = each.events.map((event) => ({ ...event, isVoid: false }));
        await record(usage, from, counting);
        await record(usage, 'b-right', counting);
      }
    });
    expect(isErased ? await findInTables(weir, from) : []).toEqual([]);
    const left = await whose(usage);
    expect(left).not.toContain(from);
    expect(left).toContain('b-right');
    await expectRollupsToEqualEvents(weir.pool);
  },
);
