// A change of a subscription is a step on a row that is locked and was brought up to date, so that nothing is cut or changed at a boundary
// that nobody has passed yet.

import { OPENED_BYTES_MAX, Room } from '@weir/billing/chunk-weight';
import type { NewFeedEvent } from '@weir/billing/feed-events';
import { appendFeed } from '@weir/db/billing/feed';
import { bringUpToDate } from '@weir/db/billing/subscriptions/open-periods';
import {
  findSubscription,
  isBehind,
  lockSubscription,
  type Subscription,
  type SubscriptionRow,
} from '@weir/db/billing/subscriptions/subscriptions';
import type { Queries } from '@weir/db/database';
import { holdRow } from '@weir/db/hold-row';
import { Refusal } from '@weir/shared/errors';
import { credentialOf, type Caller } from '../http/load/caller.ts';
import { found } from '../http/problem.ts';
import type { Versioned } from '../http/writing/versions.ts';
import { BEHIND, ENDED } from './subscription-refusals.ts';

export const subscriptions: Versioned<Subscription> = {
  read: async (...which) => found(await findSubscription(...which)),
  hold: holdRow('subscriptions'),
};

/** What a change writes, and what the feed is to say of it. */
export type Change = (transaction: Queries, row: SubscriptionRow, actor: string) => Promise<NewFeedEvent[]>;

/** Makes a change, tells the feed, and returns the subscription as it is then. Throws a Refusal where it cannot be. */
export async function changeSubscription(
  transaction: Queries,
  caller: Caller,
  id: string,
  make: Change,
): Promise<Subscription> {
  const { subscription, opened, events } = await changeUntold(transaction, caller, id, make);
  await appendFeed(transaction, caller.organizationId, [...opened, ...events]);
  return subscription;
}

/**
 * The same, but for the feed: whoever holds that holds all of the organization's billing up. `opened` is what happened at boundaries that
 * were past, `events` what the change did.
 */
export async function changeUntold(
  transaction: Queries,
  caller: Caller,
  id: string,
  make: Change,
): Promise<{ subscription: Subscription; opened: NewFeedEvent[]; events: NewFeedEvent[] }> {
  const { organizationId } = caller;
  found(await lockSubscription(transaction, organizationId, id));
  const opened = await bringUpToDate(transaction, organizationId, [id], new Room(OPENED_BYTES_MAX));
  const row = await lockSubscription(transaction, organizationId, id);
  if (row === undefined) throw new Error('a subscription that is locked is gone');
  if (row.status === 'CANCELED') throw new Refusal('subscription_ended', ENDED);
  if (await isBehind(transaction, row)) throw new Refusal('subscription_behind', BEHIND);
  const events = await make(transaction, row, credentialOf(caller));
  const subscription = await findSubscription(transaction, organizationId, id);
  if (subscription === undefined) throw new Error('a subscription that is locked is gone');
  return { subscription, opened, events };
}
