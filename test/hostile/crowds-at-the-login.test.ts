// Passwords are looked at one after the other. Those who wait for that take nothing from those who are signed in.

import { beforeAll, expect, test } from 'vitest';
import { bestOfThree } from '../support/best-of-three.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let organization: Organization;

beforeAll(async () => {
  organization = await signUp(weir);
});

/** Somebody who has no account. */
const guess = (baseUrl: string, n: number, signal?: AbortSignal) =>
  fetch(`${baseUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `nobody-${n}@example.com`, password: 'wrong horse battery' }),
    ...(signal !== undefined && { signal }),
  });
const waiting = async (baseUrl: string): Promise<number> => {
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(/^weir_passwords_waiting (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN);
};

test('three times as many as there are slots sign in at once, and whoever is signed in goes on reading', async () => {
  const api = await weir.startApi({ REQUESTS_IN_FLIGHT_MAX: '10' });
  let isOver = false;
  const guesses = Promise.all(Array.from({ length: 30 }, (_, n) => guess(api.url, n))).finally(() => (isOver = true));
  const read: number[] = [];
  while (!isOver) {
    const { status } = await weir.request('GET', '/api/v1/features', {
      session: organization.session,
      baseUrl: api.url,
    });
    read.push(status);
  }
  expect(new Set(read)).toEqual(new Set([200]));
  expect(new Set((await guesses).map(({ status }) => status))).toEqual(new Set([401]));
  await api.close();
});

test('more than can have their turn within five seconds are refused at once, and the door opens again', async () => {
  const api = await weir.startApi();
  const { email, password } = organization;
  const signIn = () => weir.request('POST', '/api/v1/auth/login', { baseUrl: api.url, body: { email, password } });
  /** What is said while as many wait as may, and after how many milliseconds. */
  const signInBesideCrowd = async () => {
    const holder = await weir.pool.connect();
    const hangUp = new AbortController();
    let crowd: Promise<unknown>[] = [];
    try {
      await holder.query('BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
      const began = performance.now();
      const sinceMs = () => performance.now() - began;
      crowd = Array.from({ length: 125 }, (_, n) => guess(api.url, n, hangUp.signal).catch(() => {}));
      let most = 0;
      await until(async () => {
        most = Math.max(most, await waiting(api.url));
        return most === 125 || sinceMs() > 5_000;
      }, 'as many wait as may');
      return { most, refused: await signIn(), ms: sinceMs() };
    } finally {
      hangUp.abort();
      await holder.query('ROLLBACK');
      holder.release();
      await Promise.all(crowd);
      await until(async () => (await waiting(api.url)) === 0, 'nobody waits for those who have gone');
    }
  };
  // After five seconds without a connection to Postgres the crowd is refused: what takes a busy machine as long says nothing.
  const { most, refused } = await bestOfThree(signInBesideCrowd, ({ ms }) => ms < 4_500);
  const { body: metrics } = await weir.request('GET', '/metrics', { baseUrl: api.url });
  expect(metrics).toMatch(/^weir_shed_requests_total\{reason="passwords"\} [1-9]/m);
  expect(most).toBe(125);
  expectProblem(refused, 503, 'unavailable');
  expect(refused.body.outcome).toBe('not_accepted');
  expect(refused.headers.get('retry-after')).toBe('5');
  expect((await signIn()).status).toBe(200);
  await api.close();
});

test.each([
  ['from one address', () => '192.0.2.1'],
  ['of one account', (n: number) => `198.51.100.${n % 250}`],
])('a crowd %s takes half of the places, and who else comes has one', async (_, addressOf) => {
  const { url: baseUrl, close } = await weir.startApi({ TRUST_PROXY: '127.0.0.1' });
  const other = await signUp(weir);
  const signIn = async (address: string, { email, password }: Organization, signal = new AbortController().signal) => {
    const { status } = await fetch(`${baseUrl}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ email, password }),
      signal,
    });
    return status;
  };
  const signInBesideCrowd = async () => {
    const holder = await weir.pool.connect();
    const hangUp = new AbortController();
    const refused: number[] = [];
    const began = performance.now();
    const sinceMs = () => performance.now() - began;
    const isSoon = async (count: number) => (await waiting(baseUrl)) === count || sinceMs() > 5_000;
    let crowd: Promise<unknown>[] = [];
    try {
      await holder.query('BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
      crowd = Array.from({ length: 200 }, (_, n) =>
        signIn(addressOf(n), organization, hangUp.signal).then(
          (status) => refused.push(status),
          () => {},
        ),
      );
      await until(async () => sinceMs() > 5_000 || (refused.length >= 75 && (await isSoon(125))), 'half are taken');
      const signedIn = signIn('192.0.2.2', other);
      await until(() => isSoon(126), 'somebody else has a place');
      const ms = sinceMs();
      hangUp.abort();
      await holder.query('ROLLBACK');
      return { refused, status: await signedIn, ms };
    } finally {
      hangUp.abort();
      await holder.query('ROLLBACK');
      holder.release();
      await Promise.all(crowd);
      await until(async () => (await waiting(baseUrl)) === 0, 'nobody waits for those who have gone');
    }
  };
  // After five seconds without a connection to Postgres all of them are refused: what takes a busy machine as long says nothing.
  const { refused, status } = await bestOfThree(signInBesideCrowd, ({ ms }) => ms < 4_500);
  expect(refused).toEqual(Array<number>(75).fill(503));
  expect(status).toBe(200);
  await close();
});
