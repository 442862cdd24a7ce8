import { isUnavailable, type Database } from '@weir/db/database';
import { findMetersByFeature, findMetersByToken, type TrackedMeter } from '@weir/db/events';
import { Refusal } from '@weir/shared/errors';
import type { TrackBody } from '@weir/shared/event';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyBaseLogger } from 'fastify';
import { LookupCache } from '../lookup-cache.ts';

/**
 * Meters by what events name them by. An archived meter is closed within 5 seconds, by every process, and a lookup_key that was
 * given to another feature leads there. About 25 MB at most.
 */
export type MeterCache = LookupCache<TrackedMeter>;

type MeterName = Pick<TrackBody, 'meter_token' | 'lookup_key'>;

/** Parts the organization from the lookup_key in a name. No token has one, since it cannot be sent (`isStorable`). */
const SEPARATOR = '\0';

/** Returns what the cache knows the meter of an event by: its token, else the organization and the lookup_key. */
export function nameOfMeter({ meter_token, lookup_key = '' }: MeterName, organizationId: string): string {
  return meter_token ?? organizationId + SEPARATOR + lookup_key;
}

export function buildMeterCache(database: Database, log: FastifyBaseLogger): MeterCache {
  return new LookupCache({
    what: 'meter',
    find: (names) => findMeters(database, names),
    freshMs: LIMITS.formerKeySeconds * 1_000,
    usableMs: 3_600_000,
    countMax: 100_000,
    log,
  });
}

async function findMeters(database: Database, names: readonly string[]): Promise<ReadonlyMap<string, TrackedMeter>> {
  const ofFeatures = names.filter((name) => name.includes(SEPARATOR));
  try {
    if (ofFeatures.length === 0) return await findMetersByToken(database, names);
    const tokens = names.filter((name) => !name.includes(SEPARATOR));
    const byToken = tokens.length === 0 ? [] : await findMetersByToken(database, tokens);
    const byFeature = await findMetersByFeature(database, ofFeatures.map(featureOf));
    const found = ofFeatures.flatMap((name, index): [string, TrackedMeter][] => {
      const meter = byFeature[index];
      return meter === undefined ? [] : [[name, meter]];
    });
    return new Map([...byToken, ...found]);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const detail = 'The meter cannot be looked up now, and nothing was kept: send the event again in a moment.';
    throw new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 2 }, error);
  }
}

function featureOf(name: string): { organizationId: string; lookupKey: string } {
  const at = name.indexOf(SEPARATOR);
  return { organizationId: name.slice(0, at), lookupKey: name.slice(at + SEPARATOR.length) };
}

/** The meter that was found for an event, if it is the organization's; throws a Refusal otherwise. */
export function getMeter(
  meter: TrackedMeter | undefined,
  { meter_token, idempotency_key }: Pick<TrackBody, 'meter_token' | 'idempotency_key'>,
  organizationId: string,
): TrackedMeter {
  if (meter?.organizationId === organizationId) return meter;
  // Which meter it was is not known any more, so nobody can tell whether the event that holds the key is the same.
  const retried = idempotency_key === undefined ? '' : IF_RETRIED;
  throw new Refusal('meter_not_found', (meter_token === undefined ? NO_FEATURE : NO_METER) + retried);
}

const NO_FEATURE = 'Your organization has no feature of type meter with this lookup_key: see GET /api/v1/features.';
const NO_METER = 'Your organization has no meter with this meter_token: copy it from GET /api/v1/meters.';

/** For who sends something with an idempotency key that may have been accepted before. */
export const IF_RETRIED =
  ' If you sent this event before, it may be accepted: look first for its idempotency_key with GET /api/v1/events, which lists it as soon as it is recorded.';
