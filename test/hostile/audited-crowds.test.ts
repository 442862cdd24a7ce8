// The audit log tells what was begun. What is refused before that is not written down, and costs no write.

import { newId } from '@weir/shared/ids';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
/** Nothing is given up while a busy machine brings the others. */
const PATIENT = { DATABASE_STATEMENT_TIMEOUT_MS: '60000' };
let admin: Organization;
let other: Organization;

beforeAll(async () => {
  [admin, other] = [await signUp(weir), await signUp(weir)];
  // Every row that is ever inserted, also one that is deleted again.
  await weir.pool.query(`
    CREATE TABLE inserted (id uuid, resource_id uuid);
    CREATE FUNCTION note_inserted() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO inserted VALUES (NEW.id, NEW.resource_id); RETURN NULL; END $$;
    CREATE TRIGGER note_inserted AFTER INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION note_inserted();`);
});

const insertedOf = async (id: string): Promise<number> =>
  (await weir.pool.query('SELECT FROM inserted WHERE resource_id = $1', [id])).rowCount ?? 0;
const keptOf = async (id: string, action: string): Promise<number> =>
  (await weir.pool.query('SELECT FROM audit_entries WHERE resource_id = $1 AND action = $2', [id, action])).rowCount ??
  0;
const waitingForLock = async (): Promise<number> => {
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  return (await weir.pool.query(waiting)).rowCount ?? 0;
};
const gauge = async (baseUrl: string, name: string): Promise<number> => {
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN);
};
async function createCustomer(): Promise<string> {
  const body = { external_id: newId() };
  const made = await weir.request('POST', '/api/v1/customers', { session: admin.session, body });
  expect(made.status).toBe(201);
  return made.body.id;
}
const rename = (baseUrl: string, id: string) =>
  weir.request('PATCH', `/api/v1/customers/${id}`, { baseUrl, session: admin.session, body: { name: 'Changed' } });

/** By somebody else, who waits for what is locked. */
const readFeatures = (baseUrl: string) =>
  void weir.request('GET', '/api/v1/features', { baseUrl, session: other.session });
/** By somebody who has no account. */
const guess = (baseUrl: string, n: number, signal: AbortSignal) =>
  fetch(`${baseUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `nobody-${n}@example.com`, password: 'wrong horse battery' }),
    signal,
  });

/** Holds what a statement locks while something is done. */
async function whileHeld(locking: string, action: () => Promise<void>): Promise<void> {
  const holder = new pg.Client({ connectionString: weir.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(locking);
    await action();
  } finally {
    await holder.end();
  }
}
const customerOf = (id: string) => `SELECT FROM customers WHERE id = '${id}' FOR UPDATE`;

test('of changes over the share of their caller only those that are let on are written to the audit log', async () => {
  const api = await weir.startApi({ READS_IN_FLIGHT_PER_CALLER: '1', ...PATIENT });
  const id = await createCustomer();
  const statuses: number[] = [];
  const change = async () => void statuses.push((await rename(api.url, id)).status);
  let changes: Promise<void>[] = [];
  await whileHeld(customerOf(id), async () => {
    changes.push(change());
    await until(async () => (await waitingForLock()) === 1, 'the first one is held up');
    changes = [...changes, ...Array.from({ length: 30 }, change)];
    await until(() => statuses.length >= 10, 'those are refused for whom there is no room to wait');
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(await insertedOf(id)).toBe(1);
  });
  await Promise.all(changes);
  expect(await insertedOf(id)).toBe(statuses.filter((status) => status === 200).length);
  await api.close();
});

test('a change that was begun and is not accepted leaves no entry in the audit log', async () => {
  const api = await weir.startApi({ REQUESTS_IN_FLIGHT_MAX: '1', ...PATIENT });
  const { body: account } = await weir.request('GET', '/api/v1/auth/me', { session: admin.session });
  const hangUp = new AbortController();
  // One is through in some 40 ms: so many that a crowd is left however long a busy machine takes for the steps below.
  const guesses = Array.from({ length: 120 }, (_, n) => guess(api.url, n, hangUp.signal).catch(() => {}));
  await until(async () => (await gauge(api.url, 'weir_passwords_waiting')) > 50, 'a crowd waits to sign in');
  const body = { current_password: admin.password, new_password: 'another horse battery' };
  const changing = weir.request('POST', '/api/v1/auth/password', { baseUrl: api.url, session: admin.session, body });
  await until(async () => (await insertedOf(account.user.id)) === 1, 'the change is begun');
  await until(async () => (await gauge(api.url, 'weir_requests_in_flight')) === 0, 'it waits for its turn');
  await whileHeld('LOCK TABLE features IN ACCESS EXCLUSIVE MODE', async () => {
    readFeatures(api.url);
    await until(async () => (await waitingForLock()) === 1, 'the only slot is taken');
    hangUp.abort();
    const answer = await changing;
    expectProblem(answer, 503, 'unavailable');
    expect(answer.body.outcome).toBe('not_accepted');
  });
  await Promise.all(guesses);
  expect(await keptOf(account.user.id, 'user.change_password')).toBe(0);
  await api.close();
});
