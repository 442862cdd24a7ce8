// Claims of events that did not come through the admit script, since Postgres recorded them directly.

import type { KeyClaim } from '@weir/shared/event';
import type { Redis } from 'ioredis';
import type { Candidate } from './admit.ts';
import { claimText, readClaim } from './claim-text.ts';
import type { QueueConnection } from './connection.ts';

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
 * Whose claims the keys of these candidates have, by the candidates' ids; only those that are of another event. Claims of another epoch
 * count for nothing, also where a candidate was read in that one. Where two copies are asked for, a replica has them too. Throws what
 * Redis says.
 */
export async function findClaims(
  { redis, keys, secondCopy }: QueueConnection,
  candidates: readonly Candidate[],
): Promise<Map<string, Holder>> {
  const claims = candidates.flatMap(({ id, sender, claim }) => (claim === null ? [] : [{ id, sender, ...claim }]));
  if (claims.length === 0) return new Map();
  const apiKeys = [...new Set(claims.flatMap(({ sender }) => sender?.apiKeyId ?? []))];
  const ask = (on: Redis) =>
    on.mget(keys.epoch, ...claims.map(({ key }) => key), ...apiKeys.map((apiKey) => keys.revoked(apiKey)));
  const [epochNow, ...values] = await (secondCopy === undefined ? ask(redis) : secondCopy.written(ask));
  const revoked = new Set(apiKeys.filter((_, index) => values[claims.length + index] !== null));
  const held = new Map<string, Holder>();
  claims.forEach(({ id, sender, fingerprint }, index) => {
    const value = values[index];
    if (!value || sender === null || sender.epoch !== epochNow) return;
    const holder = readClaim(value, fingerprint);
    if (holder.id !== id) held.set(id, revoked.has(sender.apiKeyId) ? 'revoked' : holder);
  });
  return held;
}
