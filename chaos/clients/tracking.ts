// How clients report usage: once, again, twice at the same moment, under a key that is taken, and many at once.

import { setTimeout as delay } from 'node:timers/promises';
import type { SentEvent } from '../history.ts';
import type { Answer } from './http-client.ts';
import { trackRequest, type Accepted, type Cast } from './client-context.ts';
import { bodyOf, changePayload, tokenOf } from './events.ts';
import type { Organization } from './organizations.ts';

/** One event under a key of its own, until it is accepted. */
export async function trackKeyed(cast: Cast, signal: AbortSignal): Promise<void> {
  const organization = cast.pickOrganization();
  await track(cast, organization, cast.newEvent(organization), signal);
}

/** One event without a key; it is not sent again, since nobody could tell the second from the first. */
export async function trackKeyless(cast: Cast, signal: AbortSignal): Promise<void> {
  const organization = cast.pickOrganization();
  await track(cast, organization, cast.newKeylessEvent(organization), signal);
}

/** The same event to both APIs at the same moment: one of them accepts it. */
export async function trackTwiceAtOnce(cast: Cast, signal: AbortSignal): Promise<void> {
  const organization = cast.pickOrganization();
  const event = cast.newEvent(organization);
  await Promise.all([track(cast, organization, event, signal, 0), track(cast, organization, event, signal, 1)]);
}

/** Two events with one key at the same moment: one of them is refused. */
export async function trackContested(cast: Cast, signal: AbortSignal): Promise<void> {
  const organization = cast.pickOrganization();
  const event = cast.newEvent(organization);
  const rival = changePayload(cast.random, event);
  await Promise.all(
    [event, rival].map((each, index) =>
      cast.sender.send(
        { ...trackRequest(organization, each), expect: [201, 409, 422], api: index % cast.sender.apis },
        signal,
      ),
    ),
  );
}

/** An event that was accepted some time ago, once more. */
export async function trackAgain(cast: Cast, signal: AbortSignal): Promise<void> {
  const accepted = recallKeyed(cast);
  if (accepted === undefined) return trackKeyed(cast, signal);
  const { organization, event } = accepted;
  await cast.sender.send({ ...trackRequest(organization, event), expect: [201, 409, 422] }, signal);
}

/** Another event under the key of one that was accepted. */
export async function trackUnderTakenKey(cast: Cast, signal: AbortSignal): Promise<void> {
  const accepted = recallKeyed(cast);
  if (accepted === undefined) return trackKeyed(cast, signal);
  const { organization, event } = accepted;
  const changed = changePayload(cast.random, event);
  // 201 and 409 are right when Redis has lost the claim; the judge knows when.
  await cast.sender.send({ ...trackRequest(organization, changed), expect: [201, 409, 422] }, signal);
}

/** Many events in one request, good and bad ones, some of them twice. Those that could not be taken are sent again. */
export async function trackBatch(cast: Cast, signal: AbortSignal): Promise<void> {
  const organization = cast.pickOrganization();
  let events = makeBatch(cast, organization);
  for (let attempt = 1; events.length > 0; attempt += 1) {
    const answer = await sendBatch(cast, organization, events, signal);
    events = unsettledOf(cast, organization, events, answer);
    if (signal.aborted) return;
    if (events.length > 0) await delay(cast.random.int(100, Math.min(4_000, 250 * 2 ** attempt)));
  }
}

/** Sends an event until it is settled, and remembers one that is accepted. */
async function track(
  cast: Cast,
  organization: Organization,
  event: SentEvent,
  signal: AbortSignal,
  api?: number,
): Promise<void> {
  const request = trackRequest(organization, event, { keyInHeader: cast.random.chance(0.1) });
  const to = api === undefined ? {} : { api: api % cast.sender.apis };
  const answer = await cast.sender.send({ ...request, ...to }, signal);
  const id = answer?.status === 201 ? /^\{"id":"([^"]+)"/.exec(answer.text)?.[1] : undefined;
  if (id !== undefined) cast.remember({ organization, event, id });
}

function recallKeyed(cast: Cast): Accepted | undefined {
  const accepted = cast.recall();
  return accepted?.event.key === undefined ? undefined : accepted;
}

const BATCH_SIZES = [2, 3, 5, 8, 13, 20, 30, 50, 100, 200];

function makeBatch(cast: Cast, organization: Organization): SentEvent[] {
  const { random } = cast;
  const events: SentEvent[] = [];
  const size = random.pick(BATCH_SIZES);
  while (events.length < size) {
    const event = cast.newEvent(organization);
    const kind = random.int(0, 49);
    if (kind === 0) events.push(event, event);
    else if (kind === 1) events.push(event, changePayload(random, event));
    else if (kind === 2) events.push({ ...event, quantity: '0' });
    else if (kind === 3) events.push({ ...event, meter: -1 });
    else if (kind < 8) events.push(cast.newKeylessEvent(organization));
    else events.push(event);
  }
  return events;
}

function sendBatch(
  cast: Cast,
  organization: Organization,
  events: SentEvent[],
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const body = `{"events":[${events.map((event) => bodyOf(event, tokenOf(organization, event))).join(',')}]}`;
  return cast.sender.send(
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
  cast: Cast,
  organization: Organization,
  events: SentEvent[],
  answer: Answer | undefined,
): SentEvent[] {
  if (answer === undefined || answer.status >= 500) return events.filter(({ key }) => key !== undefined);
  if (answer.status !== 201 && answer.status !== 207) return [];
  const { data } = JSON.parse(answer.text) as { data: { status: number; id?: string }[] };
  return events.filter((event, index) => {
    const { status = 0, id } = data[index] ?? {};
    if (status === 201 && id !== undefined && cast.random.chance(0.1)) cast.remember({ organization, event, id });
    return status >= 500 && event.key !== undefined;
  });
}
