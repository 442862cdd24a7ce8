// An erasure beside all else: who has something in hand that it waits for comes to an end, it goes on where it was cut off, and none of
// them keeps others from their turns.

import { settleClosed } from '@weir/db/billing/run/settlements';
import { performMoves } from '@weir/db/moves/perform-moves';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { rejectEvents } from '@weir/db/record';
import { isAllRecorded } from '@weir/queue/oldest-staged';
import { newId } from '@weir/shared/ids';
import { askMeanwhile } from '../support/beside-other.ts';
import { findInTables, performAllMoves, throwIt } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until } from '../support/harness.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let billing: Billed;
/** Who has the subscription in hand. */
let holder: pg.PoolClient;
beforeAll(async () => {
  billing = await startBilled(weir);
});
afterAll(() => billing.close());
beforeEach(async () => {
  holder = await weir.pool.connect();
});
afterEach(async () => {
  await holder.query('ROLLBACK');
  holder.release();
});

const erase = () => billing.request('POST', '/erasures', { customer_id: billing.ownCustomer.id });

async function holdSubscription(): Promise<void> {
  await holder.query(`BEGIN; SET LOCAL lock_timeout = '2s'`);
  await holder.query('SELECT FROM subscriptions WHERE id = $1 FOR UPDATE', [billing.subscription]);
}

test('of a customer who is subscribed it is refused at once, whoever has the subscription in hand', async () => {
  await holdSubscription();
  expectProblem(await erase(), 409, 'customer_in_use');
});

test('while it waits for a subscription, who has that in hand may invoice the customer and number invoices', async () => {
  await billing.post(`/subscriptions/${billing.subscription}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(billing.subscription);
  await holdSubscription();
  const erasing = erase();
  await untilWaiting(weir);
  await holder.query('SELECT FROM customers WHERE id = $1 FOR KEY SHARE', [billing.ownCustomer.id]);
  await holder.query('SELECT FROM organizations WHERE id = $1 FOR SHARE', [billing.admin.id]);
  await holder.query('COMMIT');
  expect((await erasing).status).toBe(202);
});

test.each([{ name: 'Ada' }, { name: 'Ada', external_id: 'eve' }])(
  'a change of the customer that waits for its erasure gives it no name again: %o',
  async (changes) => {
    const { id } = await billing.post('/customers', {}, 201);
    const [erasing, changing] = await askMeanwhile(
      weir,
      billing.admin.id,
      () => billing.request('POST', '/erasures', { customer_id: id }),
      () => billing.request('PATCH', `/customers/${id}`, changes),
    );
    expect(erasing.status).toBe(202);
    expectProblem(changing, 409, 'customer_erased');
    const external_id = expect.stringMatching(/^erased-/);
    expect(await billing.get(`/customers/${id}`)).toMatchObject({ name: null, external_id });
  },
);

test.each([
  ['/erasures', { customer_external_id: 'unknown' }, undefined],
  ['/erasures', { customer_external_id: 'unheard of' }, 'known'],
  ['/usage-moves', { from_external_id: 'unnamed', to_external_id: 'named' }, undefined],
])(
  'an external id without a record is given to none while its usage is asked for: %s %o',
  async (path, body, known) => {
    const [external_id] = Object.values(body);
    const id = known === undefined ? undefined : (await billing.post('/customers', { external_id: known }, 201)).id;
    const [moving, made] = await askMeanwhile(
      weir,
      billing.admin.id,
      () => billing.request('POST', path, body),
      () =>
        id === undefined
          ? billing.request('POST', '/customers', { external_id })
          : billing.request('PATCH', `/customers/${id}`, { external_id }),
    );
    expect(moving.status).toBe(202);
    expectProblem(made, 409, 'usage_moving');
  },
);

test.each([
  ['/usage-moves', 'usage_moving'],
  ['/erasures', 'customer_erased'],
])('a customer is not subscribed while their usage is asked for: %s', async (path, code) => {
  const { id: customer_id, external_id } = await billing.customer();
  const body = path === '/erasures' ? { customer_id } : { from_external_id: external_id, to_external_id: 'another' };
  const [moving, subscribed] = await askMeanwhile(
    weir,
    billing.admin.id,
    () => billing.request('POST', path, body),
    () => billing.request('POST', '/subscriptions', { customer_id, plan_id: billing.ownPlan.id }),
  );
  expect(moving.status).toBe(202);
  expectProblem(subscribed, 409, code);
});

test('who settles a subscription waits for it without the organization in hand', async () => {
  await holdSubscription();
  const settling = billing.database.kysely
    .transaction()
    .execute((transaction) => settleClosed(transaction, billing.admin.id, billing.subscription, { actor: 'weir' }));
  await untilWaiting(weir);
  await holder.query('SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE', [billing.admin.id]);
  await holder.query('COMMIT');
  expect((await settling).outcome).toBe('usage_moving');
});

test('one that was cut off goes on where it was, and one that cannot go on keeps no other from its end', async () => {
  const [admin, other] = [await signUp(weir), await signUp(weir)];
  const ask = async ({ session }: { session: string }) => {
    const body = { customer_external_id: 'ada' };
    return (await weir.request('POST', '/api/v1/erasures', { session, body })).body.id as string;
  };
  // That of the other organization is the first, and what was accepted before it is never recorded.
  await ask(other);
  const id = await ask(admin);
  const text = (name: string) => `repeat('x', 1500) || '"customer_external_id":"${name}"'`;
  const own = `CASE WHEN n = 2999 THEN 'ada' ELSE 'eve' END`;
  await weir.pool.query(
    `INSERT INTO rejected_events (organization_id, id, meter_id, customer_external_id, reason, event)
     SELECT $1, lpad(n::text, 32, '0')::uuid, $1, ${own}, 'for a test', json_build_object('customer_external_id', ${own})
     FROM generate_series(1, 3000) AS n`,
    [admin.id],
  );
  await weir.pool.query(
    `INSERT INTO audit_entries (organization_id, id, action, resource_type, actor_type, changes, is_done)
     SELECT $1, lpad(n::text, 32, '0')::uuid, 'customer.update', 'customer', 'operator',
       jsonb_build_object('external_id', ${own}, 'metadata', (SELECT string_agg(md5(n::text || part), '') FROM generate_series(1, 60) AS part)), true
     FROM generate_series(1, 3000) AS n`,
    [admin.id],
  );
  await weir.pool.query(
    `INSERT INTO request_keys (organization_id, key_hash, request_hash, status, answer, withheld, created_at)
     SELECT $1, decode(md5(n::text), 'hex'), '', 200, replace(json_build_object('external_id', ${own}, 'text', ${text('eve')})::text, ' : ', ':'), '{}',
       now() + (n / 10) * interval '1 microsecond'
     FROM generate_series(1, 3000) AS n`,
    [admin.id],
  );
  await weir.pool.query(
    `INSERT INTO billing_events (organization_id, sequence, type, created_at, actor, data)
     SELECT $1, n * 11, 'usage.threshold_reached', now(), 'weir', jsonb_build_object('customer_external_id', ${own})
     FROM generate_series(1, 3000) AS n`,
    [admin.id],
  );
  const places: string[] = [];
  await until(
    async () => {
      // One page, and no more.
      await performMoves(
        billing.database,
        0,
        (organizationId) => Promise.resolve(organizationId !== other.id),
        throwIt,
      );
      const { rows } = await weir.pool.query('SELECT stage, stage_after, finished_at FROM usage_moves WHERE id = $1', [
        id,
      ]);
      const place = `${rows[0].stage} ${rows[0].stage_after}`;
      if (place !== places.at(-1)) places.push(place);
      return rows[0].finished_at !== null;
    },
    'the erasure is done',
    120,
  );
  // Never back to where it had been, and each of them in some pages.
  expect(new Set(places).size).toBe(places.length);
  const pages = (stage: string) => places.filter((place) => place.startsWith(`${stage} `)).length;
  for (const stage of ['rejected', 'answers', 'audit', 'feed']) expect(pages(stage), stage).toBeGreaterThan(2);
  const { rows } = await weir.pool.query(
    `SELECT (SELECT count(*)::int FROM rejected_events WHERE event LIKE '%"ada"%') AS rejected,
       (SELECT count(*)::int FROM audit_entries WHERE changes ->> 'external_id' = 'ada') AS audit,
       (SELECT count(*)::int FROM request_keys WHERE answer LIKE '%"ada"%') AS answers,
       (SELECT count(*)::int FROM request_keys WHERE answer = '{}') AS withheld,
       (SELECT count(*)::int FROM billing_events WHERE data ->> 'customer_external_id' = 'ada') AS feed`,
  );
  expect(rows).toEqual([{ rejected: 0, audit: 0, answers: 0, withheld: 1, feed: 0 }]);
});

test('it waits for an event that was replayed before, and none is replayed meanwhile', async () => {
  const [one, other] = ['one', 'other'].map((key) => ({
    id: newId(),
    organization_id: billing.admin.id,
    meter_id: billing.ownMeter.id,
    customer_external_id: 'replayed',
    quantity: '1',
    timestamp: '2025-01-05T00:00:00Z',
    aggregation: 'SUM' as const,
    idempotency_key: key,
  }));
  if (one === undefined || other === undefined) throw new Error('there are two');
  await rejectEvents(
    weir.pool,
    [one, other].map((event) => ({ event, reason: 'Its meter is archived.' })),
  );
  const replay = ({ id }: { id: string }) => billing.request('POST', `/events/${id}/replay`);
  const isRecorded = (secondsAgo: number) =>
    isAllRecorded(weir.queue, billing.admin.id, Date.now() - secondsAgo * 1_000);
  // Where nothing waits, one may be on its way to Redis that was let in a moment before.
  expect([await isRecorded(9), await isRecorded(10)]).toEqual([false, true]);
  expect((await replay(one)).status).toBe(202);
  expect([await isRecorded(10), await isRecorded(25 * 3_600)]).toEqual([false, true]);
  expect((await billing.request('POST', '/erasures', { customer_external_id: 'replayed' })).status).toBe(202);
  expectProblem(await replay(other), 409, 'usage_moving');
});

test('what is asked for after a wait for others counts from its end: until then a replay is let in', async () => {
  await holder.query('BEGIN');
  await holder.query('SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE', [billing.admin.id]);
  const asked = [
    billing.request('POST', '/erasures', { customer_external_id: 'held up' }),
    billing.request('POST', '/usage-moves', { from_external_id: 'held back', to_external_id: 'held before' }),
  ];
  await untilWaiting(weir, asked.length);
  const { rows } = await holder.query<{ released: Date }>('SELECT clock_timestamp() AS released');
  await holder.query('COMMIT');
  for (const { status, body } of await Promise.all(asked)) {
    expect(status).toBe(202);
    expect(Date.parse(body.created_at)).toBeGreaterThanOrEqual(rows[0]?.released.getTime() ?? Infinity);
  }
});

test('the feed names the customer no more, and what receivers answered goes; what is of others stays', async () => {
  const { id, session, call } = await signUp(weir);
  const send = async (path: string, body: object): Promise<string> => (await call('POST', path, body)).id;
  const customer = await send('/customers', { external_id: 'quoted' });
  const events = [
    { customer_id: customer },
    // As it was called then.
    { customer_id: customer, customer_external_id: 'quoted-before' },
    { customer_external_id: 'quoted' },
    { customer_external_id: 'other' },
  ];
  const answered = { at: '2025-01-01T00:00:00.000Z', status: 422, ms: 7, error: null, answer: 'Who is "quoted"?' };
  const unanswered = { ...answered, status: null, error: 'there was no answer', answer: null };
  await weir.pool.query(
    `INSERT INTO billing_events (organization_id, sequence, type, created_at, actor, data)
     SELECT $1, place, 'usage.threshold_reached', now(), 'weir', data
     FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS events (data, place)`,
    [id, JSON.stringify(events)],
  );
  await weir.pool.query(
    `WITH endpoint AS (
       INSERT INTO webhook_endpoints (organization_id, id, url, secret, last_sequence)
       VALUES ($1, gen_random_uuid(), 'https://receiver.example', 'secret', 4) RETURNING id
     )
     INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, sequence, attempts)
     SELECT $1, gen_random_uuid(), endpoint.id, place, $2 FROM endpoint, generate_series(1, 4) AS place`,
    [id, JSON.stringify([unanswered, answered])],
  );
  const deliveries = await weir.pool.query('SELECT id FROM webhook_deliveries WHERE organization_id = $1', [id]);
  for (const { id: delivery } of deliveries.rows) {
    const headers = { 'idempotency-key': delivery };
    const retried = await weir.request('POST', `/api/v1/deliveries/${delivery}/retry`, { session, headers });
    expect(retried).toMatchObject({ status: 200, body: { attempts: [unanswered, { ...answered, answer: null }] } });
  }
  await send('/erasures', { customer_id: customer });
  await performAllMoves(billing.database);
  const { data: erasures } = (await weir.request('GET', '/api/v1/erasures', { session })).body;
  const customer_external_id = erasures[0].external_id;
  const feed = await weir.pool.query('SELECT data FROM billing_events WHERE organization_id = $1 ORDER BY sequence', [
    id,
  ]);
  expect(feed.rows.map(({ data }) => data)).toEqual([
    { customer_id: customer, name: '[erased]' },
    { customer_id: customer, customer_external_id, name: '[erased]' },
    { customer_external_id, name: '[erased]' },
    { customer_external_id: 'other' },
  ]);
  const { rows } = await weir.pool.query(
    'SELECT attempts FROM webhook_deliveries WHERE organization_id = $1 ORDER BY sequence',
    [id],
  );
  const erased = [unanswered, { ...answered, answer: null }];
  expect(rows.map(({ attempts }) => attempts)).toEqual([erased, erased, erased, [unanswered, answered]]);
  expect((await findInTables(weir, 'Who is')).map((row) => row.split(':', 1)[0])).toEqual(['webhook_deliveries']);
});

const changesOf = async (organizationId: string, action: string): Promise<(Record<string, unknown> | null)[]> => {
  const { rows } = await weir.pool.query<{ changes: Record<string, unknown> | null }>(
    'SELECT changes FROM audit_entries WHERE organization_id = $1 AND action = $2 ORDER BY id',
    [organizationId, action],
  );
  return rows.map(({ changes }) => changes);
};

test('only what names the customer goes from the audit log and kept answers, not what has the same text', async () => {
  const admin = await signUp(weir);
  const send = async (method: string, path: string, body: object, key?: string) => {
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const answer = await weir.request(method, `/api/v1${path}`, { session: admin.session, body, headers });
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const other = await send('POST', '/customers', { external_id: 'other', metadata: { floor: '42' } });
  const credit = { amount: '42', currency: 'USD', note: '42' };
  const kept = await send('POST', `/customers/${other.id}/credits`, credit, 'credit-42');
  await send('POST', `/customers/${other.id}/credits`, { ...credit, external_id: 'viewer' });
  await send('POST', '/invitations', { email: 'eve@example.com', role: 'viewer' });
  await send('POST', '/customers', { external_id: '42', name: 'Forty-two' });
  await send('POST', '/usage-moves', { from_external_id: 'before', to_external_id: 'viewer' });
  await performAllMoves(billing.database);
  for (const customer_external_id of ['42', 'viewer', 'id']) await send('POST', '/erasures', { customer_external_id });
  await performAllMoves(billing.database);

  expect(await changesOf(admin.id, 'credit.create')).toEqual([
    { customer_id: other.id, ...credit },
    { customer_id: other.id, ...credit, external_id: 'viewer' },
  ]);
  expect(await changesOf(admin.id, 'invitation.create')).toEqual([{ email: 'eve@example.com', role: 'viewer' }]);
  expect(await changesOf(admin.id, 'customer.create')).toEqual([
    { external_id: 'other', metadata: { floor: '42' } },
    null,
  ]);
  expect(await changesOf(admin.id, 'erasure.create')).toEqual(
    ['42', 'viewer', 'id'].map(() => ({ customer_external_id: '[erased]' })),
  );
  expect(await send('POST', `/customers/${other.id}/credits`, credit, 'credit-42')).toEqual(kept);
});

test('of a record that was deleted, and of alerts, the audit log has nothing once usage is erased', async () => {
  const admin = await signUp(weir);
  const { call } = admin;
  const { id: meter } = await admin.createMeter('SUM');
  for (const external_id of ['gone-by-name', undefined]) {
    const { id } = await call('POST', '/customers', { external_id, name: 'Grace Hopper-Murray' });
    await call('PATCH', `/customers/${id}`, { email: 'grace@hopper.example' });
    const watch = { name: 'Limit of Grace', meter_id: meter, customer_id: id, thresholds: ['5'] };
    const alert = await call('POST', '/alerts', watch);
    await call('PATCH', `/alerts/${alert.id}`, { name: 'Bound of Grace' });
    await call('DELETE', `/customers/${id}`);
    await call('POST', '/erasures', { customer_external_id: external_id ?? id });
  }
  const watched = await call('POST', '/customers', {});
  const alert = await call('POST', '/alerts', {
    name: 'Watch',
    meter_id: meter,
    customer_id: watched.id,
    thresholds: ['5'],
  });
  await call('PATCH', `/alerts/${alert.id}`, { name: 'Edge of Grace' });
  // The log keeps entries for so long.
  await weir.pool.query(`DELETE FROM audit_entries WHERE resource_id = $1 AND action = 'alert.create'`, [alert.id]);
  await call('POST', '/erasures', { customer_id: watched.id });
  const living = await call('POST', '/customers', { external_id: 'before', name: 'Jean' });
  await call('PATCH', `/customers/${living.id}`, { external_id: 'after' });
  await call('POST', '/erasures', { customer_external_id: 'before' });
  await performAllMoves(billing.database);
  const found = await findInTables(weir, 'Hopper', 'hopper', 'of Grace');
  expect(found.filter((row) => row.startsWith('audit_entries: '))).toEqual([]);
  expect((await changesOf(admin.id, 'customer.create')).at(-1)).toEqual({ external_id: '[erased]', name: 'Jean' });
});

test('what was sent to make a record is erased also where it was not written down what came of it', async () => {
  const admin = await signUp(weir);
  const sent = [{ name: 'Mary Somerville' }, { email: 'mary@somerville.example' }, { phone: '+44 131 0000' }];
  const { id } = await admin.call('POST', '/customers', Object.assign({}, ...sent), 201);
  for (const each of sent) await admin.call('POST', '/customers', { ...each, legal_name: 'Somerville & Greig' }, 201);
  const another = { external_id: 'another', name: 'Mary Somerville' };
  for (const body of [{ name: 'Jean' }, another]) await admin.call('POST', '/customers', body, 201);
  await weir.pool.query('UPDATE audit_entries SET is_done = false, resource_id = NULL WHERE organization_id = $1', [
    admin.id,
  ]);
  await admin.call('POST', '/erasures', { customer_id: id });
  await performAllMoves(billing.database);
  expect(await changesOf(admin.id, 'customer.create')).toEqual([null, null, null, null, { name: 'Jean' }, another]);
});

test('what was sent of alerts over the customer alone goes page by page, also once their rows are gone', async () => {
  const admin = await signUp(weir);
  const post = async (path: string, body: object): Promise<string> => (await admin.call('POST', path, body)).id;
  const { id: meter_id } = await admin.createMeter('SUM');
  const customer_id = await post('/customers', { external_id: 'watched' });
  const watch = (name: string, over: object) => post('/alerts', { name, meter_id, thresholds: ['5'], ...over });
  const [first, second] = [await watch('Limit', { customer_id }), await watch('Edge', { customer_id })];
  const other = await watch('Of all', {});
  await weir.pool.query(
    `INSERT INTO audit_entries (organization_id, id, action, resource_type, resource_id, actor_type, changes, is_done)
     SELECT $1, gen_random_uuid(), 'alert.update', 'alert', alert, 'operator', '{"name": "A name"}', true
     FROM unnest($2::uuid[]) AS alert CROSS JOIN generate_series(1, 2500)`,
    [admin.id, [first, second, other]],
  );
  const left = async () => {
    const { rows } = await weir.pool.query(
      `SELECT count(*) FILTER (WHERE resource_id = $2) AS of_other, count(*) FILTER (WHERE resource_id <> $2) AS own
       FROM audit_entries WHERE organization_id = $1 AND resource_type = 'alert' AND changes IS NOT NULL`,
      [admin.id, other],
    );
    return [Number(rows[0].own), Number(rows[0].of_other)];
  };
  expect(await left()).toEqual([5_002, 2_501]);
  const id = await post('/erasures', { customer_id });
  expect(await left()).toEqual([5_002, 2_501]);
  await weir.pool.query('DELETE FROM alerts WHERE id = ANY ($1::uuid[])', [[first, second]]);
  const steps = new Set<number>();
  await until(async () => {
    // One page, and no more.
    await performMoves(billing.database, 0, () => Promise.resolve(true), throwIt);
    const before = [...steps].at(-1) ?? 5_002;
    const [now = 0] = await left();
    expect(before - now).toBeLessThanOrEqual(1_000);
    steps.add(now);
    const { rows } = await weir.pool.query('SELECT finished_at FROM usage_moves WHERE id = $1', [id]);
    return rows[0].finished_at !== null;
  }, 'the erasure is done');
  expect(await left()).toEqual([0, 2_501]);
});
