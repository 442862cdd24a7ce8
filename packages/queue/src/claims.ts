// Claims of events that did not come through the admit script, since Postgres recorded them directly.

import type { KeyClaim } from '@weir/shared/event';
import type { Redis } from 'ioredis';
import type { Candidate } from './admit.ts';
import { claimText, readClaim } from './claim-text.ts';
import type { QueueConnection } from './connection.ts';
import { stagedEvents } from './staged.ts';

/**
 * Writes the claims of events that hold their keys in Postgres, also where Redis has another one: that event waits, and is going to
 * be their duplicate. Where two copies are asked for, a replica has them too. Throws what Redis says; some may be written then, and all
 * can be written again.
 */
export async function writeClaims(
  { redis, keys, secondCopy }: QueueConnection,
  epoch: string,
  claims: readonly KeyClaim[],
  seconds: number,
): Promise<void> {
  if (seconds === 0 || claims.length === 0) return;
  const write = (on: Redis) => {
    const pipeline = on.pipeline();
    for (const { eventId, organizationId, idempotencyKey, fingerprint } of claims)
      pipeline.set(keys.claim(epoch, organizationId, idempotencyKey), claimText(eventId, fingerprint), 'EX', seconds);
    return pipeline.exec();
  };
  const answers = await (secondCopy === undefined ? write(redis) : secondCopy.written(write));
  const failed = answers?.find(([error]) => error !== null)?.[0];
  if (failed) throw failed;
}

/** The event that has a key already; `revoked` where the sender is not told of it, since its API key is marked as deleted. */
export type Holder = { id: string; isSamePayload: boolean } | 'revoked';

/**
 * Whose claims the keys of these candidates have, by the candidates' ids; only those that are of another event. It is the claims of the
 * present epoch that are looked at, also where a candidate was read in another one, or while nobody could say which it is. Where two copies
 * are asked for, a replica has them too. Throws what Redis says.
 */
export async function findClaims(
  { redis, keys, secondCopy }: QueueConnection,
  candidates: readonly Candidate[],
): Promise<Map<string, Holder>> {
  const claimed = candidates.filter(({ claim }) => claim !== null);
  if (claimed.length === 0) return new Map();
  const apiKeys = [...new Set(claimed.flatMap(({ sender }) => sender?.apiKeyId ?? []))];
  const events = stagedEvents(claimed.map(({ event }) => event));
  const epoch = await redis.get(keys.epoch);
  if (epoch === null) return new Map();
  const names = events.map((event) => keys.claim(epoch, event.organization_id, event.idempotency_key ?? ''));
  const ask = (on: Redis) => on.mget(keys.epoch, ...names, ...apiKeys.map((apiKey) => keys.revoked(apiKey)));
  const [epochThen, ...values] = await (secondCopy === undefined ? ask(redis) : secondCopy.written(ask));
  // A renewal meanwhile has made them void.
  if (epochThen !== epoch) return new Map();
  const revoked = new Set(apiKeys.filter((_, index) => values[claimed.length + index] !== null));
  const held = new Map<string, Holder>();
  claimed.forEach(({ id, sender, claim }, index) => {
    const value = values[index];
    if (!value || sender === null) return;
    const holder = readClaim(value, claim?.fingerprint);
    if (holder.id !== id) held.set(id, revoked.has(sender.apiKeyId) ? 'revoked' : holder);
  });
  return held;
}
