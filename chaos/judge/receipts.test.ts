import { expect, test } from 'vitest';
import { MadeUpRun, UNIQUE_COUNT, eventOf, idOf } from './made-up-run.ts';
import { receiptsHold, receiptsTellTheState, replaysAreCounted } from './receipts.ts';

const id = idOf(1);
const receipt = (status: string, at: number, tookMs = 5) => ({
  operation: 'receipt' as const,
  subject: id,
  expect: [200],
  status: 200,
  body: { status },
  at,
  tookMs,
});
const missing = (at: number) => ({ ...receipt('', at), status: 404, body: { code: 'not_found', detail: 'none' } });

test('a receipt that goes from queued to recorded passes, with a pause while Postgres is away', () => {
  const run = new MadeUpRun()
    .exchange([], receipt('queued', 10))
    .exchange([], { ...receipt('', 20), status: 503, body: {} })
    .exchange([], receipt('recorded', 30));
  expect(receiptsHold(run.facts)).toMatchObject({ examined: 2, violations: 0 });
});

test('a receipt that goes back is found, but for one that was overtaken', () => {
  const back = new MadeUpRun().exchange([], receipt('recorded', 10)).exchange([], receipt('queued', 20));
  expect(receiptsHold(back.facts).violations).toBe(1);
  const lost = (until: number) => back.fault({ losesClaims: true, at: until - 5, until });
  expect(receiptsHold(lost(10).facts).violations).toBe(1);
  expect(receiptsHold(lost(18).facts).violations).toBe(0);
  const overtaken = new MadeUpRun().exchange([], receipt('recorded', 10, 20)).exchange([], receipt('queued', 20));
  expect(receiptsHold(overtaken.facts).violations).toBe(0);
});

test.for([
  ['queued', 'duplicate', 0],
  ['rejected', 'duplicate', 0],
  ['rejected', 'recorded', 0],
  ['recorded', 'voided', 0],
  ['recorded', 'duplicate', 1],
  ['voided', 'duplicate', 1],
  ['voided', 'recorded', 1],
  ['duplicate', 'recorded', 1],
  ['duplicate', 'queued', 1],
  ['queued', 'unknown', 1],
] as const)('a receipt goes from %s to %s: %i found', ([from, to, violations]) => {
  const run = new MadeUpRun().exchange([], receipt(from, 10)).exchange([], receipt(to, 20));
  expect(receiptsHold(run.facts)).toMatchObject({ examined: 2, violations });
});

test('an accepted event without a receipt is found, but for one that was lost with Redis', () => {
  const run = new MadeUpRun().exchange([], missing(10));
  expect(receiptsHold(run.facts).violations).toBe(1);
  run.fault({ losesClaims: true, lostEvents: [id] });
  expect(receiptsHold(run.facts).violations).toBe(0);
});

test('a receipt that says in the end what Postgres has passes', () => {
  const run = new MadeUpRun().record(eventOf('a'), id);
  const body = {
    status: 'recorded',
    quantity: '0.1',
    timestamp: '2026-11-20T10:15:00.000Z',
    customer_external_id: 'acme',
  };
  expect(receiptsTellTheState(run.index, run.state, [{ id, status: 200, body }])).toMatchObject({
    examined: 1,
    violations: 0,
  });
});

test.for([
  ['another status', { status: 'queued' }],
  ['another quantity', { quantity: '0.2' }],
  ['another time', { timestamp: '2026-11-20T10:15:00.001Z' }],
  ['another customer', { customer_external_id: 'other' }],
] as const)('a receipt with %s is found', ([, changed]) => {
  const run = new MadeUpRun().record(eventOf('a'), id);
  const right = {
    status: 'recorded',
    quantity: '0.1',
    timestamp: '2026-11-20T10:15:00.000Z',
    customer_external_id: 'acme',
  };
  expect(
    receiptsTellTheState(run.index, run.state, [{ id, status: 200, body: { ...right, ...changed } }]).violations,
  ).toBe(1);
});

test('a replay that was accepted and is not in the count is found', () => {
  const [sent, corrected] = [eventOf('u', { meter: UNIQUE_COUNT }), eventOf('u', { meter: UNIQUE_COUNT, userId: 'x' })];
  const run = new MadeUpRun()
    .accept(sent, id)
    .exchange([corrected], { operation: 'replay', subject: id, status: 202, expect: [202] })
    .reject(sent, id);
  expect(replaysAreCounted(run.facts, run.index)).toMatchObject({ examined: 1, violations: 1 });
  run.record(corrected, id);
  expect(replaysAreCounted(run.facts, run.index).violations).toBe(0);
});
