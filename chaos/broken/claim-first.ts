// What Weir does not do: the claims are written first, and the events are staged in a second step. A retry of an event whose
// second step never came is refused as a duplicate of something that does not exist. The judge has to find that. Where Redis fails in
// between, the API records the flush directly, so only its own end loses the second step. A pause between the two widens the time in which
// that can come; it makes nothing wrong by itself.

import type { Admission, Candidate } from '@weir/queue/admit';
import type { QueueConnection } from '@weir/queue/connection';
import { STAGED_SEPARATOR } from '@weir/queue/staged';
import { Refusal } from '@weir/shared/errors';
import { setTimeout as delay } from 'node:timers/promises';

const UUID_LENGTH = 36;

const BETWEEN_MS = 100;

export async function admit(
  queue: QueueConnection,
  batch: string,
  candidates: readonly Candidate[],
  claimSeconds: number,
): Promise<Admission[]> {
  try {
    const admissions = await claimAll(queue, candidates, claimSeconds);
    const staged = candidates.filter((_, index) => admissions[index]?.outcome === 'staged');
    if (staged.length > 0) {
      await delay(BETWEEN_MS);
      const { redis, keys } = queue;
      const flush = staged.map(({ event }) => event).join(STAGED_SEPARATOR);
      await redis.multi().rpush(keys.batch(batch), flush).zadd(keys.staged, Date.now(), batch).exec();
    }
    return admissions;
  } catch (cause) {
    const refusal = new Refusal('unavailable', 'The queue did not answer in time: send the event again.', {
      outcome: 'unknown',
      retryAfterSeconds: 1,
    });
    refusal.cause = cause;
    throw refusal;
  }
}

function claimAll(
  { redis, keys }: QueueConnection,
  candidates: readonly Candidate[],
  claimSeconds: number,
): Promise<Admission[]> {
  return Promise.all(
    candidates.map(async ({ id, sender, claim }): Promise<Admission> => {
      const [isRevoked, holder] = await Promise.all([
        sender === null ? 0 : redis.exists(keys.revoked(sender.apiKeyId)),
        claim === null ? null : redis.set(claim.key, id + claim.fingerprint, 'EX', claimSeconds, 'NX', 'GET'),
      ]);
      if (isRevoked === 1) return { outcome: 'revoked' };
      if (holder === null) return { outcome: 'staged' };
      const isSamePayload = holder.slice(UUID_LENGTH) === claim?.fingerprint;
      return { outcome: 'held', id: holder.slice(0, UUID_LENGTH), isSamePayload };
    }),
  );
}
