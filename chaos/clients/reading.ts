// What is read while all else goes on: receipts, usage, lists, and what belongs to somebody else.

import { adminMessage, readMessage, type ClientContext } from './client-context.ts';
import { metadataOf } from './made-events.ts';

/** All the usage of a run lies in this window, whenever it is asked for, so that one reading can be compared with another. */
export const USAGE_WINDOW = 'start_date=2020-01-01T00:00:00Z&end_date=2035-01-01T00:00:00Z&group_by=month';

export async function readReceipt(context: ClientContext, signal: AbortSignal): Promise<void> {
  const accepted = context.recall();
  if (accepted === undefined) return;
  const { organization, id } = accepted;
  await context.sender.send(
    {
      organization: organization.index,
      operation: 'receipt',
      subject: id,
      expect: [200],
      message: readMessage(organization, `/events/${id}`),
    },
    signal,
  );
}

export async function readUsage(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  const index = context.random.int(0, organization.meters.length - 1);
  const meter = organization.meters[index];
  if (meter === undefined) return;
  const path = context.random.chance(0.5)
    ? `/meters/${meter.id}/usage?${USAGE_WINDOW}`
    : `/usage?meter_token=${meter.token}&${USAGE_WINDOW}`;
  await context.sender.send(
    {
      organization: organization.index,
      operation: 'usage',
      subject: String(index),
      expect: [200],
      message: readMessage(organization, path),
      excerpt: ({ total_usage, event_count }) => ({ total_usage, event_count }),
    },
    signal,
  );
}

export async function listEvents(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  const other = context.pickOther(organization);
  const filters = ['', '&status=rejected', `&meter_id=${context.random.pick(organization.meters).id}`];
  // Events of a meter that is not theirs: an empty list.
  filters.push(`&meter_id=${context.random.pick(other.meters).id}`);
  await context.sender.send(
    {
      organization: organization.index,
      operation: 'list',
      expect: [200],
      message: readMessage(organization, `/events?limit=20${context.random.pick(filters)}`),
      excerpt: ({ data }) => (data as { id: string }[]).map(({ id }) => id),
    },
    signal,
  );
}

/** Reads what another organization has, by ids that are right: it must look as if there were none. */
export async function readAcross(context: ClientContext, signal: AbortSignal): Promise<void> {
  const accepted = context.recall();
  if (accepted === undefined) return;
  const owner = accepted.organization;
  const reader = context.pickOther(owner);
  const [meter, customer] = [context.random.pick(owner.meters), context.random.pick(owner.customers)];
  const ownToken = context.random.pick(reader.meters).token;
  const path = context.random.pick([
    `/events/${accepted.id}`,
    `/meters/${meter.id}`,
    `/meters/${meter.id}/usage?${USAGE_WINDOW}`,
    `/usage?meter_token=${meter.token}&${USAGE_WINDOW}`,
    `/usage?meter_token=${ownToken}&customer_id=${customer.id}`,
    `/customers/${customer.id}`,
    `/customers/${customer.id}/usage`,
  ]);
  await context.sender.send(
    {
      organization: reader.index,
      operation: 'cross-read',
      subject: path,
      expect: [404],
      message: readMessage(reader, path),
    },
    signal,
  );
}

/** Sends an event again that its meter did not take, most often with what was missing. */
export async function replayRejected(context: ClientContext, signal: AbortSignal): Promise<void> {
  const rejected = context.recallRejected();
  if (rejected === undefined) return;
  const { organization, event, id } = rejected;
  const userId = context.random.chance(0.8) ? `replayed-${context.random.int(1, 50)}` : undefined;
  const corrected = userId === undefined ? event : { ...event, userId };
  await context.sender.send(
    {
      organization: organization.index,
      operation: 'replay',
      subject: id,
      events: [corrected],
      // It may still be in the queue, or the attempt before may have done it.
      expect: [202, 409],
      isRetried: true,
      message: adminMessage(
        organization,
        'POST',
        `/events/${id}/replay`,
        userId === undefined ? undefined : { metadata: metadataOf(corrected) },
      ),
    },
    signal,
  );
}
