import { trackBody } from '@weir/shared/event';
import { expect, test } from 'vitest';
import { bodiesOf } from './bodies.ts';

const callersOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ apiKey: `key-${index}`, meterToken: `meter-${index}` }));

test('a body is an event that the door takes, of the meter of its caller', () => {
  const nextBody = bodiesOf(callersOf(50), 1_000, 1);
  for (let count = 0; count < 200; count += 1) {
    const { text, caller, quantity } = nextBody();
    const event = trackBody.parse(JSON.parse(text));
    expect(event).toMatchObject({ meter_token: `meter-${caller}`, quantity });
  }
});

test('a batch is of one caller, and its quantities are added up', () => {
  const { text, caller, quantity } = bodiesOf(callersOf(9), 1_000, 100)();
  const { events } = JSON.parse(text) as { events: unknown[] };
  const parsed = events.map((event) => trackBody.parse(event));
  expect(parsed).toHaveLength(100);
  expect(new Set(parsed.map(({ meter_token }) => meter_token))).toEqual(new Set([`meter-${caller}`]));
  expect(parsed.reduce((sum, event) => sum + event.quantity, 0)).toBe(quantity);
});

test('no idempotency key comes twice, and every customer and caller comes', () => {
  const nextBody = bodiesOf(callersOf(20), 30, 1);
  const bodies = Array.from({ length: 2_000 }, nextBody);
  const events = bodies.map(({ text }) => trackBody.parse(JSON.parse(text)));
  expect(new Set(events.map(({ idempotency_key }) => idempotency_key)).size).toBe(2_000);
  expect(new Set(events.map(({ customer_external_id }) => customer_external_id)).size).toBe(30);
  expect(new Set(bodies.map(({ caller }) => caller)).size).toBe(20);
});
