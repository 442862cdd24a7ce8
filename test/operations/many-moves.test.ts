// One organization may ask for very many erasures and moves of usage: those of others have their turns all the same.

import { performMoves } from '@weir/db/moves/perform-moves';
import { listRunningMoves } from '@weir/db/moves/usage-moves';
import type { Database } from '@weir/db/database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { performAllMoves, throwIt } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;
let many: Organization;
let other: Organization;
beforeAll(async () => {
  database = openTestDatabase(weir);
  [many, other] = [await signUp(weir), await signUp(weir)];
});
afterAll(() => database.close());
beforeEach(async () => {
  await weir.pool.query('DELETE FROM usage_moves');
});

const erase = (admin: Organization, customer_external_id: string) =>
  weir.request('POST', '/api/v1/erasures', { session: admin.session, body: { customer_external_id } });

const insertErasures = (count: number) =>
  weir.pool.query(
    `INSERT INTO usage_moves (organization_id, id, kind, from_external_id, to_external_id)
     SELECT $1, gen_random_uuid(), 'ERASE', 'someone ' || n, 'erased-' || n FROM generate_series(1, $2::int) AS n`,
    [many.id, count],
  );

test('an erasure is done within a turn of its organization, however many another one has asked for', async () => {
  await insertErasures(900);
  const { status, body } = await erase(other, 'the only one');
  expect({ status, body }).toMatchObject({ status: 202 });
  const running = await listRunningMoves(database.kysely);
  expect(running).toHaveLength(500);
  expect(new Set(running.slice(0, 2).map(({ organization_id }) => organization_id))).toEqual(
    new Set([many.id, other.id]),
  );
  // Each look has time for some of them, and for one at least of each organization.
  for (const move of running.slice(2)) expect(move.organization_id).toBe(many.id);
  const done = await performMoves(database, 1_000, () => Promise.resolve(true), throwIt);
  const later = await performMoves(database, 1_000, () => Promise.resolve(true), throwIt);
  expect([...done, ...later].map(({ id }) => id)).toContain(body.id);
});

test('an organization that has a thousand erasures running is asked to wait until some are done', async () => {
  await insertErasures(1_000);
  const refused = await erase(many, 'one more');
  expectProblem(refused, 409, 'usage_moving');
  const moved = { from_external_id: 'a', to_external_id: 'b' };
  const asked = await weir.request('POST', '/api/v1/usage-moves', { session: many.session, body: moved });
  expectProblem(asked, 409, 'usage_moving');
  expect((await erase(other, 'one more')).status).toBe(202);
  await weir.pool.query(`DELETE FROM usage_moves WHERE from_external_id = 'someone 1'`);
  expect((await erase(many, 'one more')).status).toBe(202);
});

test('a move of nothing has nobody record anew', async () => {
  const version = async () => (await weir.pool.query('SELECT version FROM recording_versions ORDER BY slot')).rows;
  const before = await version();
  expect((await erase(other, 'who used nothing')).status).toBe(202);
  await performAllMoves(database);
  expect((await weir.pool.query('SELECT FROM usage_moves WHERE finished_at IS NULL')).rowCount).toBe(0);
  expect(await version()).toEqual(before);
});
