// The people of an organization: how they get in, what they may do, and how they are let go.

import { once } from 'node:events';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { join, sessionIn, tokenIn } from '../support/people.ts';
import { connectTo } from '../support/raw-connection.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;

beforeEach(async () => {
  admin = await signUp(weir);
});

const send = (method: string, path: string, session?: string, body?: object): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, {
    ...(session !== undefined && { session }),
    ...(body !== undefined && { body }),
  });
const get = (path: string, session = admin.session) => send('GET', path, session);
const invite = (email: string, role = 'viewer') => send('POST', '/invitations', admin.session, { email, role });
const show = (token: string) => send('POST', '/auth/invitation', undefined, { token });
const accept = (token: string, password = 'correct horse battery') =>
  send('POST', '/auth/invitation/accept', undefined, { token, password });
const codeOf = ({ status, body }: Answer) => `${status} ${body.code ?? ''}`.trim();
let addresses = 0;
const newEmail = () => `invited-${(addresses += 1)}@example.com`;

describe('an invitation', () => {
  test('is a link that is shown once, and makes whoever opens it one of the people', async () => {
    const email = newEmail();
    const { status, body: invitation } = await invite(email.toUpperCase());
    expect(status).toBe(201);
    expect(invitation).toEqual({
      id: expect.any(String),
      email,
      role: 'viewer',
      link: expect.stringMatching(/\/invitation#inv_[\w-]{43}$/),
      mailed: false,
      created_at: expect.any(String),
      expires_at: expect.any(String),
    });
    expect(new URL(invitation.link).origin).toBe(weir.baseUrl);
    expect(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)).toBe(7 * 86_400_000);
    const { link, mailed: _, ...open } = invitation;
    expect((await get('/invitations')).body.data).toEqual([open]);

    const token = tokenIn(link);
    const { body: organization } = await get('/organization');
    const shown = { email, organization_name: organization.name, role: 'viewer', expires_at: invitation.expires_at };
    // However often it is looked at.
    for (let n = 0; n < 12; n += 1) expect(await show(token)).toMatchObject({ status: 200, body: shown });
    const joined = await accept(token);
    expect(joined.status).toBe(201);
    expect(joined.body).toEqual({
      user: { id: expect.any(String), email, role: 'viewer' },
      organization: { id: admin.id, name: organization.name },
    });
    expect((await get('/auth/me', sessionIn(joined))).body).toEqual(joined.body);
    expect((await get('/invitations')).body.data).toEqual([]);
    const login = await send('POST', '/auth/login', undefined, { email, password: 'correct horse battery' });
    expect(login.status).toBe(200);
    const { data } = (await get('/users')).body;
    expect(data.map((user: { email: string; role: string }) => [user.email, user.role])).toEqual([
      [admin.email, 'admin'],
      [email, 'viewer'],
    ]);
  });

  test('gets one answer whether it was used, has expired, was taken back, replaced, or never was', async () => {
    const [used, expired, takenBack, replaced] = [newEmail(), newEmail(), newEmail(), newEmail()];
    const links = await Promise.all([used, expired, takenBack, replaced].map((email) => invite(email)));
    await accept(tokenIn(links[0]?.body.link));
    await weir.pool.query(`UPDATE invitations SET expires_at = now() WHERE email = $1`, [expired]);
    expect((await send('DELETE', `/invitations/${links[2]?.body.id}`, admin.session)).status).toBe(204);
    expect((await send('DELETE', `/invitations/${links[1]?.body.id}`, admin.session)).status).toBe(404);
    const again = await invite(replaced, 'admin');
    expect(again.body.id).not.toBe(links[3]?.body.id);
    const dead = [
      ...links.map(({ body }) => tokenIn(body.link)),
      `inv_${'A'.repeat(43)}`,
      'x',
      `rst_${'A'.repeat(43)}`,
    ];
    const answers = await Promise.all(dead.flatMap((token) => [show(token), accept(token)]));
    expect(new Set(answers.map(codeOf))).toEqual(new Set(['404 link_not_valid']));
    expect(new Set(answers.map(({ body }) => JSON.stringify({ ...body, request_id: '' }))).size).toBe(1);
    expect((await accept(tokenIn(again.body.link))).body.user.role).toBe('admin');
  });

  test('makes one account, also when it is accepted many times at once', async () => {
    const email = newEmail();
    const token = tokenIn((await invite(email)).body.link);
    const answers = await Promise.all(Array.from({ length: 8 }, () => accept(token)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(7).fill(404)]);
  });

  test('of an address that has an account is refused, in whatever organization it is', async () => {
    const stranger = await signUp(weir);
    expect(codeOf(await invite(stranger.email.toUpperCase()))).toBe('409 email_taken');
    // Somebody signs up between the invitation and its acceptance.
    const email = newEmail();
    const token = tokenIn((await invite(email)).body.link);
    const body = { email, password: 'correct horse battery', organization_name: 'Own' };
    expect((await send('POST', '/auth/signup', undefined, body)).status).toBe(201);
    expect(codeOf(await accept(token))).toBe('409 email_taken');
  });

  test('asks for a password that an account may have, and is not used up by another', async () => {
    const token = tokenIn((await invite(newEmail())).body.link);
    expect(codeOf(await accept(token, 'too short'))).toBe('422 invalid_request');
    expect((await accept(token)).status).toBe(201);
  });

  test('leaves nothing in the database that opens anything', async () => {
    const token = tokenIn((await invite(newEmail())).body.link);
    const { rows } = await weir.pool.query('SELECT * FROM invitations UNION ALL SELECT * FROM invitations');
    expect(JSON.stringify(rows)).not.toContain(token);
    const kept = await weir.pool.query(`SELECT changes::text FROM audit_entries`);
    expect(JSON.stringify(kept.rows)).not.toContain(token);
  });

  test('guesses at its token are slowed down as those at passwords are', async () => {
    const proxied = await weir.startApi({ TRUST_PROXY: '127.0.0.1' });
    const guess = (token: string) =>
      weir.request('POST', '/api/v1/auth/invitation/accept', {
        baseUrl: proxied.url,
        headers: { 'x-forwarded-for': '198.51.100.7' },
        body: { token, password: 'correct horse battery' },
      });
    // More than 100 at once are refused for another reason.
    const crowd = (from: number) =>
      Promise.all(Array.from({ length: 60 }, (_, n) => guess(`inv_${'A'.repeat(40)}${from + n}`)));
    const statuses = [...(await crowd(100)), ...(await crowd(200))].map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(100).fill(404),
      ...Array<number>(20).fill(429),
    ]);
    await proxied.close();
  });
});

describe('a role', () => {
  test('holds from the next request on, in sessions that are open', async () => {
    const viewer = await join(weir, admin, 'viewer');
    const feature = { name: 'SSO', lookup_key: 'sso', type: 'switch' };
    expect(codeOf(await send('POST', '/features', viewer.session, feature))).toBe('403 admin_only');
    const promoted = await send('PATCH', `/users/${viewer.id}`, admin.session, { role: 'admin' });
    expect(promoted).toMatchObject({ status: 200, body: { id: viewer.id, role: 'admin' } });
    expect((await get('/auth/me', viewer.session)).body.user.role).toBe('admin');
    expect((await send('POST', '/features', viewer.session, feature)).status).toBe(201);
    await send('PATCH', `/users/${viewer.id}`, admin.session, { role: 'viewer' });
    expect(codeOf(await send('POST', '/features', viewer.session, feature))).toBe('403 admin_only');
  });

  test('the last admin stays', async () => {
    const me = (await get('/auth/me')).body.user.id;
    const viewer = await join(weir, admin, 'viewer');
    expect(codeOf(await send('PATCH', `/users/${me}`, admin.session, { role: 'viewer' }))).toBe('409 last_admin');
    expect(codeOf(await send('DELETE', `/users/${me}`, admin.session))).toBe('409 last_admin');
    // To stay what one is, is no change.
    expect((await send('PATCH', `/users/${me}`, admin.session, { role: 'admin' })).status).toBe(200);
    await send('PATCH', `/users/${viewer.id}`, admin.session, { role: 'admin' });
    expect((await send('PATCH', `/users/${me}`, admin.session, { role: 'viewer' })).status).toBe(200);
  });

  test.each(['PATCH', 'DELETE'])(
    'two admins who take it from each other at once (%s) leave one admin',
    async (method) => {
      const me = (await get('/auth/me')).body.user.id;
      const other = await join(weir, admin, 'admin');
      // Holds both up at the lock, so that they really meet there.
      const gate = await weir.pool.connect();
      await gate.query('BEGIN');
      await gate.query(`SELECT FROM users WHERE organization_id = $1 FOR UPDATE`, [admin.id]);
      const body = method === 'PATCH' ? { role: 'viewer' } : undefined;
      const both = [
        send(method, `/users/${other.id}`, admin.session, body),
        send(method, `/users/${me}`, other.session, body),
      ];
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      await until(async () => (await weir.pool.query(waiting)).rowCount === 2, 'both wait');
      await gate.query('COMMIT');
      gate.release();
      const codes = (await Promise.all(both)).map(codeOf).toSorted();
      expect(codes).toEqual([method === 'PATCH' ? '200' : '204', '409 last_admin']);
      const admins = `SELECT 1 FROM users WHERE organization_id = $1 AND role = 'admin'`;
      expect((await weir.pool.query(admins, [admin.id])).rowCount).toBe(1);
    },
  );

  test('of the oldest, who is no admin any more, is changed and deleted at once without a deadlock', async () => {
    const { id } = (await get('/auth/me')).body.user;
    const { session } = await join(weir, admin, 'admin');
    await send('PATCH', `/users/${id}`, session, { role: 'viewer' });
    const etag = (await get(`/users/${id}`, session)).headers.get('etag') ?? '';
    // Holds up whoever deletes the user, and not whoever changes it.
    const gate = await weir.pool.connect();
    onTestFinished(() => gate.release(true));
    await gate.query('BEGIN');
    await gate.query('SELECT FROM users WHERE id = $1 FOR KEY SHARE', [id]);
    const waiting = async () =>
      (
        await weir.pool.query(`SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`)
      ).rowCount;
    const deleted = send('DELETE', `/users/${id}`, session);
    await until(async () => Number(await waiting()) >= 1, 'it is about to be deleted');
    const changed = weir.request('PATCH', `/api/v1/users/${id}`, {
      session,
      headers: { 'if-match': etag },
      body: { role: 'admin' },
    });
    await until(async () => Number(await waiting()) >= 2, 'both wait');
    await gate.query('COMMIT');
    expect([codeOf(await deleted), codeOf(await changed)]).toEqual(['204', '404 not_found']);
  });

  test('of those who were there before there were roles is admin', async () => {
    // As a process of the version before writes one.
    await weir.pool.query(`INSERT INTO users (organization_id, id, email, password_hash)
      SELECT organization_id, gen_random_uuid(), 'before@example.com', password_hash FROM users LIMIT 1`);
    const { rows } = await weir.pool.query(`SELECT role FROM users WHERE email = 'before@example.com'`);
    expect(rows).toEqual([{ role: 'admin' }]);
  });
});

describe('what an admin has made for others ends', () => {
  test.each([
    ['deletion', (id: string) => send('DELETE', `/users/${id}`, admin.session)],
    ['loss of the role', (id: string) => send('PATCH', `/users/${id}`, admin.session, { role: 'viewer' })],
  ] as const)('with their %s: invitations, and links for a new password', async (_, end) => {
    const maker = await join(weir, admin, 'admin');
    const { id } = (await get('/auth/me')).body.user;
    const invited = await send('POST', '/invitations', maker.session, { email: newEmail(), role: 'admin' });
    const link = await send('POST', `/users/${id}/password-reset`, maker.session);
    const kept = await invite(newEmail());
    expect([invited.status, link.status]).toEqual([201, 201]);
    expect((await end(maker.id)).status).toBeLessThan(300);
    expect(codeOf(await accept(tokenIn(invited.body.link)))).toBe('404 link_not_valid');
    const body = { token: tokenIn(link.body.link), new_password: 'another horse battery' };
    expect(codeOf(await send('POST', '/auth/password-reset', undefined, body))).toBe('404 link_not_valid');
    expect((await accept(tokenIn(kept.body.link))).status).toBe(201);
  });
});

test('links are not made by an admin who is let go at the same moment', async () => {
  const maker = await join(weir, admin, 'admin');
  const { id } = (await get('/auth/me')).body.user;
  const email = newEmail();
  const client = await weir.pool.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await client.query('BEGIN');
    await client.query(`UPDATE users SET role = 'viewer' WHERE id = $1`, [maker.id]);
    let answered = 0;
    const answers = [
      send('POST', '/invitations', maker.session, { email, role: 'admin' }),
      send('POST', `/users/${id}/password-reset`, maker.session),
    ].map((answer) => answer.finally(() => (answered += 1)));
    await until(async () => {
      const waiting = await weir.pool.query(
        'SELECT FROM pg_stat_activity WHERE datname = current_database() AND $1 = ANY (pg_blocking_pids(pid))',
        [rows[0]?.pid],
      );
      return answered + (waiting.rowCount ?? 0) === 2;
    }, 'both wait for what becomes of the admin');
    await client.query('COMMIT');
    for (const answer of answers) expect(codeOf(await answer)).toBe('403 admin_only');
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
  expect((await get('/invitations')).body.data).toEqual([]);
});

describe('a user who is deleted', () => {
  test('is signed out everywhere at once, and cannot sign in', async () => {
    const { id, email, password, session } = await join(weir, admin, 'viewer');
    const elsewhere = sessionIn(await send('POST', '/auth/login', undefined, { email, password }));
    const { body: reset } = await send('POST', `/users/${id}/password-reset`, admin.session);
    expect((await send('DELETE', `/users/${id}`, admin.session)).status).toBe(204);
    for (const each of [session, elsewhere]) expect((await get('/auth/me', each)).status).toBe(401);
    expect((await send('POST', '/auth/login', undefined, { email, password })).status).toBe(401);
    const again = { token: tokenIn(reset.link), new_password: 'correct horse battery' };
    expect(codeOf(await send('POST', '/auth/password-reset', undefined, again))).toBe('404 link_not_valid');
    expect(codeOf(await send('DELETE', `/users/${id}`, admin.session))).toBe('404 not_found');
    // The address is free again.
    expect((await invite(email)).status).toBe(201);
  });
});

describe('a request whose body is held back', () => {
  /** Sends all of a request but its last byte, once it is taken; returns what sends that too, and waits for the answer. */
  async function hold(path: string, session: string, body: object): Promise<() => Promise<string>> {
    const text = JSON.stringify(body);
    const head = [
      `POST /api/v1${path} HTTP/1.1`,
      'Host: weir',
      `Cookie: access_token=${session}`,
      'Content-Type: application/json',
      `Content-Length: ${text.length}`,
      'Expect: 100-continue',
      'Connection: close',
    ];
    const socket = connectTo(weir.baseUrl);
    let came = '';
    socket.setEncoding('utf8').on('data', (chunk) => (came += chunk));
    const closed = once(socket, 'close');
    socket.write(`${head.join('\r\n')}\r\n\r\n${text.slice(0, -1)}`);
    await until(() => came.includes(' 100 Continue'), 'the request is taken');
    return async () => {
      socket.write(text.slice(-1));
      await closed;
      return came.slice(came.indexOf('\r\n\r\n') + 4);
    };
  }

  const NOT_SIGNED_IN = / 401 [^]*"unauthenticated"/;

  test.each<[what: string, refusal: RegExp, act: (id: string) => Promise<Answer>]>([
    ['is deleted', NOT_SIGNED_IN, (id) => send('DELETE', `/users/${id}`, admin.session)],
    [
      'becomes a viewer',
      / 403 [^]*"admin_only"/,
      (id) => send('PATCH', `/users/${id}`, admin.session, { role: 'viewer' }),
    ],
    [
      'gets a new password',
      NOT_SIGNED_IN,
      async (id) => {
        const { body } = await send('POST', `/users/${id}/password-reset`, admin.session);
        const reset = { token: tokenIn(body.link), new_password: 'another horse battery' };
        return send('POST', '/auth/password-reset', undefined, reset);
      },
    ],
  ])('changes nothing any more once its sender %s', async (_, refusal, act) => {
    const { id, session } = await join(weir, admin, 'admin');
    const invitation = await hold('/invitations', session, { email: newEmail(), role: 'admin' });
    const key = await hold('/api-keys', session, { name: 'held back', scopes: ['usage.read'] });
    expect((await act(id)).status).toBeLessThan(300);
    expect(await invitation()).toMatch(refusal);
    expect(await key()).toMatch(refusal);
    expect((await get('/invitations')).body.data).toEqual([]);
    expect((await get('/api-keys')).body.data).toEqual([]);
  });
});

describe('one’s own sessions', () => {
  const login = async (agent: string) =>
    sessionIn(
      await weir.request('POST', '/api/v1/auth/login', {
        headers: { 'user-agent': agent },
        body: { email: admin.email, password: admin.password },
      }),
    );

  test('are listed with from where, with what and when they were used', async () => {
    const session = await login(`Browser/1 ${'x'.repeat(2_000)}`);
    const { data } = (await get('/auth/sessions', session)).body;
    expect(data).toHaveLength(2);
    expect(data.filter((each: { is_current: boolean }) => each.is_current)).toEqual([
      {
        id: expect.any(String),
        created_at: expect.any(String),
        last_used_at: expect.any(String),
        address: expect.stringMatching(/127\.0\.0\.1|::1/),
        user_agent: `Browser/1 ${'x'.repeat(490)}`,
        is_current: true,
      },
    ]);
  });

  test('end one by one, and all others at once, and nobody else’s', async () => {
    const viewer = await join(weir, admin, 'viewer');
    const [second, third] = [await login('Second'), await login('Third')];
    const { data } = (await get('/auth/sessions')).body;
    const { id } = data.find(({ user_agent }: { user_agent: string }) => user_agent === 'Second');
    // Not even an admin of the same organization sees or ends those of others.
    expect(codeOf(await send('DELETE', `/auth/sessions/${id}`, viewer.session))).toBe('404 not_found');
    expect((await send('DELETE', `/auth/sessions/${id}`, admin.session)).status).toBe(204);
    expect((await get('/auth/me', second)).status).toBe(401);
    expect((await send('DELETE', '/auth/sessions', admin.session)).status).toBe(204);
    expect((await get('/auth/me', third)).status).toBe(401);
    expect((await get('/auth/me')).status).toBe(200);
    expect((await get('/auth/me', viewer.session)).status).toBe(200);
    expect((await get('/auth/sessions')).body.data).toHaveLength(1);
  });

  test('tell when their owner was seen', async () => {
    const me = async () => (await get('/users')).body.data[0].last_seen_at;
    const age = (table: string, column: string) =>
      weir.pool.query(`UPDATE ${table} SET ${column} = now() - interval '2 hours' WHERE organization_id = $1`, [
        admin.id,
      ]);
    await age('users', 'last_seen_at');
    await age('sessions', 'used_at');
    await get('/auth/me');
    expect(Date.now() - Date.parse(await me())).toBeLessThan(60_000);
  });
});

test('an organization is renamed by its admins', async () => {
  const renamed = await send('PATCH', '/organization', admin.session, { name: 'Analytical Engines' });
  expect(renamed.status).toBe(200);
  expect(renamed.body).toEqual({ id: admin.id, name: 'Analytical Engines', created_at: expect.any(String) });
  expect((await get('/organization')).body).toEqual(renamed.body);
  expect((await get('/auth/me')).body.organization.name).toBe('Analytical Engines');
});
