// Reads all of Postgres that the judge asks about, in pages of a cursor: a run records more rows than one answer should have.

import pg from 'pg';
import type { OrganizationLine, SentEvent } from '../history.ts';
import type { HostileCount } from './hostile-checks.ts';
import { emptyState, type StoredEvent, type StoredState } from './stored-state.ts';

const PAGE = 20_000;

const EVENTS = `SELECT id, organization_id, meter_id, customer_external_id, trim_scale(quantity)::text,
  to_char("timestamp", 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), idempotency_key, metadata::text FROM events`;

type Row = (string | null)[];

/** What became of a few events. */
export interface FoundEvents {
  recorded: Map<string, StoredEvent>;
  rejected: ReadonlySet<string>;
  /** Id → the event that it is a duplicate of. */
  duplicates: ReadonlyMap<string, string>;
}

export class StateReader {
  readonly #client: pg.Client;
  readonly #organizations: Map<string, number>;
  readonly #meters: Map<string, number>;
  readonly #hostile: readonly string[];

  private constructor(client: pg.Client, organizations: readonly OrganizationLine[], hostile: readonly string[]) {
    this.#client = client;
    this.#hostile = hostile;
    this.#organizations = new Map(organizations.map(({ id, index }) => [id, index]));
    this.#meters = new Map(
      organizations.flatMap(({ meters }) => meters.map(({ id }, index): [string, number] => [id, index])),
    );
  }

  /** Rows of `hostile` organizations are only counted. */
  static async open(
    databaseUrl: string,
    organizations: readonly OrganizationLine[],
    hostile: readonly string[],
  ): Promise<StateReader> {
    const client = new pg.Client({ connectionString: databaseUrl, options: '-c timezone=UTC' });
    await client.connect();
    return new StateReader(client, organizations, hostile);
  }

  /** Everything but what belongs to hostile organizations. */
  async readAll(): Promise<StoredState> {
    const state = emptyState();
    const hostile = `ANY (${this.#client.escapeLiteral(`{${this.#hostile.join(',')}}`)}::uuid[])`;
    const where = `WHERE NOT organization_id = ${hostile}`;
    const amended = new Set<string>();
    await this.#each(`SELECT event_id, id, amended_by FROM corrections ${where}`, ([event, id, amendedBy = null]) => {
      state.corrections.set(event ?? '', { id: id ?? '', amendedBy });
      if (amendedBy !== null) amended.add(amendedBy);
    });
    await this.#each(`${EVENTS} ${where}`, (row) => {
      const event = this.#eventOf(row);
      (amended.has(event.id) ? state.amended : state.events).push(event);
    });
    await this.#each(`SELECT event FROM rejected_events ${where}`, ([event]) =>
      state.rejected.push(this.#stagedEvent(event ?? '')),
    );
    await this.#each(`SELECT organization_id, id, duplicate_of FROM duplicate_events ${where}`, ([owner, id, of]) =>
      state.duplicates.push({ id: id ?? '', organization: this.#organization(owner), duplicateOf: of ?? '' }),
    );
    // Keys have no organization of their own. One that belongs to no event at all is among them.
    await this.#each(
      `SELECT encode(uuid_send(key_hash), 'hex'), event_id FROM idempotency_keys WHERE NOT EXISTS
       (SELECT FROM events WHERE events.id = idempotency_keys.event_id AND organization_id = ${hostile})`,
      ([hash, event]) => state.keys.set(hash ?? '', event ?? ''),
    );
    return state;
  }

  /** What became of a few events, by their ids. */
  async find(ids: string[]): Promise<FoundEvents> {
    const query = async (text: string) =>
      (await this.#client.query<Row>({ text: `${text} WHERE id = ANY ($1)`, values: [ids], rowMode: 'array' })).rows;
    const events = (await query(EVENTS)).map((row) => this.#eventOf(row));
    const rejected = await query('SELECT id FROM rejected_events');
    const duplicates = await query('SELECT id, duplicate_of FROM duplicate_events');
    return {
      recorded: new Map(events.map((event) => [event.id, event])),
      rejected: new Set(rejected.map(([id]) => id ?? '')),
      duplicates: new Map(duplicates.map(([id, of]) => [id ?? '', of ?? ''])),
    };
  }

  /** How many events are recorded, but for those of hostile organizations. */
  countEvents(): Promise<number> {
    return this.#count('events', 'NOT organization_id = ANY ($1)', this.#hostile);
  }

  /** What is there of each hostile organization. */
  async countHostile(): Promise<HostileCount[]> {
    const counts: HostileCount[] = [];
    for (const organization of this.#hostile) {
      const count = (table: string) => this.#count(table, 'organization_id = $1', organization);
      counts.push({
        organization,
        recorded: await count('events'),
        rejected: await count('rejected_events'),
        duplicates: await count('duplicate_events'),
      });
    }
    return counts;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  async #count(table: string, where: string, value: unknown): Promise<number> {
    const text = `SELECT count(*)::int AS count FROM ${table} WHERE ${where}`;
    const { rows } = await this.#client.query<{ count: number }>(text, [value]);
    return rows[0]?.count ?? 0;
  }

  /** Gives every row of a query, as texts, to `take`. */
  async #each(query: string, take: (row: Row) => unknown): Promise<void> {
    await this.#client.query(`BEGIN; DECLARE page NO SCROLL CURSOR FOR ${query}`);
    for (;;) {
      const { rows } = await this.#client.query<Row>({ text: `FETCH ${PAGE} FROM page`, rowMode: 'array' });
      for (const row of rows) take(row);
      if (rows.length < PAGE) break;
    }
    await this.#client.query('COMMIT');
  }

  #eventOf(row: Row): StoredEvent {
    const [id, organization, meter, customer, quantity, timestamp, key, metadata] = row;
    return {
      id: id ?? '',
      organization: this.#organization(organization),
      meter: this.#meter(meter),
      customer: customer ?? '',
      quantity: quantity ?? '',
      timestamp: timestamp ?? '',
      ...(key !== null && key !== undefined && { key }),
      ...fromMetadata(metadata),
    };
  }

  /** An event as it lay in Redis. */
  #stagedEvent(json: string): StoredEvent {
    const event = JSON.parse(json) as Record<string, string>;
    const { id = '', customer_external_id: customer = '', quantity = '', timestamp = '', idempotency_key: key } = event;
    return {
      id,
      organization: this.#organization(event['organization_id']),
      meter: this.#meter(event['meter_id']),
      customer,
      quantity,
      timestamp,
      ...(key !== undefined && { key }),
      ...fromMetadata(event['metadata']),
    };
  }

  #organization(id: string | null | undefined): number {
    return this.#organizations.get(id ?? '') ?? -1;
  }

  #meter(id: string | null | undefined): number {
    return this.#meters.get(id ?? '') ?? -1;
  }
}

function fromMetadata(json: string | null | undefined): Pick<SentEvent, 'mark' | 'userId' | 'region'> {
  if (json === null || json === undefined) return {};
  const { user_id: userId, ...rest } = JSON.parse(json) as {
    mark?: string;
    user_id?: string | number;
    region?: string;
  };
  return { ...rest, ...(userId !== undefined && { userId }) };
}
