// Signing up, in and out, and what keeps others from doing so in somebody's name.

import { deleteExpiredSessions } from '@weir/db/sessions';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { signUp, startWeir, until, type Answer, type RequestOptions, type Weir } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });

const post = (path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> =>
  weir.request('POST', `/api/v1/auth/${path}`, { ...options, ...(body !== undefined && { body }) });
/** What a page may offer to somebody who is not signed in. */
const optionsOf = async (of: Weir, baseUrl = of.baseUrl) =>
  (await of.request('GET', '/api/v1/auth/options', { baseUrl })).body;

const me = (session: string, options: RequestOptions = {}) =>
  weir.request('GET', '/api/v1/auth/me', { ...options, session });
const cookieOf = (answer: Answer) => answer.headers.getSetCookie()[0] ?? '';
const tokenOf = (answer: Answer) => /^access_token=([^;]*)/.exec(cookieOf(answer))?.[1] ?? '';
const hashOf = (token: string) => createHash('sha256').update(token).digest();

const good = { email: 'ada@example.com', password: 'correct horse battery', organization_name: 'Analytical Engines' };

describe('signing up', () => {
  test('makes an organization and its admin, who is signed in at once', async () => {
    const answer = await post('signup', good);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      user: { id: expect.any(String), email: 'ada@example.com', role: 'admin' },
      organization: { id: expect.any(String), name: 'Analytical Engines' },
    });
    expect((await me(tokenOf(answer))).body).toEqual(answer.body);
  });

  test('takes an address once, in whatever case it is written', async () => {
    await post('signup', { ...good, email: 'grace@example.com' });
    const { status, body } = await post('signup', { ...good, email: 'Grace@Example.COM' });
    expect([status, body.code]).toEqual([409, 'email_taken']);
  });

  test.each([
    ['email', { email: 'not an address' }],
    ['email', { email: undefined }],
    ['email', { email: `${'a'.repeat(250)}@example.com` }],
    ['password', { password: 'elevenchars' }],
    ['password', { password: 'p'.repeat(257) }],
    ['password', { password: undefined }],
    ['organization_name', { organization_name: '' }],
    ['organization_name', { organization_name: null }],
    ['role', { role: 'owner' }],
  ])('is refused for its %s in %j', async (path, difference) => {
    const { status, body } = await post('signup', { ...good, email: 'new@example.com', ...difference });
    expect([status, body.errors[0].path]).toEqual([422, path]);
  });

  test('takes a password of exactly 12 characters, which need not be letters', async () => {
    expect((await post('signup', { ...good, email: 'twelve@example.com', password: 'žluťoučký 🐎!' })).status).toBe(
      201,
    );
    expect((await post('login', { email: 'twelve@example.com', password: 'žluťoučký 🐎!' })).status).toBe(200);
  });

  test('by default is open for the first organization only, also when many try at the same time', async () => {
    const fresh = await startWeir({ withWorker: false, api: { SIGNUP: 'first' } });
    const other = await fresh.startApi();
    expect(await optionsOf(fresh)).toEqual({ sign_up: true, password_mail: false });
    // Holds all of them up where the first organization is inserted, so that they really meet there.
    const gate = await fresh.pool.connect();
    await gate.query('BEGIN; LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE');
    const signups = Array.from({ length: 8 }, (_, n) =>
      fresh.request('POST', '/api/v1/auth/signup', {
        baseUrl: n % 2 === 0 ? fresh.baseUrl : other.url,
        body: { ...good, email: `first-${n}@example.com` },
      }),
    );
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await until(async () => (await fresh.pool.query(waiting)).rowCount === 8, 'all eight wait');
    await gate.query('COMMIT');
    gate.release();
    const answers = await Promise.all(signups);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, ...Array<number>(7).fill(403)]);
    expect(answers.filter(({ body }) => body.code === 'signup_closed')).toHaveLength(7);
    expect(await optionsOf(fresh)).toEqual({ sign_up: false, password_mail: false });
    const { rows } = await fresh.pool.query('SELECT count(*)::int AS count FROM organizations');
    expect(rows).toEqual([{ count: 1 }]);
    await fresh.close();
  });

  test('is closed for everybody where it is set so', async () => {
    const closed = await weir.startApi({ SIGNUP: 'closed' });
    const answer = await post('signup', { ...good, email: 'late@example.com' }, { baseUrl: closed.url });
    expect([answer.status, answer.body.code]).toEqual([403, 'signup_closed']);
    expect(await optionsOf(weir, closed.url)).toEqual({ sign_up: false, password_mail: false });
    expect((await optionsOf(weir)).sign_up).toBe(true);
    // Who runs it and has nobody to ask learns what to do.
    expect(answer.body.detail).toContain('SIGNUP=open');
    await closed.close();
  });
});

describe('signing in and out', () => {
  test('the right password opens a session of its own each time, in whatever case the address is written', async () => {
    const { email, password } = await signUp(weir);
    const [one, other] = [
      await post('login', { email, password }),
      await post('login', { email: email.toUpperCase(), password }),
    ];
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(tokenOf(one)).not.toBe(tokenOf(other));
    expect((await me(tokenOf(one))).body).toEqual(one.body);
    expect((await me(tokenOf(other))).status).toBe(200);
  });

  test('ends the session that the browser had before, and no other', async () => {
    const { email, password, session } = await signUp(weir);
    const elsewhere = tokenOf(await post('login', { email, password }));
    const answer = await post('login', { email, password }, { session });
    expect((await me(session)).status).toBe(401);
    expect((await me(elsewhere)).status).toBe(200);
    const another = { ...good, email: 'another@example.com' };
    expect((await post('signup', another, { session: tokenOf(answer) })).status).toBe(201);
    expect((await me(tokenOf(answer))).status).toBe(401);
    // A session that an attacker planted in the browser is not the one that is signed in.
    const planted = 'A'.repeat(43);
    expect(tokenOf(await post('login', { email, password }, { session: planted }))).not.toBe(planted);
  });

  test('a wrong password and an unknown account get the very same answer', async () => {
    const { email } = await signUp(weir);
    const wrong = await post('login', { email, password: 'wrong horse battery' });
    const unknown = await post('login', { email: 'nobody@example.com', password: 'wrong horse battery' });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'unauthenticated']);
    expect({ ...wrong.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
    expect(cookieOf(wrong)).toBe('');
  });

  test('signing out ends this session at once and takes the cookie away, and leaves other sessions', async () => {
    const { email, password, session } = await signUp(weir);
    const other = tokenOf(await post('login', { email, password }));
    const answer = await post('logout', undefined, { session });
    expect(answer.status).toBe(204);
    expect(cookieOf(answer)).toMatch(/^access_token=;.*Max-Age=0/);
    expect((await me(session)).status).toBe(401);
    expect((await me(other)).status).toBe(200);
  });

  test('signing out without a session changes nothing and is no error', async () => {
    expect((await post('logout')).status).toBe(204);
    expect((await post('logout', undefined, { session: 'none' })).status).toBe(204);
  });
});

describe('the cookie', () => {
  test('is kept from scripts and from other sites, and is forgotten after 7 days', async () => {
    const { email, password } = await signUp(weir);
    const parts = cookieOf(await post('login', { email, password })).split('; ');
    expect(parts[0]).toMatch(/^access_token=[A-Za-z0-9_-]{43}$/);
    expect(parts.slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Lax']);
  });

  test('is sent over TLS only where the public address is https', async () => {
    const { email, password } = await signUp(weir);
    const secure = await weir.startApi({ PUBLIC_URL: 'https://billing.example.com' });
    expect(cookieOf(await post('login', { email, password }, { baseUrl: secure.url }))).toContain('; Secure');
    await secure.close();
  });

  test('holds what the database does not: there is only its SHA-256', async () => {
    const { session } = await signUp(weir);
    const { rows } = await weir.pool.query('SELECT * FROM sessions WHERE token_hash = $1', [hashOf(session)]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(session);
  });
});

describe('a session ends', () => {
  const age = (session: string, column: 'used_at' | 'created_at', interval: string) =>
    weir.pool.query(`UPDATE sessions SET ${column} = now() - $2::interval WHERE token_hash = $1`, [
      hashOf(session),
      interval,
    ]);
  const usedSecondsAgo = async (session: string): Promise<number> => {
    const sql = 'SELECT extract(epoch FROM now() - used_at)::float AS seconds FROM sessions WHERE token_hash = $1';
    return (await weir.pool.query(sql, [hashOf(session)])).rows[0].seconds;
  };

  test.each([
    ['after 12 hours without a request', 'used_at', '12 hours 1 second', 401],
    ['not sooner', 'used_at', '11 hours 59 minutes', 200],
    ['after 7 days however much it is used', 'created_at', '7 days 1 second', 401],
    ['not sooner than that', 'created_at', '6 days 23 hours 59 minutes', 200],
  ] as const)('%s', async (_, column, interval, status) => {
    const { session } = await signUp(weir);
    await age(session, column, interval);
    expect((await me(session)).status).toBe(status);
  });

  test('later when it is used, which is noted at most once a minute', async () => {
    const { session } = await signUp(weir);
    await age(session, 'used_at', '50 seconds');
    await me(session);
    expect(await usedSecondsAgo(session)).toBeGreaterThan(49);
    await age(session, 'used_at', '11 hours');
    await me(session);
    expect(await usedSecondsAgo(session)).toBeLessThan(40);
  });

  test('and what is left of it can be removed, without touching those that go on', async () => {
    const [idle, old, live] = [await signUp(weir), await signUp(weir), await signUp(weir)];
    await age(idle.session, 'used_at', '13 hours');
    await age(old.session, 'created_at', '8 days');
    const database = openTestDatabase(weir, 1);
    await deleteExpiredSessions(database.kysely);
    expect(await deleteExpiredSessions(database.kysely)).toBe(0);
    await database.close();
    const { rows } = await weir.pool.query('SELECT token_hash FROM sessions WHERE token_hash = ANY($1)', [
      [idle, old, live].map(({ session }) => hashOf(session)),
    ]);
    expect(rows).toEqual([{ token_hash: hashOf(live.session) }]);
  });
});

describe('a page of another site', () => {
  const body = { name: 'Key', scopes: ['usage.read'] };
  const create = (session: string, headers: Record<string, string>) =>
    weir.request('POST', '/api/v1/api-keys', { session, headers, body });

  test.each<[string, Record<string, string>]>([
    ['by what the browser says of the site', { 'sec-fetch-site': 'cross-site' }],
    ['by the origin', { origin: 'https://evil.example' }],
  ])('cannot change anything in a session: it is known %s', async (_, headers) => {
    const { session, email, password } = await signUp(weir);
    const created = await create(session, headers);
    expect([created.status, created.body.code]).toEqual([403, 'cross_origin']);
    expect((await post('logout', undefined, { session, headers })).status).toBe(403);
    expect((await post('login', { email, password }, { headers })).status).toBe(403);
    expect((await post('signup', { ...good, email: 'evil@example.com' }, { headers })).status).toBe(403);
    expect((await me(session, { headers })).status).toBe(200);
  });

  test('is told from our own pages, and from clients that are no browsers', async () => {
    const { session } = await signUp(weir);
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: weir.baseUrl }, {}] as Record<
      string,
      string
    >[]) {
      expect((await create(session, headers)).status).toBe(201);
    }
  });

  test('does not keep a service from tracking, which sends no cookie', async () => {
    const organization = await signUp(weir);
    const { token } = await organization.createMeter('SUM');
    const { status } = await weir.request('POST', '/api/v1/sdk/track', {
      apiKey: await organization.createKey('usage.write'),
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      body: { meter_token: token, customer_external_id: 'customer', quantity: 1 },
    });
    expect(status).toBe(201);
  });
});
