// Admins who take events out of the count, or have another quantity count in their place.

import { adminMessage, type ClientContext } from './client-context.ts';

/** Corrects an event that was accepted earlier, which nobody else corrects. It may still be in the queue, and is left then. */
export async function correctEvent(context: ClientContext, signal: AbortSignal): Promise<void> {
  const accepted = context.recallOnce();
  if (accepted === undefined) return;
  const { organization, event, id } = accepted;
  // An event without a key is known by its metadata, which an amended one would have as well.
  const isAmended = event.key !== undefined && context.random.chance(0.5);
  const quantity = isAmended ? `${context.random.int(1, 9_999)}.${context.random.int(1, 9)}` : undefined;
  const body = { reason: 'chaos', ...(quantity !== undefined && { quantity }) };
  await context.sender.send(
    {
      organization: organization.index,
      operation: 'correct',
      subject: id,
      ...(quantity !== undefined && { events: [{ ...event, quantity }] }),
      // Queued, or done by an attempt that was not answered; or lost with Redis.
      expect: [201, 409, 404],
      isRetried: true,
      message: adminMessage(organization, 'POST', `/events/${id}/${isAmended ? 'amend' : 'void'}`, body),
    },
    signal,
  );
}
