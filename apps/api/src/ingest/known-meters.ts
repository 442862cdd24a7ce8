import { findMeterByToken } from '@weir/db/events';
import type { Database } from '@weir/db/database';
import { isUnavailable } from '@weir/db/database';
import { Refusal } from '@weir/shared/errors';
import type { MeterStatus } from '@weir/shared/meter';
import type { FastifyBaseLogger } from 'fastify';

/** What the door has to know of a meter. */
export interface KnownMeter {
  id: string;
  organizationId: string;
  status: MeterStatus;
}

/** After this a meter is looked up again, beside the request that noticed: an archived meter is closed within seconds. */
const FRESH_MS = 5_000;

/** About 20 MB; beyond it the meters that were looked up first are forgotten first. */
const METERS_MAX = 100_000;

/**
 * Meters by token, kept in memory so that tracking asks Postgres only about tokens it has not seen. A token that is not
 * known is always asked for, so a new meter works at once. While Postgres is away, what is known goes on being used.
 */
export class KnownMeters {
  readonly #database: Database;
  readonly #log: FastifyBaseLogger;
  readonly #meters = new Map<string, { meter: KnownMeter; checkedAt: number }>();
  readonly #underWay = new Map<string, Promise<KnownMeter | undefined>>();

  constructor(database: Database, log: FastifyBaseLogger) {
    this.#database = database;
    this.#log = log;
  }

  /** The organization's meter with this token, at once where it is known. Throws a Refusal when there is none. */
  get(organizationId: string, token: string): KnownMeter | Promise<KnownMeter> {
    const known = this.#meters.get(token);
    if (known === undefined) return this.#lookUp(token).then((meter) => ofOrganization(meter, organizationId));
    if (Date.now() - known.checkedAt > FRESH_MS) {
      known.checkedAt = Date.now();
      this.#lookUp(token).catch((error: unknown) =>
        this.#log.warn({ err: error }, 'a known meter could not be looked up again'),
      );
    }
    return ofOrganization(known.meter, organizationId);
  }

  #lookUp(token: string): Promise<KnownMeter | undefined> {
    const underWay = this.#underWay.get(token);
    if (underWay !== undefined) return underWay;
    const lookUp = this.#find(token).finally(() => this.#underWay.delete(token));
    this.#underWay.set(token, lookUp);
    return lookUp;
  }

  async #find(token: string): Promise<KnownMeter | undefined> {
    let meter: KnownMeter | undefined;
    try {
      meter = await findMeterByToken(this.#database, token);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const detail = 'The meter cannot be looked up now, and nothing was kept: send the event again in a moment.';
      throw new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 2 });
    }
    this.#meters.delete(token);
    if (meter === undefined) return undefined;
    for (const oldest of this.#meters.keys()) {
      if (this.#meters.size < METERS_MAX) break;
      this.#meters.delete(oldest);
    }
    this.#meters.set(token, { meter, checkedAt: Date.now() });
    return meter;
  }
}

function ofOrganization(meter: KnownMeter | undefined, organizationId: string): KnownMeter {
  if (meter?.organizationId === organizationId) return meter;
  throw new Refusal(
    'meter_not_found',
    'Your organization has no meter with this meter_token: copy it from GET /api/v1/meters.',
  );
}
