import { errorCodeOf } from '@weir/shared/errors';

/** There is no connection to Redis. */
export class RedisUnreachable extends Error {}

/** Redis did what it was asked, and no replica said in time that it has it too: it may be lost with the primary. */
export class NotCopied extends Error {
  constructor(msMax: number, options: ErrorOptions) {
    super(`no replica of Redis acknowledged it within ${msMax} ms`, options);
  }
}

const ofRedis = new WeakSet<Error>();

/**
 * Returns an error that was told beside the answer to a command. One that comes from the network is known from then on as one of
 * a connection to Redis, which it does not say itself.
 */
export function noteOfRedis<E extends Error>(error: E): E {
  if (errorCodeOf(error) !== undefined) ofRedis.add(error);
  return error;
}

// Error replies of the first write of a script, or before it: nothing was written then. (Whether memory suffices is
// asked once for a whole script, so OOM never comes in its middle.)
const REFUSED = /^(OOM|LOADING|BUSY|MISCONF|READONLY|MASTERDOWN|NOREPLICAS|NOAUTH|NOPERM|CLUSTERDOWN)\b/;

/** Whether an error says that Redis answers, and takes no writes: nothing was written. */
export function isRefusedByRedis(error: unknown): boolean {
  return REFUSED.test(error instanceof Error ? error.message : String(error));
}

/** Whether an error says that this Redis is a replica. It may have been the primary before, and live on as the replica of another one. */
export function isOfReplica(error: Error): boolean {
  return error.message.startsWith('READONLY ');
}

/** Whether an error says that Redis cannot be reached, is no primary, or that it, or its replica, did not answer in time. */
export function isRedisAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof RedisUnreachable ||
    error instanceof NotCopied ||
    ofRedis.has(error) ||
    error.name === 'MaxRetriesPerRequestError' ||
    /^(Stream isn't writeable|Connection is closed|Command timed out|Socket timeout|(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|WRONGPASS|NOAUTH)\b)/.test(
      error.message,
    )
  );
}
