// How clients report usage: once, again, twice at the same moment, under a key that is taken, and many at once.

import { setTimeout as delay } from 'node:timers/promises';
import type { SentEvent } from '../history.ts';
import type { Answer } from './http-client.ts';
import { trackRequest, type Accepted, type ClientContext } from './client-context.ts';
import { bodyOf, changePayload, tokenOf } from './made-events.ts';
import type { Organization } from './made-organizations.ts';

/** One event under a key of its own, until it is accepted. */
export async function trackKeyed(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  await track(context, organization, context.newEvent(organization), signal);
}

/** One event without a key; it is not sent again, since nobody could tell the second from the first. */
export async function trackKeyless(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  await track(context, organization, context.newKeylessEvent(organization), signal);
}

/** The same event to both APIs at the same moment: one of them accepts it. */
export async function trackTwiceAtOnce(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  const event = context.newEvent(organization);
  await Promise.all([track(context, organization, event, signal, 0), track(context, organization, event, signal, 1)]);
}

const RACING_EVENTS = 10;

/** As long as the first API takes to hand them on, about. */
const RACE_MS = 15;

/** Some events to one API, and a moment later to the others too, which find them claimed. */
export async function trackInTurn(context: ClientContext, signal: AbortSignal, first: number): Promise<void> {
  const organization = context.pickOrganization();
  const events = Array.from({ length: RACING_EVENTS }, () => context.newEvent(organization));
  const to = (api: number) => events.map((event) => track(context, organization, event, signal, api));
  const sent = to(first);
  await delay(RACE_MS);
  for (let step = 1; step < context.sender.apis; step += 1) sent.push(...to(first + step));
  await Promise.all(sent);
}

/** Two events with one key at the same moment: one of them is refused. */
export async function trackContested(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  const event = context.newEvent(organization);
  const rival = changePayload(context.random, event);
  await Promise.all(
    [event, rival].map((each, index) =>
      context.sender.send(
        { ...trackRequest(organization, each), expect: [201, 409, 422], api: index % context.sender.apis },
        signal,
      ),
    ),
  );
}

/** An event that was accepted some time ago, once more. */
export async function trackAgain(context: ClientContext, signal: AbortSignal): Promise<void> {
  const accepted = recallKeyed(context);
  if (accepted === undefined) return trackKeyed(context, signal);
  const { organization, event } = accepted;
  await context.sender.send({ ...trackRequest(organization, event), expect: [201, 409, 422] }, signal);
}

/** Another event under the key of one that was accepted. */
export async function trackUnderTakenKey(context: ClientContext, signal: AbortSignal): Promise<void> {
  const accepted = recallKeyed(context);
  if (accepted === undefined) return trackKeyed(context, signal);
  const { organization, event } = accepted;
  const changed = changePayload(context.random, event);
  // 201 and 409 are right when Redis has lost the claim; the judge knows when.
  await context.sender.send({ ...trackRequest(organization, changed), expect: [201, 409, 422] }, signal);
}

/** Many events in one request, good and bad ones, some of them twice. Those that could not be taken are sent again. */
export async function trackBatch(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  let events = makeBatch(context, organization);
  for (let attempt = 1; events.length > 0; attempt += 1) {
    const answer = await sendBatch(context, organization, events, signal);
    events = unsettledOf(context, organization, events, answer);
    if (signal.aborted) return;
    if (events.length > 0) await delay(context.random.int(100, Math.min(4_000, 250 * 2 ** attempt)));
  }
}

/** Sends an event until it is settled, and remembers one that is accepted. */
async function track(
  context: ClientContext,
  organization: Organization,
  event: SentEvent,
  signal: AbortSignal,
  api?: number,
): Promise<void> {
  const request = trackRequest(organization, event, { keyInHeader: context.random.chance(0.1) });
  const to = api === undefined ? {} : { api: api % context.sender.apis };
  const answer = await context.sender.send({ ...request, ...to }, signal);
  const id = answer?.status === 201 ? /^\{"id":"([^"]+)"/.exec(answer.text)?.[1] : undefined;
  if (id !== undefined) context.remember({ organization, event, id });
}

function recallKeyed(context: ClientContext): Accepted | undefined {
  const accepted = context.recall();
  return accepted?.event.key === undefined ? undefined : accepted;
}

const BATCH_SIZES = [2, 3, 5, 8, 13, 20, 30, 50, 100, 200];

function makeBatch(context: ClientContext, organization: Organization): SentEvent[] {
  const { random } = context;
  const events: SentEvent[] = [];
  const size = random.pick(BATCH_SIZES);
  while (events.length < size) {
    const event = context.newEvent(organization);
    const kind = random.int(0, 49);
    if (kind === 0) events.push(event, event);
    else if (kind === 1) events.push(event, changePayload(random, event));
    else if (kind === 2) events.push({ ...event, quantity: '0' });
    else if (kind === 3) events.push({ ...event, meter: -1 });
    else if (kind < 8) events.push(context.newKeylessEvent(organization));
    else events.push(event);
  }
  return events;
}

function sendBatch(
  context: ClientContext,
  organization: Organization,
  events: SentEvent[],
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const body = `{"events":[${events.map((event) => bodyOf(event, tokenOf(organization, event))).join(',')}]}`;
  return context.sender.send(
    {
      organization: organization.index,
      operation: 'batch',
      events,
      expect: [201, 207],
      // A token that nobody has must be looked up.
      ...(events.some(({ meter }) => meter === -1) && { asksPostgres: true as const }),
      message: {
        method: 'POST',
        path: '/api/v1/sdk/track/batch',
        headers: { 'x-api-key': organization.apiKey },
        body,
      },
    },
    signal,
  );
}

/** The events of a batch that have to be sent again. One without a key never is. */
function unsettledOf(
  context: ClientContext,
  organization: Organization,
  events: SentEvent[],
  answer: Answer | undefined,
): SentEvent[] {
  if (answer === undefined || answer.status >= 500) return events.filter(({ key }) => key !== undefined);
  if (answer.status !== 201 && answer.status !== 207) return [];
  const { data } = JSON.parse(answer.text) as { data: { status: number; id?: string }[] };
  return events.filter((event, index) => {
    const { status = 0, id } = data[index] ?? {};
    if (status === 201 && id !== undefined && context.random.chance(0.1)) context.remember({ organization, event, id });
    return status >= 500 && event.key !== undefined;
  });
}
