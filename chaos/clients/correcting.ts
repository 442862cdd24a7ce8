// Admins who take events out of the count, or have others count in their place.

import type { SentEvent } from '../history.ts';
import type { Random } from '../random.ts';
import { adminMessage, type Accepted, type ClientContext } from './client-context.ts';
import { makeEventOf, metadataOf } from './made-events.ts';

/** Corrects an event that was accepted earlier, which nobody else corrects. It may still be in the queue, and is left then. */
export async function correctEvent(context: ClientContext, signal: AbortSignal): Promise<void> {
  const accepted = context.recallOnce();
  if (accepted === undefined) return;
  const { organization, event, id } = accepted;
  // An event without a key is known by its metadata, which an amended one would have as well.
  const isAmended = event.key !== undefined && context.random.chance(0.5);
  const amended = isAmended ? amend(context.random, accepted) : undefined;
  await context.sender.send(
    {
      organization: organization.index,
      operation: 'correct',
      subject: id,
      ...(amended !== undefined && { events: [amended.event] }),
      // Queued, or done by an attempt that was not answered; or lost with Redis.
      expect: [201, 409, 404],
      isRetried: true,
      message: adminMessage(organization, 'POST', `/events/${id}/${isAmended ? 'amend' : 'void'}`, {
        reason: 'chaos',
        ...amended?.body,
      }),
    },
    signal,
  );
}

/**
 * Another quantity, time or metadata, or all of them, as another event of the meter has them: so it may come into another hour, day or
 * period, which may be closed, and to another region or user.
 */
function amend(random: Random, { organization, event }: Accepted): { event: SentEvent; body: object } {
  const other = makeEventOf(random, organization, event.meter);
  const what = random.pick(['quantity', 'timestamp', 'metadata', 'all'] as const);
  const isNew = (part: typeof what) => what === part || what === 'all';
  const { userId, region, ...rest } = event;
  // A meter that counts users takes no event without one.
  const known = isNew('metadata') ? { userId: other.userId ?? userId, region: other.region } : { userId, region };
  const changed: SentEvent = {
    ...rest,
    ...(isNew('quantity') && { quantity: other.quantity }),
    ...(isNew('timestamp') && { timestamp: other.timestamp ?? new Date().toISOString() }),
    ...(known.userId !== undefined && { userId: known.userId }),
    ...(known.region !== undefined && { region: known.region }),
  };
  return {
    event: changed,
    body: {
      ...(isNew('quantity') && { quantity: changed.quantity }),
      ...(isNew('timestamp') && { timestamp: changed.timestamp }),
      ...(isNew('metadata') && { metadata: metadataOf(changed) ?? null }),
    },
  };
}
