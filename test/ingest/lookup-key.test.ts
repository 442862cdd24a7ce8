// An event may name its meter by the lookup_key of its feature. Whatever names it, it is the same meter.

import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;
let apiKey: string;
let features = 0;

beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
});

interface Feature {
  id: string;
  meter_id: string;
  meter_token: string;
}

const newLookupKey = () => `feature-${(features += 1)}`;

async function createFeature(lookup_key: string, fields: object = {}, { session } = admin): Promise<Feature> {
  const body = { name: 'Feature', lookup_key, type: 'meter', aggregation_type: 'SUM', ...fields };
  const answer = await weir.request('POST', '/api/v1/features', { session, body });
  expect(answer.status).toBe(201);
  return answer.body;
}
const changeFeature = (id: string, body: object) =>
  weir.request('PATCH', `/api/v1/features/${id}`, { session: admin.session, body });

const eventOf = (more: object) => ({ customer_external_id: 'acme', quantity: 1, ...more });
const track = (more: object, key = apiKey) =>
  weir.request('POST', '/api/v1/sdk/track', { apiKey: key, body: eventOf(more) });
const meterOf = async ({ body }: Answer, key = apiKey): Promise<string> =>
  (await weir.request('GET', `/api/v1/events/${body.id}`, { apiKey: key })).body.meter_id;

test('it is counted by the meter of that feature, one by one and in a batch', async () => {
  const [one, other] = [newLookupKey(), newLookupKey()];
  const feature = await createFeature(one);
  const second = await createFeature(other);
  expect((await track({ lookup_key: one, quantity: 5 })).status).toBe(201);
  const events = [
    eventOf({ lookup_key: one, quantity: 2 }),
    eventOf({ lookup_key: other, quantity: 3 }),
    eventOf({ meter_token: feature.meter_token, quantity: 4 }),
    eventOf({ lookup_key: 'nobody-has-it' }),
    eventOf({ lookup_key: one, meter_token: feature.meter_token }),
    eventOf({}),
  ];
  const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events } });
  expect(answer.body.data.map(({ status }: { status: number }) => status)).toEqual([201, 201, 201, 404, 422, 422]);
  await weir.drained();
  const usage = async ({ meter_id }: Feature) =>
    (await weir.request('GET', `/api/v1/meters/${meter_id}/usage`, { apiKey })).body.total_usage;
  expect([await usage(feature), await usage(second)]).toEqual(['11', '3']);
});

describe('a lookup_key', () => {
  test('beside a meter_token is refused, even where both mean one meter, and so is an event with neither', async () => {
    const lookup_key = newLookupKey();
    const { meter_token } = await createFeature(lookup_key);
    const both = await track({ lookup_key, meter_token });
    expectProblem(both, 422, 'invalid_request');
    expect(both.body.errors).toEqual([
      { path: 'lookup_key', message: 'must not be sent together with meter_token: send one of them' },
    ]);
    const neither = await track({ quantity: 0 });
    expect(neither.body.errors.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      'meter_token',
      'quantity',
    ]);
  });

  test('that no feature has, or one without a meter, is 404', async () => {
    const lookup_key = newLookupKey();
    await createFeature(lookup_key, { type: 'switch', aggregation_type: undefined });
    for (const unknown of [lookup_key, 'nobody-has-it', 'Not a slug'])
      expectProblem(await track({ lookup_key: unknown }), 404, 'meter_not_found');
  });

  test('leads each organization to its own meter, and to none of another', async () => {
    const neighbour = await signUp(weir);
    const theirKey = await neighbour.createKey();
    const [shared, mine] = [newLookupKey(), newLookupKey()];
    const ours = await createFeature(shared);
    const theirs = await createFeature(shared, {}, neighbour);
    await createFeature(mine);
    const [here, there] = [await track({ lookup_key: shared }), await track({ lookup_key: shared }, theirKey)];
    expect([here.status, there.status]).toEqual([201, 201]);
    await weir.drained();
    expect(await meterOf(here)).toBe(ours.meter_id);
    expect(await meterOf(there, theirKey)).toBe(theirs.meter_id);
    expectProblem(await track({ lookup_key: mine }, theirKey), 404, 'meter_not_found');
    // What the cache knows it by cannot be sent as a token.
    expectProblem(await track({ meter_token: `${admin.id}\0${mine}` }, theirKey), 422, 'invalid_request');
  });

  test('and a token name the same event where they come with one idempotency_key', async () => {
    const lookup_key = newLookupKey();
    const { meter_token, meter_id } = await createFeature(lookup_key);
    const first = await track({ meter_token, idempotency_key: 'by-either' });
    const again = await track({ lookup_key, idempotency_key: 'by-either' });
    expectProblem(again, 409, 'duplicate_event');
    expect(again.body.id).toBe(first.body.id);
    const other = newLookupKey();
    await createFeature(other);
    expectProblem(await track({ lookup_key: other, idempotency_key: 'by-either' }), 422, 'idempotency_key_reused');
    await weir.drained();
    expect((await weir.pool.query('SELECT FROM events WHERE meter_id = $1', [meter_id])).rowCount).toBe(1);
  });

  /** Asks until an answer is the one that is waited for, however long that takes: returns when the last other one was asked for. */
  async function lastBefore(isThere: () => Promise<boolean>): Promise<number> {
    let last = 0;
    const isAnswered = async () => {
      const asked = performance.now();
      if (await isThere()) return true;
      last = asked;
      return false;
    };
    await until(isAnswered, 'what an API remembers has grown old');
    return last;
  }

  // These two wait for what an API remembers to grow old, as well together as one after the other.
  test.concurrent('of an archived meter is refused within 5 seconds, and one that was deleted is unknown', async () => {
    const [archived, deleted] = [newLookupKey(), newLookupKey()];
    const { meter_id } = await createFeature(archived);
    const { id } = await createFeature(deleted);
    for (const lookup_key of [archived, deleted]) expect((await track({ lookup_key })).status).toBe(201);
    const { session } = admin;
    await weir.request('PATCH', `/api/v1/meters/${meter_id}`, { session, body: { status: 'ARCHIVED' } });
    await weir.request('DELETE', `/api/v1/features/${id}`, { session });
    const changed = performance.now();
    for (const [lookup_key, code] of [
      [archived, 'meter_archived'],
      [deleted, 'meter_not_found'],
    ]) {
      const lastTaken = await lastBefore(async () => (await track({ lookup_key })).body.code === code);
      expect(lastTaken - changed, `${lookup_key} is ${code}`).toBeLessThan(8_000);
    }
  });

  test.concurrent('that was changed is taken at once, and its old name leads to who has it next within 5 seconds', async () => {
    const [before, after] = [newLookupKey(), newLookupKey()];
    const renamed = await createFeature(before);
    expect((await track({ lookup_key: before })).status).toBe(201);
    expect((await changeFeature(renamed.id, { lookup_key: after })).status).toBe(200);
    const next = await createFeature(before);
    const byNewName = await track({ lookup_key: after });
    expect(byNewName.status).toBe(201);
    await weir.drained();
    expect(await meterOf(byNewName)).toBe(renamed.meter_id);
    await until(async () => {
      const answer = await track({ lookup_key: before });
      await weir.drained();
      return (await meterOf(answer)) === next.meter_id;
    }, 'the old name leads to the feature that has it now');
  });

  test('that was asked for before its feature was made is found a second later', async () => {
    const lookup_key = newLookupKey();
    expectProblem(await track({ lookup_key }), 404, 'meter_not_found');
    const refused = performance.now();
    await createFeature(lookup_key);
    const lastRefused = await lastBefore(async () => (await track({ lookup_key })).status === 201);
    expect(lastRefused - refused).toBeLessThanOrEqual(1_000);
  });
});
