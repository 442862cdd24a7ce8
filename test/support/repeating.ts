// Requests with an Idempotency-Key, and what they come to.

import { expect } from 'vitest';
import pg from 'pg';
import { makeCustomer } from './billing-fixture.ts';
import type { Answer, Organization, Weir } from './harness.ts';

export interface Sent {
  body?: unknown;
  session?: string;
  baseUrl?: string;
}

export const TEN = { amount: '10.00', currency: 'USD' };

export function expectRepeat(answer: Answer, first: Answer): void {
  expect({ status: answer.status, body: answer.body }).toEqual({ status: first.status, body: first.body });
  expect(answer.headers.get('idempotent-replay')).toBe('true');
  expect(answer.headers.get('content-type')).toBe(first.headers.get('content-type'));
  expect(first.headers.get('idempotent-replay')).toBeNull();
}

/** What tests do with one Weir, as its admin unless another session is given. */
export function repeatingIn(weir: Weir, admin: Organization) {
  const send = (
    key: string | undefined,
    method: string,
    path: string,
    { session, ...sent }: Sent = {},
  ): Promise<Answer> =>
    weir.request(method, `/api/v1${path}`, {
      session: session ?? admin.session,
      headers: key === undefined ? {} : { 'idempotency-key': key },
      ...sent,
    });
  return {
    send,
    newCustomer: async (of: Organization = admin): Promise<string> => (await makeCustomer(weir, of)).id,
    /** Grants a customer 10.00, with a key or without one. */
    grant: (key: string | undefined, customer: string, sent: Sent = {}): Promise<Answer> =>
      send(key, 'POST', `/customers/${customer}/credits`, { body: TEN, ...sent }),
    balanceOf: async (customer: string) =>
      (await weir.request('GET', `/api/v1/customers/${customer}/credits`, { session: admin.session })).body.balance,
    rowsOf: async (table: string, where: string, ...values: unknown[]) =>
      (await weir.pool.query(`SELECT * FROM ${table} WHERE ${where}`, values)).rows,
    /** Holds locks while something is done, or until they are let go in it. */
    async holding<Result>(
      statements: string[],
      work: (letGo: () => Promise<unknown>) => Promise<Result>,
    ): Promise<Result> {
      const client = new pg.Client({ connectionString: weir.databaseUrl });
      await client.connect();
      try {
        await client.query('BEGIN');
        for (const statement of statements) await client.query(statement);
        return await work(() => client.query('ROLLBACK'));
      } finally {
        await client.end();
      }
    },
    /** Whether a statement with this in it waits for a lock. */
    waits: async (part: string): Promise<boolean> =>
      (
        await weir.pool.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE $1`,
          [`%${part}%`],
        )
      ).rowCount !== 0,
  };
}

export type Repeating = ReturnType<typeof repeatingIn>;
