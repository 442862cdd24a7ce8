import { isUnavailable, type Database } from '@weir/db/database';
import { findMetersByToken, type MeterOfToken } from '@weir/db/events';
import { Refusal } from '@weir/shared/errors';
import type { FastifyBaseLogger } from 'fastify';
import { LookupCache } from '../lookup-cache.ts';

/** Meters by token. An archived meter is closed within 5 seconds, by every process. About 25 MB at most. */
export type MeterCache = LookupCache<MeterOfToken>;

export function buildMeterCache(database: Database, log: FastifyBaseLogger): MeterCache {
  return new LookupCache({
    what: 'meter',
    find: (tokens) => findMeters(database, tokens),
    freshMs: 5_000,
    usableMs: 3_600_000,
    countMax: 100_000,
    log,
  });
}

async function findMeters(database: Database, tokens: readonly string[]): Promise<Map<string, MeterOfToken>> {
  try {
    return await findMetersByToken(database, tokens);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const detail = 'The meter cannot be looked up now, and nothing was kept: send the event again in a moment.';
    throw new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 2 });
  }
}

/** A meter that was found, if it is the organization's; throws a Refusal otherwise. */
export function ofOrganization(meter: MeterOfToken | undefined, organizationId: string): MeterOfToken {
  if (meter?.organizationId === organizationId) return meter;
  throw new Refusal(
    'meter_not_found',
    'Your organization has no meter with this meter_token: copy it from GET /api/v1/meters.',
  );
}
