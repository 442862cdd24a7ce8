// The time that billing goes by in a run: a day passes in seconds, so that periods end while there are faults. Postgres tells it to
// every process, and chaos replaces the two functions that it asks (packages/db/migrations/0002_billing.sql).

import pg from 'pg';
import type { BillingTimeLine } from '../history.ts';
import type { SystemUnderTest } from './system.ts';

const DAY_MS = 86_400_000;

/** Where billing begins: a Monday, some weeks before the clocks change in both of the zones of the run. */
const BEGIN = '2021-03-01T12:00:00Z';

/** So a day passes. A worker that is paused for 9 s thus comes back to two boundaries. */
const DAY_SECONDS = 5;

/** Of a long run days are longer: no time of billing may come near that of the clock, which the API measures timestamps by. */
const DAYS_MAX = 1_500;

/** The drain and the judge come after the load. */
const REST_SECONDS = 600;

export class BillingTime {
  readonly #databaseUrl: string;
  readonly #beganAt: number;
  readonly #speed: number;

  private constructor(databaseUrl: string, seconds: number) {
    this.#databaseUrl = databaseUrl;
    this.#beganAt = Date.now();
    this.#speed = DAY_MS / 1_000 / Math.max(DAY_SECONDS, (seconds + REST_SECONDS) / DAYS_MAX);
  }

  /** Has billing go fast from now on, in a run of so many seconds. */
  static async begin({ databaseUrl }: Pick<SystemUnderTest, 'databaseUrl'>, seconds: number): Promise<BillingTime> {
    const time = new BillingTime(databaseUrl, seconds);
    const of = (clock: string) =>
      `timestamptz '${BEGIN}' + (${clock} - timestamptz '${new Date(time.#beganAt).toISOString()}') * ${time.#speed}`;
    await time.#replace(of('now()'), of('clock_timestamp()'));
    return time;
  }

  /** Milliseconds since 1970, as billing counts them. */
  now(): number {
    return Date.parse(BEGIN) + (Date.now() - this.#beganAt) * this.#speed;
  }

  /** What it is now, as the history has it. */
  line(at: number): BillingTimeLine {
    return { type: 'billing time', at, instant: this.now() };
  }

  /** Stops it for good, at an instant: what is due by then gets done, and nothing becomes due any more. */
  async stop(epochMs: number): Promise<void> {
    const instant = `timestamptz '${new Date(epochMs).toISOString()}'`;
    await this.#replace(instant, instant);
  }

  async #replace(now: string, clock: string): Promise<void> {
    await withClient(this.#databaseUrl, (client) =>
      client.query(
        `CREATE OR REPLACE FUNCTION billing_now() RETURNS timestamptz LANGUAGE sql STABLE RETURN ${now};
         CREATE OR REPLACE FUNCTION billing_clock() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN ${clock};`,
      ),
    );
  }
}

/** Lends a connection past every proxy. */
export async function withClient<T>(databaseUrl: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c timezone=UTC' });
  // A connection that breaks is told to whoever has a query under way on it.
  client.on('error', () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
