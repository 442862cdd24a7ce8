// Reads all of Postgres that the judge asks about, in pages of a cursor: a run records more rows than one answer should have.

import pg from 'pg';
import type { OrganizationLine } from '../history.ts';
import { hideOthers } from './read-hostile.ts';
import { ALL_CUSTOMERS, emptyState, rollupName, type Rollup, type State, type StoredEvent } from './stored-state.ts';

const PAGE = 20_000;
const MICROS = `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'`;

type Row = (string | null)[];

/** What is read, and of whom. */
export interface ReadScope {
  databaseUrl: string;
  organizations: OrganizationLine[];
  /** Organizations whose rows are left out; what they may have is another matter. */
  hostile?: string[];
}

export async function readState(scope: ReadScope): Promise<State> {
  const reader = new StateReader(scope);
  try {
    return await reader.read();
  } finally {
    await reader.close();
  }
}

/** The rollups alone, and how many events there are: what a replay of the history must not change. */
export async function readTotals(scope: ReadScope): Promise<{ rollups: Map<string, Rollup>; events: number }> {
  const reader = new StateReader(scope);
  try {
    return { rollups: await reader.readRollups(), events: await reader.countEvents() };
  } finally {
    await reader.close();
  }
}

/** What became of a few events, by their ids. */
export async function findStored(
  scope: ReadScope,
  ids: string[],
): Promise<{ recorded: Map<string, StoredEvent>; rejected: Set<string>; duplicates: Map<string, string> }> {
  const reader = new StateReader(scope);
  try {
    return await reader.find(ids);
  } finally {
    await reader.close();
  }
}

const EVENTS = `SELECT id, organization_id, meter_id, customer_external_id, trim_scale(quantity)::text,
  to_char("timestamp", ${MICROS}), idempotency_key, metadata::text FROM events`;

const AMOUNTS = `event_count::text, quantity_sum::text, quantity_min::text, quantity_max::text, last_event_id, last_quantity::text`;
const AMOUNTS_OF_PARTS = `sum(event_count)::text, sum(quantity_sum)::text, min(quantity_min)::text, max(quantity_max)::text,
  (array_agg(last_event_id ORDER BY last_timestamp DESC, last_event_id DESC))[1],
  (array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC))[1]::text`;
const VALUES = [
  { table: 'unique_values', time: 'hour', digits: 13 },
  { table: 'unique_days', time: 'day', digits: 10 },
];

class StateReader {
  readonly #client: pg.Client;
  readonly #organizations: Map<string, number>;
  readonly #meters: Map<string, number>;
  readonly #hostile: string[];
  #connected: Promise<unknown> | undefined;

  constructor({ databaseUrl, organizations, hostile = [] }: ReadScope) {
    this.#client = new pg.Client({ connectionString: databaseUrl, options: '-c timezone=UTC' });
    this.#hostile = hostile;
    this.#organizations = new Map(organizations.map(({ id, index }) => [id, index]));
    this.#meters = new Map(
      organizations.flatMap(({ meters }) => meters.map(({ id }, index): [string, number] => [id, index])),
    );
  }

  async read(): Promise<State> {
    const state = emptyState();
    await this.#each(EVENTS, (row) => state.events.push(this.#eventOf(row)));
    await this.#each('SELECT event FROM rejected_events', ([event]) =>
      state.rejected.push(this.#stagedEvent(event ?? '')),
    );
    await this.#each('SELECT organization_id, id, duplicate_of FROM duplicate_events', ([organization, id, of]) =>
      state.duplicates.push({ id: id ?? '', organization: this.#organization(organization), duplicateOf: of ?? '' }),
    );
    for (const { table, time, digits } of VALUES) {
      await this.#each(
        `SELECT organization_id, meter_id, customer_external_id, left(to_char(${time}, ${MICROS}), ${digits}), encode(value_hash, 'hex')
         FROM ${table}`,
        ([organization, meter, customer, at, hash]) =>
          state.uniqueValues.add(`${this.#rollupName(organization, meter, customer, at)} ${hash}`),
      );
    }
    state.meterValueDays =
      await this.#readMeterValues(`SELECT organization_id, meter_id, left(to_char(day, ${MICROS}), 10),
      encode(value_hash, 'hex'), quarters::text FROM meter_value_days`);
    state.meterValueQuarters =
      await this.#readMeterValues(`SELECT organization_id, meter_id, left(to_char(quarter, ${MICROS}), 16),
      encode(value_hash, 'hex'), to_char(first_timestamp, ${MICROS}) FROM meter_value_quarters`);
    await this.#each(`SELECT encode(uuid_send(key_hash), 'hex'), event_id FROM idempotency_keys`, ([hash, event]) =>
      state.keys.set(hash ?? '', event ?? ''),
    );
    state.rollups = await this.readRollups();
    state.days = await this.#readRollups(`SELECT organization_id, meter_id, customer_external_id,
      left(to_char(day, ${MICROS}), 10), ${AMOUNTS} FROM usage_days`);
    state.quarters = await this.#readRollups(`SELECT organization_id, meter_id, '${ALL_CUSTOMERS}',
      left(to_char(quarter, ${MICROS}), 16), ${AMOUNTS_OF_PARTS} FROM meter_quarters GROUP BY 1, 2, 4`);
    return state;
  }

  /** Those of the hours. */
  readRollups(): Promise<Map<string, Rollup>> {
    return this.#readRollups(`SELECT organization_id, meter_id, customer_external_id,
      left(to_char(hour, ${MICROS}), 13), ${AMOUNTS} FROM usage_rollups`);
  }

  async #readRollups(query: string): Promise<Map<string, Rollup>> {
    const rollups = new Map<string, Rollup>();
    await this.#each(query, ([organization, meter, customer, time, count, sum, min, max, lastId, lastQuantity]) =>
      rollups.set(this.#rollupName(organization, meter, customer, time), {
        count: BigInt(count ?? 0),
        sum: sum ?? '',
        min: min ?? '',
        max: max ?? '',
        lastId: lastId ?? '',
        lastQuantity: lastQuantity ?? '',
      }),
    );
    return rollups;
  }

  async #readMeterValues(query: string): Promise<Map<string, string>> {
    const values = new Map<string, string>();
    await this.#each(query, ([organization, meter, at, hash, kept]) =>
      values.set(`${this.#rollupName(organization, meter, ALL_CUSTOMERS, at)} ${hash}`, kept ?? ''),
    );
    return values;
  }

  async find(ids: string[]) {
    await this.#connect();
    const query = (text: string) =>
      this.#client.query<Row>({ text: `${text} WHERE id = ANY ($1)`, values: [ids], rowMode: 'array' });
    const events = (await query(EVENTS)).rows.map((row) => this.#eventOf(row));
    const rejected = (await query('SELECT id FROM rejected_events')).rows;
    const duplicates = (await query('SELECT id, duplicate_of FROM duplicate_events')).rows;
    return {
      recorded: new Map(events.map((event) => [event.id, event])),
      rejected: new Set(rejected.map(([id]) => id ?? '')),
      duplicates: new Map(duplicates.map(([id, of]) => [id ?? '', of ?? ''])),
    };
  }

  async countEvents(): Promise<number> {
    await this.#connect();
    const { rows } = await this.#client.query<{ count: number }>('SELECT count(*)::int AS count FROM events');
    return rows[0]?.count ?? 0;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  async #connect(): Promise<void> {
    await (this.#connected ??= this.#client.connect().then(() => hideOthers(this.#client, this.#hostile)));
  }

  /** Gives every row of a query, as texts, to `take`. */
  async #each(query: string, take: (row: Row) => unknown): Promise<void> {
    await this.#connect();
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

  #rollupName(organization?: string | null, meter?: string | null, customer?: string | null, time?: string | null) {
    return rollupName(this.#organization(organization), this.#meter(meter), customer ?? '', time ?? '');
  }

  #organization(id: string | null | undefined): number {
    return this.#organizations.get(id ?? '') ?? -1;
  }

  #meter(id: string | null | undefined): number {
    return this.#meters.get(id ?? '') ?? -1;
  }
}

function fromMetadata(json: string | null | undefined): { mark?: string; userId?: string | number } {
  if (json === null || json === undefined) return {};
  const { mark, user_id: userId } = JSON.parse(json) as { mark?: string; user_id?: string | number };
  return { ...(mark !== undefined && { mark }), ...(userId !== undefined && { userId }) };
}
