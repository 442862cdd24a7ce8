import type { Database } from '@weir/db/database';
import { findAggregation } from '@weir/db/events';
import { organizationExists } from '@weir/db/organizations';
import type { AggregationType } from '@weir/shared/meter';

/** Far more meters than one worker sees in a day; beyond it those that were looked up first are forgotten first. */
const METERS_MAX = 100_000;

/** How meters count, kept in memory: it never changes while a meter exists. Meters that are not found are asked for again. */
export class Aggregations {
  readonly #database: Database;
  readonly #known = new Map<string, AggregationType>();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * At once where it is known; else a promise, which rejects while Postgres is away. Undefined when the organization has no
   * such meter.
   */
  find(organizationId: string, meterId: string): AggregationType | Promise<AggregationType | undefined> {
    const key = organizationId + meterId;
    return this.#known.get(key) ?? this.#lookUp(key, organizationId, meterId);
  }

  /** Whether the database has the organization at all, asked anew each time. */
  hasOrganization(organizationId: string): Promise<boolean> {
    return organizationExists(this.#database.kysely, organizationId);
  }

  async #lookUp(key: string, organizationId: string, meterId: string): Promise<AggregationType | undefined> {
    const found = await findAggregation(this.#database, organizationId, meterId);
    if (found === undefined) return undefined;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < METERS_MAX) break;
      this.#known.delete(oldest);
    }
    this.#known.set(key, found);
    return found;
  }
}
