// Guessing passwords is slowed down, per account and per address, together over all processes; and nobody is kept out of an
// account by what strangers try.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signUp, until, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let organization: Organization;

beforeEach(async () => {
  // As if nobody had ever tried: all tests come from one address.
  for (const counters of [weir.keys.failures, weir.keys.limits]) {
    const names = await weir.redis.keys(`${counters.replace(/[{}]/g, '\\$&')}*`);
    if (names.length > 0) await weir.redis.unlink(...names);
  }
  organization = await signUpQuick();
});

/** Of 'correct horse battery', with parameters of argon2 that nobody would choose: hundreds of guesses are looked at in a moment. */
const QUICK_HASH = '$argon2id$v=19$m=8,t=1,p=1$GFmARA3qOJlJBCownPS0Cg$+4PFr4YcdiX0WjvzViaUXVpJepI9MJ6jIxJ6yDPBPhI';

/** The same with so many passes that the next one comes while it is looked at. */
const SLOW_HASH = '$argon2id$v=19$m=19456,t=30,p=1$J3YyAHMUv0EH5HyvFzuTrA$SBihtCNBW+Q97KiDEi6FsvyofvbF9zDVk8r35kx5EU8';

/** An admin whose password takes no time to check. */
async function signUpQuick(): Promise<Organization> {
  const quick = await signUp(weir);
  await weir.pool.query('UPDATE users SET password_hash = $1 WHERE email = $2', [QUICK_HASH, quick.email]);
  return { ...quick, password: 'correct horse battery' };
}

const login = (email: string, password: string, baseUrl = weir.baseUrl) =>
  weir.request('POST', '/api/v1/auth/login', { baseUrl, body: { email, password } });

async function failTimes(times: number, email: (n: number) => string, baseUrl?: string): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: times }, (_, n) => login(email(n), 'wrong horse battery', baseUrl)),
  );
  return answers.map(({ status }) => status);
}

test('after 10 failures in 15 minutes an account is closed to an address, for the right password too', async () => {
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

test('an account that does not exist is closed in the same way', async () => {
  const statuses = await failTimes(11, () => 'nobody@example.com');
  expect(statuses.sort((a, b) => a - b)).toEqual([...Array<number>(10).fill(401), 429]);
});

test('guesses that are sent all at once are counted before they are checked', async () => {
  // Each check takes as long as it does of any password, so that all wait while the first is looked at.
  const { email } = await signUp(weir);
  const statuses = await failTimes(30, () => email);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
});

test('failures are counted together over all processes', async () => {
  const other = await weir.startApi();
  await failTimes(5, () => organization.email);
  await failTimes(5, () => organization.email, other.url);
  expect((await login(organization.email, organization.password)).status).toBe(429);
});

describe('from other addresses', () => {
  /** As it is seen behind a proxy on this machine, which tells each client's address. */
  const loginFrom = (address: string, email: string, password = 'wrong horse battery') =>
    weir.request('POST', '/api/v1/auth/login', {
      baseUrl: proxied,
      headers: { 'x-forwarded-for': address },
      body: { email, password },
    });
  const fail = async (addresses: string[], email: string): Promise<number[]> =>
    (await Promise.all(addresses.map((address) => loginFrom(address, email)))).map(({ status }) => status);
  const tenOf = (address: string) => Array<string>(10).fill(address);
  let proxied: string;
  beforeAll(async () => {
    proxied = (await weir.startApi({ TRUST_PROXY: '127.0.0.1' })).url;
  });

  test('an account is still open after one address has used up its attempts', async () => {
    const { email, password } = organization;
    await fail(tenOf('192.0.2.1'), email);
    expect((await loginFrom('192.0.2.1', email, password)).status).toBe(429);
    expect((await loginFrom('192.0.2.2', email, password)).status).toBe(200);
  });

  test('100 failures close an account to those who never signed in to it, and not to who did', async () => {
    const { email, password } = organization;
    expect((await loginFrom('203.0.113.7', email, password)).status).toBe(200);
    const strangers = Array.from({ length: 10 }, (_, n) => tenOf(`192.0.2.${n}`)).flat();
    expect(await fail(strangers, email)).toEqual(Array<number>(100).fill(401));
    expect((await loginFrom('192.0.2.99', email, password)).status).toBe(429);
    expect((await loginFrom('203.0.113.7', email, password)).status).toBe(200);
    // Known or not, an address may be wrong ten times.
    expect((await fail(tenOf('203.0.113.7'), email)).every((status) => status === 401)).toBe(true);
    expect((await loginFrom('203.0.113.7', email, password)).status).toBe(429);
  });

  test('of right passwords an account has 120 in 15 minutes from one address', async () => {
    const { email, password } = organization;
    const signIns = Array.from({ length: 120 }, () => loginFrom('192.0.2.1', email, password));
    expect((await Promise.all(signIns)).filter(({ status }) => status !== 200)).toEqual([]);
    const { status, body } = await loginFrom('192.0.2.1', email, password);
    expect([status, body.detail]).toEqual([429, expect.stringContaining('sign-ins')]);
    expect((await loginFrom('192.0.2.2', email, password)).status).toBe(200);
  });

  test('all those of one IPv6 network count as one', async () => {
    const network = Array.from({ length: 11 }, (_, n) => `2001:db8:1:2::${n + 1}`);
    expect((await fail(network, organization.email)).sort((a, b) => a - b)).toEqual([
      ...Array<number>(10).fill(401),
      429,
    ]);
    expect((await loginFrom('2001:db8:1:3::1', organization.email)).status).toBe(401);
  });

  test('the port that some proxies write beside an address is no part of it', async () => {
    for (const written of ['192.0.2.7', '[2001:db8:1:4::1]']) {
      const connections = Array.from({ length: 11 }, (_, n) => `${written}:${50_000 + n}`);
      const statuses = await fail(connections, organization.email);
      expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array<number>(10).fill(401), 429]);
    }
  });

  test('what a client says of its address is not believed unless it is one of our proxies', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 11; n += 1) {
      const headers = { 'x-forwarded-for': `192.0.2.${n}` };
      const body = { email: organization.email, password: 'wrong horse battery' };
      statuses.push((await weir.request('POST', '/api/v1/auth/login', { headers, body })).status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
  });
});

test('who is over a limit asks Postgres for nothing, and waits for no other password', async () => {
  await failTimes(10, () => organization.email);
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
    expect((await login(organization.email, organization.password)).status).toBe(429);
    expect((await weir.request('GET', '/metrics')).body).toMatch(/^weir_passwords_waiting 0$/m);
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
});

test('signing in is no failure, and forgets those before it', async () => {
  const { email, password } = organization;
  for (let round = 0; round < 3; round += 1) {
    await failTimes(9, () => email);
    expect((await login(email, password)).status).toBe(200);
  }
  for (let n = 0; n < 12; n += 1) expect((await login(email, password)).status).toBe(200);
});

test('after 100 failures an address is refused, whichever accounts it tries', async () => {
  const accounts: string[] = [];
  for (let n = 0; n < 9; n += 1) accounts.push((await signUpQuick()).email);
  const statuses = await failTimes(100, (n) => accounts[Math.floor(n / 10)] ?? `nobody-${n}@example.com`);
  expect(statuses).toEqual(Array<number>(100).fill(401));
  expect((await login(organization.email, organization.password)).status).toBe(429);
});

test('without Redis a process counts by itself', async () => {
  // Nothing listens on port 1.
  const lonely = await weir.startApi({ REDIS_URL: 'redis://127.0.0.1:1/0' });
  const statuses = await failTimes(11, () => organization.email, lonely.url);
  expect(statuses.sort((a, b) => a - b)).toEqual([...Array<number>(10).fill(401), 429]);
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

test('a crowd that signs in at once with the right passwords, from one address, gets in', async () => {
  const { email, password } = organization;
  const answers = await Promise.all(Array.from({ length: 110 }, () => login(email, password)));
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
});

test('a right password that is being looked at does not stand in for the last failure that is left', async () => {
  const { email, password } = organization;
  await failTimes(9, () => email);
  await weir.pool.query('UPDATE users SET password_hash = $1 WHERE email = $2', [SLOW_HASH, email]);
  const first = login(email, password);
  const ofPairs = `${weir.keys.failures.replace(/[{}]/g, '\\$&')}:pair:*`;
  const counted = async () => {
    const [name = ''] = await weir.redis.keys(ofPairs);
    return await weir.redis.get(name);
  };
  await until(async () => (await counted()) === '10', 'the first is being looked at');
  const answers = await Promise.all([first, login(email, password)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

test('guesses among them are counted all the same', async () => {
  const { email, password } = await signUp(weir);
  const attempts = Array.from({ length: 40 }, (_, n) => login(email, n % 2 === 0 ? 'wrong horse battery' : password));
  const statuses = (await Promise.all(attempts)).map(({ status }) => status);
  // A right one in between forgets those before it, and no more than ten in a row are looked at.
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(20);
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
});

test('what is refused for one account does not shut the address to the others', async () => {
  const other = await signUp(weir);
  const statuses = await failTimes(110, () => organization.email);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect((await login(other.email, other.password)).status).toBe(200);
});

let people = 0;
const signUpFrom = (baseUrl: string, email = `person-${(people += 1)}@example.com`) => {
  const body = { email, password: 'correct horse battery', organization_name: 'Another' };
  return weir.request('POST', '/api/v1/auth/signup', { baseUrl, body });
};

test('where everybody may sign up, an address can do so a number of times in an hour, over all processes', async () => {
  const settings = { RATE_LIMIT_SIGNUPS_PER_ADDRESS: '4' };
  const [one, other] = [await weir.startApi(settings), await weir.startApi(settings)];
  for (const { url } of [one, other, one]) expect((await signUpFrom(url)).status).toBe(201);
  // What fails makes no organization.
  for (let n = 0; n < 3; n += 1) expect((await signUpFrom(one.url, organization.email)).status).toBe(409);
  const rest = await Promise.all(Array.from({ length: 5 }, () => signUpFrom(other.url)));
  expect(rest.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 429, 429, 429, 429]);
  const refused = rest.find(({ status }) => status === 429);
  expect(refused?.body).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining('sign-ups') });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(59 * 60);
  expect((await login(organization.email, organization.password, one.url)).status).toBe(200);
});
