// How much one API key or token, or one address, may ask for in a minute. All of it is counted in Redis, for all processes together; while Redis is
// away each process counts for itself.

import type { QueueConnection } from '@weir/queue/connection';
import { buildLimit, type Limit } from '@weir/queue/limits';
import { Refusal } from '@weir/shared/errors';
import { digest } from '@weir/shared/hash';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressBlock } from '../connection/address-block.ts';
import { bearerTokenOf } from '../bearer-token.ts';
import { trafficOf } from './pressure.ts';

const WINDOW_SECONDS = 60;

/** Each is a number in a minute; 0 sets no limit. */
export interface RateLimitOptions {
  /** Events that are tracked with one API key. */
  eventsPerKey: number;
  /** Tracking requests of one address. */
  trackingPerAddress: number;
  /** Other requests with one API key, or one token of a service account. */
  requestsPerKey: number;
  /** Other requests of one address. */
  requestsPerAddress: number;
  /** Whether Redis is known not to answer. */
  isRedisAway: () => boolean;
}

export interface RateLimits {
  /**
   * Counts events against the limit of the API key that sends them; throws a Refusal when there are too many. Undefined,
   * with nothing to wait for, where there is no limit.
   */
  countEvents(reply: FastifyReply, apiKeyId: string, events: number): Promise<void> | undefined;
}

/** A limit under the name that its header fields give it. */
interface NamedLimit {
  name: string;
  what: string;
  quota: number;
  limit: Limit;
}

/** Sets the limits up. What is not limited costs nothing. */
export function useRateLimits(app: FastifyInstance, queue: QueueConnection, options: RateLimitOptions): RateLimits {
  const limit = (name: string, what: string, quota: number): NamedLimit | undefined => {
    if (quota === 0) return undefined;
    const keyPrefix = `${queue.keys.limits}:${name}`;
    const limit = { keyPrefix, points: quota, seconds: WINDOW_SECONDS, isRedisAway: options.isRedisAway };
    return { name, what, quota, limit: buildLimit(queue, limit) };
  };
  const events = limit('events-per-key', 'events with this API key', options.eventsPerKey);
  const tracking = limit('tracking-per-address', 'tracking requests from this address', options.trackingPerAddress);
  const perKey = limit('requests-per-key', 'requests with this credential', options.requestsPerKey);
  const perAddress = limit('requests-per-address', 'requests from this address', options.requestsPerAddress);

  if (tracking ?? perKey ?? perAddress) {
    app.addHook('onRequest', async (request, reply) => {
      const traffic = trafficOf(request);
      if (traffic === 'tracking') await count(tracking, addressBlock(request.ip), 1, reply);
      if (traffic === 'other') {
        await count(perAddress, addressBlock(request.ip), 1, reply);
        await count(perKey, credentialOf(request), 1, reply);
      }
    });
  }
  return {
    countEvents: (reply, apiKeyId, number) =>
      events === undefined ? undefined : count(events, apiKeyId, number, reply),
  };
}

/** What a browser or a proxy may send to everybody, such as a password in front of all of Weir, is no credential. */
const SERVICE_TOKEN = /^org_svc_/;

/** The API key or the service account's token of a request, valid or not, under a name that tells nothing about it. */
function credentialOf(request: FastifyRequest): string | undefined {
  const key = request.headers['x-api-key'];
  // The key first: what opens to keys alone looks at no token, of which there could be another one beside it each time. A key beside
  // a token is refused by all that opens to tokens.
  if (key !== undefined) return digest(String(key));
  const token = bearerTokenOf(request);
  return token !== undefined && SERVICE_TOKEN.test(token) ? digest(token) : undefined;
}

/**
 * The header fields are those of draft-ietf-httpapi-ratelimit-headers-10, "RateLimit header fields for HTTP": lists, with an item for each
 * limit that the request was counted against.
 */
async function count(
  limit: NamedLimit | undefined,
  who: string | undefined,
  points: number,
  reply: FastifyReply,
): Promise<void> {
  if (limit === undefined || who === undefined) return;
  const { name, what, quota } = limit;
  const { isOver, consumedPoints, remainingPoints, msToReset } = await limit.limit.consume(who, points);
  // One point more than all makes no difference, and those who are over ask often.
  if (isOver && points > 1) await limit.limit.giveBack(who, points);
  // A batch that does not fit takes nothing away from those that do.
  const remaining = Math.max(0, isOver ? quota - consumedPoints + points : remainingPoints);
  const seconds = Math.max(1, Math.ceil(msToReset / 1_000));
  appendTo(reply, 'ratelimit-policy', `"${name}";q=${quota};w=${WINDOW_SECONDS}`);
  appendTo(reply, 'ratelimit', `"${name}";r=${remaining};t=${seconds}`);
  if (!isOver) return;
  const fewer = remaining > 0 ? `send at most ${remaining} now, or ` : '';
  const advice = points > quota ? `send at most ${quota} in one request` : `${fewer}try again in ${seconds} s`;
  throw new Refusal(
    'rate_limited',
    `There were more than ${quota} ${what} in a minute, and nothing was kept: ${advice}.`,
    {
      retryAfterSeconds: seconds,
    },
  );
}

function appendTo(reply: FastifyReply, field: string, item: string): void {
  const before = reply.getHeader(field);
  void reply.header(field, typeof before === 'string' ? `${before}, ${item}` : item);
}
