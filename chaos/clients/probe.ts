import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Random } from '../random.ts';
import { readMessage, trackRequest } from './client-context.ts';
import { makeEvent } from './made-events.ts';
import type { Organization } from './made-organizations.ts';
import type { Sender } from './sender.ts';

const LOOK_AGAIN_MS = 50;

/**
 * Sends one new event, to whichever API takes it, and resolves when its receipt says what became of it: the way from an
 * API to Postgres is whole. Rejects with the signal's reason.
 */
export async function probe(
  sender: Sender,
  organizations: readonly Organization[],
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const organization = random.pick(organizations);
  const event = makeEvent(random, organization, { key: `probe-${randomUUID()}` });
  const tracked = await sender.send({ ...trackRequest(organization, event), isImpatient: true }, signal);
  const id = tracked === undefined ? undefined : (JSON.parse(tracked.text) as { id?: string }).id;
  for (;;) {
    signal.throwIfAborted();
    const read = await sender.send(
      {
        organization: organization.index,
        operation: 'receipt',
        ...(id !== undefined && { subject: id }),
        expect: [200],
        message: readMessage(organization, `/events/${id}`),
      },
      signal,
    );
    if (read?.status === 200 && (JSON.parse(read.text) as { status: string }).status !== 'queued') return;
    await delay(LOOK_AGAIN_MS);
  }
}
