// That what happens in billing reaches those who asked to be told: every event of the feed, at least once, as the feed has it.

import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { EndpointFact, WebhookLine } from '../history.ts';
import type { BillingState, StoredFeedEvent } from './billing-state.ts';
import { Check } from './check.ts';
import type { Facts } from './history-facts.ts';

/** What an endpoint was sent, and what it was to be sent. */
interface Received extends EndpointFact {
  expected: Map<number, StoredFeedEvent>;
  /** The last of them that has to have come. */
  last: number;
  lines: WebhookLine[];
}

export function webhooksAreDelivered(state: BillingState, facts: Facts): Check {
  const check = new Check(
    'webhooks',
    'Each event of the feed reaches each endpoint that takes its type, signed and as the feed has it, and no other endpoint.',
  );
  for (const { name, secret, id, expected, last, lines } of receivedOf(state, facts)) {
    const delivered = new Set<number>();
    for (const line of lines) {
      check.examine();
      const { sequence, problem } = judgeLine(line, { id, secret, expected });
      if (problem !== undefined) check.violate(`${name} was sent ${line.id} at ${line.at} ms, ${problem}`);
      else if (line.status === 204) delivered.add(sequence);
    }
    for (const [sequence, { type }] of expected) {
      if (sequence > last) continue;
      check.examine();
      if (!delivered.has(sequence)) check.violate(`${name} was never sent ${type} ${sequence}, or never took it`);
    }
  }
  return check;
}

/** Longer than an attempt takes that is given up. */
const UNDER_WAY_MS_MAX = 20_000;

/** Where the receiver does well: what hangs holds up nothing, so behind it others may arrive before it. */
export function webhooksAreInOrder(state: BillingState, facts: Facts): Check {
  const check = new Check('webhook order', 'First attempts reach an endpoint that does well in the order of the feed.');
  for (const { name, receiver, id, lines } of receivedOf(state, facts)) {
    const deliveries = new Map(
      state.deliveries.filter(({ endpoint }) => endpoint === id).map((each) => [each.sequence, each]),
    );
    const arrivals = new Map<number, number>();
    for (const line of lines) arrivals.set(sequenceOf(line), (arrivals.get(sequenceOf(line)) ?? 0) + 1);
    // Its first attempt did not arrive. One that did may not have been written down, so that their number alone does not tell.
    const hasMissed = (sequence: number, { timestamp }: WebhookLine): boolean => {
      const { attempts = 0, firstAt = null } = deliveries.get(sequence) ?? {};
      return attempts > (arrivals.get(sequence) ?? 0) || (firstAt !== null && firstAt < Number(timestamp));
    };
    const seen = new Set<number>();
    let last = 0;
    for (const line of lines) {
      const sequence = sequenceOf(line);
      if (seen.has(sequence)) continue;
      seen.add(sequence);
      check.examine();
      if (sequence < last && !hasMissed(sequence, line) && !isInTrouble(facts, receiver, line.at))
        check.violate(`${name} was first sent ${sequence} at ${line.at} ms, after ${last}`);
      last = Math.max(last, sequence);
    }
  }
  return check;
}

/** Whether the receiver, or the process that it runs in, answered nobody for a while around then. */
function isInTrouble({ faults, stalls }: Facts, receiver: string, at: number): boolean {
  const from = at - UNDER_WAY_MS_MAX;
  return (
    faults.some((fault) => fault.target === receiver && fault.at <= at && fault.until >= from) ||
    stalls.some((stall) => stall.at >= from && stall.at - stall.ms <= at)
  );
}

function receivedOf({ feed }: BillingState, { organizations, webhooks, deliveredTo }: Facts): Received[] {
  return organizations.flatMap(({ index, id, endpoints }) =>
    endpoints.map((endpoint) => {
      const { name, eventTypes } = endpoint;
      const isTaken = ({ organization, type }: StoredFeedEvent) =>
        organization === index && (eventTypes === null || eventTypes.includes(type));
      return {
        ...endpoint,
        expected: new Map(feed.filter(isTaken).map((event) => [event.sequence, event])),
        last: deliveredTo[id] ?? Infinity,
        lines: webhooks.filter((line) => line.endpoint === name),
      };
    }),
  );
}

interface WebhookBody {
  type: string;
  data: Record<string, unknown> & { sequence: number; actor: string };
}

const bodyOf = ({ body }: WebhookLine): WebhookBody => JSON.parse(body) as WebhookBody;
const sequenceOf = (line: WebhookLine): number => bodyOf(line).data.sequence;

function judgeLine(
  line: WebhookLine,
  { id, secret, expected }: Pick<Received, 'id' | 'secret' | 'expected'>,
): { sequence: number; problem?: string } {
  const { type, data } = bodyOf(line);
  const { sequence, actor: _, ...said } = data;
  const event = expected.get(sequence);
  if (event === undefined) return { sequence, problem: `which is ${type} ${sequence} and not for it` };
  const time = event.createdAt.replaceAll(/\D/g, '');
  if (line.id !== `msg_${id}_${sequence}_${time}`) return { sequence, problem: `which is not the id of ${sequence}` };
  if (!isSigned(line, secret)) return { sequence, problem: 'which its secret has not signed' };
  if (type !== event.type || !isDeepStrictEqual(said, event.data))
    return { sequence, problem: `with ${line.body}, and the feed has ${event.type} ${JSON.stringify(event.data)}` };
  return { sequence };
}

/** By the specification of Standard Webhooks, and by no code of Weir. */
function isSigned({ id, timestamp, signature, body }: WebhookLine, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return signature.split(' ').includes(`v1,${expected}`);
}
