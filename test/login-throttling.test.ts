// Guessing passwords is slowed down, per account and per address, together over all processes.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { signUp, startWeir, type Organization, type Weir } from './harness.ts';

let weir: Weir;
let organization: Organization;

beforeEach(async () => {
  weir = await startWeir({ withWorker: false });
  organization = await signUp(weir);
});
afterEach(() => weir.close());

const login = (email: string, password: string, baseUrl = weir.baseUrl) =>
  weir.request('POST', '/api/v1/auth/login', { baseUrl, body: { email, password } });

async function failTimes(times: number, email: (n: number) => string, baseUrl?: string): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: times }, (_, n) => login(email(n), 'wrong horse battery', baseUrl)),
  );
  return answers.map(({ status }) => status);
}

test('after 10 failures in 15 minutes an account is locked for the rest of them, for the right password too', async () => {
  const { email, password } = organization;
  expect(await failTimes(10, () => email)).toEqual(Array<number>(10).fill(401));
  const answer = await login(email, password);
  expect([answer.status, answer.body.code]).toEqual([429, 'rate_limited']);
  const retryAfter = Number(answer.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(14 * 60);
  expect(retryAfter).toBeLessThanOrEqual(15 * 60);
  // In another case it is the same account, and another account is not concerned.
  expect((await login(email.toUpperCase(), password)).status).toBe(429);
  const other = await signUp(weir);
  expect((await login(other.email, other.password)).status).toBe(200);
});

test('an account that does not exist is locked in the same way', async () => {
  const statuses = await failTimes(11, () => 'nobody@example.com');
  expect(statuses.sort()).toEqual([...Array<number>(10).fill(401), 429]);
});

test('guesses that are sent all at once are counted before they are checked', async () => {
  const statuses = await failTimes(30, () => organization.email);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
});

test('failures are counted together over all processes', async () => {
  const other = await weir.startApi();
  await failTimes(5, () => organization.email);
  await failTimes(5, () => organization.email, other.url);
  expect((await login(organization.email, organization.password)).status).toBe(429);
});

test('signing in does not count, and forgets the failures before it', async () => {
  const { email, password } = organization;
  for (let round = 0; round < 3; round += 1) {
    await failTimes(9, () => email);
    expect((await login(email, password)).status).toBe(200);
  }
  for (let n = 0; n < 12; n += 1) expect((await login(email, password)).status).toBe(200);
});

test('after 100 failures an address is refused, whichever accounts it tries', async () => {
  const statuses = await failTimes(100, (n) => `nobody-${n}@example.com`);
  expect(statuses).toEqual(Array<number>(100).fill(401));
  expect((await login(organization.email, organization.password)).status).toBe(429);
});

test('without Redis a process counts by itself', async () => {
  // Nothing listens on port 1.
  const lonely = await weir.startApi({ REDIS_URL: 'redis://127.0.0.1:1/0' });
  const statuses = await failTimes(11, () => organization.email, lonely.url);
  expect(statuses.sort()).toEqual([...Array<number>(10).fill(401), 429]);
});

test('Redis holds no email addresses', async () => {
  await failTimes(1, () => organization.email);
  const names = await weir.redis.keys('*failures*');
  expect(names.filter((name) => name.startsWith(weir.keys.prefix)).length).toBeGreaterThan(0);
  expect(names.filter((name) => name.includes('example.com'))).toEqual([]);
});

test('trying which addresses are taken by signing up with them is slowed down too', async () => {
  const { email } = organization;
  const body = { email, password: 'correct horse battery', organization_name: 'Again' };
  const statuses: number[] = [];
  for (let n = 0; n < 11; n += 1) statuses.push((await weir.request('POST', '/api/v1/auth/signup', { body })).status);
  expect(statuses).toEqual([...Array<number>(10).fill(409), 429]);
});
