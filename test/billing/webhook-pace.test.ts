// A worker begins so many requests in a second: a turn waits for its place among those of the others.

import { Pace } from '@weir/worker/webhooks/pace';
import { expect, test, vi } from 'vitest';
import { until } from '../support/harness.ts';
import { ownTurns } from '../support/turns.ts';
import { sequences } from '../support/webhooks.ts';

const { receiving, createEndpoint, happen, deliver, deliveriesOf } = ownTurns();

test('what has waited for the pace for longer than a turn takes is sent', async () => {
  const receiver = await receiving();
  const { id } = await createEndpoint(receiver.url);
  await happen(2);
  let passed = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => process.uptime() * 1_000 + passed);
  try {
    // Longer than it has the endpoint in hand, too.
    const pace = { turn: () => Promise.resolve(void (passed += 40_000)) };
    const turn = () => deliver(id, { pace });
    expect(await turn()).toBe(true);
    expect(sequences(receiver.received)).toEqual([1]);
    await turn();
    expect(sequences(receiver.received)).toEqual([1, 2]);
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
