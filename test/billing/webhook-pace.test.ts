// A worker begins so many requests in a second, and has so many turns under way: each waits for its place among the others.

import { findEndpointsWithWork } from '@weir/db/webhooks/turns';
import { EndpointPlaces } from '@weir/worker/webhooks/endpoint-places';
import { Pace } from '@weir/worker/webhooks/pace';
import { expect, test, vi } from 'vitest';
import { until } from '../support/harness.ts';
import { ownTurns } from '../support/turns.ts';
import { sequences } from '../support/webhooks.ts';

const { weir, database, receiving, createEndpoint, happen, deliver, deliveriesOf } = ownTurns();

test('what has waited for the pace for longer than a turn takes is sent', async () => {
  const receiver = await receiving();
  const { id } = await createEndpoint(receiver.url);
  await happen(2);
  let passed = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => process.uptime() * 1_000 + passed);
  try {
    // Longer than it has the endpoint in hand, too, and than it waits for an answer.
    const pace = { turn: () => Promise.resolve(void (passed += 61_000)) };
    const turn = () => deliver(id, { pace });
    expect(await turn()).toBe(true);
    expect(sequences(receiver.received)).toEqual([1]);
    await turn();
    expect(sequences(receiver.received)).toEqual([1, 2]);
  } finally {
    clock.mockRestore();
  }
});

test('a turn with something left is the last of those that wait for its place, and not the first', async () => {
  const receiver = await receiving();
  const [one, other] = [await createEndpoint(receiver.url), await createEndpoint(receiver.url)];
  await happen(3);
  const places = new EndpointPlaces(8);
  let passed = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => process.uptime() * 1_000 + passed);
  try {
    // While it has the one place of its organization, the other one asks for it. It sends no second one, even without an answer to the first.
    const asking = {
      turn: async () => {
        passed += 61_000;
        await deliver(other.id, { places });
      },
    };
    expect(await deliver(one.id, { places, pace: asking })).toBe(false);
    expect(sequences(receiver.received)).toEqual([1]);
    await weir.pool.query(`UPDATE webhook_endpoints SET held_until = now() - interval '1 minute' WHERE id = $1`, [
      other.id,
    ]);
    const work = await findEndpointsWithWork(database().kysely);
    expect(work.map(({ endpointId }) => endpointId)).toEqual([other.id, one.id]);
    // Nobody asks.
    const alone = { turn: () => Promise.resolve(void (passed += 40_000)) };
    expect(await deliver(other.id, { places, pace: alone })).toBe(true);
  } finally {
    clock.mockRestore();
  }
});

test('a turn that waits for the pace ends at once where its worker ends', async () => {
  const receiver = await receiving();
  const { id } = await createEndpoint(receiver.url);
  await happen();
  const pace = new Pace(0.001);
  const closing = new AbortController();
  await pace.turn(closing.signal);
  const turn = deliver(id, { pace, closing: closing.signal });
  await until(async () => (await deliveriesOf(id)).length === 1, 'it has looked what there is to send');
  closing.abort();
  await turn;
  expect(receiver.received).toEqual([]);
});
