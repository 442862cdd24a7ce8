import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { FaultLine, WebhookLine } from '../history.ts';
import { madeUpBilling } from './made-up-billing.ts';
import { webhooksAreDelivered, webhooksAreInOrder } from './webhooks.ts';

const KEY = Buffer.alloc(32, 7);
const endpoint = {
  id: 'endpoint',
  name: 'organization-0-0',
  receiver: 'receiver-0',
  secret: `whsec_${KEY.toString('base64')}`,
  eventTypes: null,
};

const idOf = (sequence: number, createdAt = madeUpBilling().state.feed[0]?.createdAt) =>
  `msg_endpoint_${sequence}_${createdAt?.replaceAll(/\D/g, '')}`;

/** When each is sent, in seconds. */
const AT = 1_763_632_800;

/** What the receiver got of an event of the made-up feed. */
function webhook(sequence: number, more: Partial<WebhookLine> = {}): WebhookLine {
  const data = { id: `invoice-${sequence}`, sequence, actor: 'weir' };
  const body = JSON.stringify({ type: 'invoice.finalized', timestamp: '2026-11-20T10:00:00Z', data });
  const line = { id: idOf(sequence), timestamp: String(AT), body, ...more };
  const signed = createHmac('sha256', KEY).update(`${line.id}.${line.timestamp}.${line.body}`).digest('base64');
  return {
    type: 'webhook',
    at: 100_000 + sequence,
    receiver: endpoint.receiver,
    endpoint: endpoint.name,
    signature: `v1,${signed}`,
    status: 204,
    ...line,
  };
}

function judge(
  lines: WebhookLine[],
  {
    attempts = 1,
    firstAt = AT,
    faults = [],
    last = 3,
  }: { attempts?: number; firstAt?: number; faults?: FaultLine[]; last?: number } = {},
) {
  const { run, state } = madeUpBilling();
  for (const line of [...lines, ...faults]) run.line(line);
  run.line({ type: 'delivered', at: 120_000, sequences: { 'organization-0': last } });
  const { facts } = run;
  const [organization] = facts.organizations;
  organization?.endpoints.push(endpoint);
  state.deliveries = state.feed.map(({ sequence }) => ({ endpoint: endpoint.id, sequence, attempts, firstAt }));
  return {
    delivered: webhooksAreDelivered(state, facts).violations,
    inOrder: webhooksAreInOrder(state, facts).violations,
  };
}

test('what came once, or again, in order passes', () => {
  expect(judge([1, 2, 3].map((sequence) => webhook(sequence)))).toEqual({ delivered: 0, inOrder: 0 });
  const again = [webhook(1, { status: 500 }), webhook(2), webhook(3), webhook(1), webhook(2)];
  expect(judge(again)).toEqual({ delivered: 0, inOrder: 0 });
});

test('what never came, or was never taken, is found', () => {
  expect(judge([webhook(1), webhook(3)]).delivered).toBe(1);
  expect(judge([webhook(1), webhook(2)], { last: 2 }).delivered).toBe(0);
  expect(judge([webhook(1), webhook(2, { status: null }), webhook(3)]).delivered).toBe(1);
});

test('what is not of the feed, not signed, or under another id is found', () => {
  const good = [webhook(1), webhook(2), webhook(3)];
  expect(judge([...good, webhook(4)]).delivered).toBe(1);
  expect(judge([...good, webhook(1, { signature: 'v1,AAAA' })]).delivered).toBe(1);
  expect(judge([...good, webhook(1, { id: idOf(2) })]).delivered).toBe(1);
  expect(judge([...good, webhook(1, { id: idOf(1, '2026-11-19T10:00:00Z') })]).delivered).toBe(1);
  const changed = webhook(1).body.replace('invoice-1', 'invoice-2');
  expect(judge([...good, webhook(1, { body: changed })]).delivered).toBe(1);
});

test('a first attempt behind a later one is found, but for one before it that did not arrive', () => {
  const swapped = [webhook(2), webhook(1), webhook(3)];
  expect(judge(swapped).inOrder).toBe(1);
  expect(judge(swapped, { attempts: 2 }).inOrder).toBe(0);
  // As many as arrived: one that did not, and one of which it was not written down.
  expect(judge([...swapped, webhook(1)], { attempts: 2 }).inOrder).toBe(1);
  expect(judge([...swapped, webhook(1)], { attempts: 2, firstAt: AT - 5 }).inOrder).toBe(0);
  const fault = { type: 'fault', at: 90_000, until: 99_000, kind: 'receiver silent', target: 'receiver-0' } as const;
  expect(judge(swapped, { faults: [fault] }).inOrder).toBe(0);
  expect(judge(swapped, { faults: [{ ...fault, target: 'receiver-1' }] }).inOrder).toBe(1);
});
