/** Redis could not be reached when a connection was opened. */
export class RedisUnreachable extends Error {}

/** Whether an error says that Redis cannot be reached, or did not answer in time. */
export function isRedisAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof RedisUnreachable ||
    error.name === 'MaxRetriesPerRequestError' ||
    /^(Stream isn't writeable|Connection is closed|Command timed out|(LOADING|MASTERDOWN|CLUSTERDOWN)\b)/.test(
      error.message,
    )
  );
}
