// A password is changed, or set anew by a link: what ends with it, who can ask for it, and what the mail holds.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { buildSendMail } from '@weir/api/access/mail';
import { apiSettings } from '@weir/api/settings';
import { createLog } from '@weir/shared/log';
import { loadSettings } from '@weir/shared/settings';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { sessionIn, tokenIn } from '../support/people.ts';
import { sharedWeir } from '../support/use-weir.ts';

const MAILED_FROM = 'Weir <weir@example.com>';

const weir = sharedWeir();
let admin: Organization;
let userId: string;

beforeEach(async () => {
  admin = await signUp(weir);
  userId = (await get('/auth/me')).body.user.id;
});

const post = (path: string, body?: object, session?: string, baseUrl = weir.baseUrl): Promise<Answer> =>
  weir.request('POST', `/api/v1${path}`, {
    baseUrl,
    ...(session !== undefined && { session }),
    ...(body !== undefined && { body }),
  });
const get = (path: string, session = admin.session) => weir.request('GET', `/api/v1${path}`, { session });
const login = (password: string) => post('/auth/login', { email: admin.email, password });
const codeOf = ({ status, body }: Answer) => `${status} ${body.code ?? ''}`.trim();
const change = (current_password: string, new_password: string, session = admin.session) =>
  post('/auth/password', { current_password, new_password }, session);
const makeLink = async () => (await post(`/users/${userId}/password-reset`, undefined, admin.session)).body;
const reset = (token: string, new_password = 'another horse battery') =>
  post('/auth/password-reset', { token, new_password });

describe('changing a password', () => {
  test('takes the old one, ends all other sessions and all links, and leaves the session that asked', async () => {
    const elsewhere = sessionIn(await login(admin.password));
    const token = tokenIn((await makeLink()).link);
    expect((await change(admin.password, 'another horse battery')).status).toBe(204);
    expect((await get('/auth/me')).status).toBe(200);
    expect((await get('/auth/me', elsewhere)).status).toBe(401);
    expect(codeOf(await reset(token))).toBe('404 link_not_valid');
    expect((await login(admin.password)).status).toBe(401);
    expect((await login('another horse battery')).status).toBe(200);
  });

  test('keeps nothing of a request with a key on which a password could be tried out', async () => {
    const body = JSON.stringify({ current_password: admin.password, new_password: 'another horse battery' });
    const request = { session: admin.session, headers: { 'idempotency-key': 'once' }, raw: body };
    const [first, again] = [
      await weir.request('POST', '/api/v1/auth/password', request),
      await weir.request('POST', '/api/v1/auth/password', request),
    ];
    expect([first.status, again.status, again.headers.get('idempotent-replay')]).toEqual([204, 204, 'true']);
    const { rows } = await weir.pool.query('SELECT request_hash FROM request_keys WHERE organization_id = $1', [
      admin.id,
    ]);
    const guess = createHash('sha256').update(['POST', '/api/v1/auth/password', body].join('\0')).digest();
    expect(rows.map(({ request_hash }) => guess.equals(request_hash))).toEqual([false]);
  });

  test('is refused with another password than the old one, and slowed down as guesses are', async () => {
    const answer = await change('wrong horse battery', 'another horse battery');
    expect(codeOf(answer)).toBe('422 invalid_request');
    expect(answer.body.errors[0].path).toBe('current_password');
    // Guesses here and at the sign-in are counted together.
    const more = await Promise.all(
      Array.from({ length: 9 }, () => change('wrong horse battery', 'another horse battery')),
    );
    expect(more.map(({ status }) => status)).toEqual(Array<number>(9).fill(422));
    expect((await change(admin.password, 'another horse battery')).status).toBe(429);
    expect((await login(admin.password)).status).toBe(429);
  });

  test('leaves no session that was begun with the old password meanwhile', async () => {
    // A sign-in that has checked the old password waits for the user; the change commits first.
    const gate = await weir.pool.connect();
    await gate.query('BEGIN');
    await gate.query(`UPDATE users SET password_hash = 'changed' WHERE id = $1`, [userId]);
    const signingIn = login(admin.password);
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await until(async () => (await weir.pool.query(waiting)).rowCount === 1, 'the sign-in waits');
    await gate.query('COMMIT');
    gate.release();
    expect(codeOf(await signingIn)).toBe('401 unauthenticated');
    expect((await get('/auth/sessions')).body.data).toHaveLength(1);
  });
});

describe('a link for a new password', () => {
  test('works once, for 24 hours, and ends all sessions but the new one', async () => {
    const made = await makeLink();
    expect(made).toEqual({
      link: expect.stringMatching(/\/password-reset#rst_[\w-]{43}$/),
      mailed: false,
      expires_at: expect.any(String),
    });
    const hours = (Date.parse(made.expires_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24);
    const [token, other] = [tokenIn(made.link), tokenIn((await makeLink()).link)];
    expect(codeOf(await reset(token, 'too short'))).toBe('422 invalid_request');
    const answer = await reset(token);
    expect(answer).toMatchObject({ status: 200, body: { user: { id: userId, email: admin.email, role: 'admin' } } });
    expect((await get('/auth/me')).status).toBe(401);
    expect((await get('/auth/me', sessionIn(answer))).status).toBe(200);
    expect((await login(admin.password)).status).toBe(401);
    expect((await login('another horse battery')).status).toBe(200);
    for (const dead of [token, other, `rst_${'A'.repeat(43)}`, 'x'])
      expect(codeOf(await reset(dead))).toBe('404 link_not_valid');
  });

  test('opens nothing after its time', async () => {
    const { link } = await makeLink();
    await weir.pool.query('UPDATE password_resets SET expires_at = now() WHERE user_id = $1', [userId]);
    expect(codeOf(await reset(tokenIn(link)))).toBe('404 link_not_valid');
    expect((await login(admin.password)).status).toBe(200);
  });

  test('of several that are used at once, one sets the password', async () => {
    const links = [await makeLink(), await makeLink(), await makeLink()];
    const tokens = links.map(({ link }) => tokenIn(link));
    const answers = await Promise.all(
      [...tokens, ...tokens].map((token, n) => reset(token, `another horse battery ${n}`)),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404, 404, 404]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await login(`another horse battery ${winner}`)).status).toBe(200);
  });
});

describe('without a mail server', () => {
  test('a link is not mailed, and whoever asks for one learns whom to ask', async () => {
    const answer = await post('/auth/password-reset/request', { email: admin.email });
    expect(codeOf(answer)).toBe('409 mail_not_set_up');
    expect(answer.body.detail).toContain('npm run admin');
  });
});

describe('with a mail server', () => {
  const mails: { from: string; to: string[]; text: string }[] = [];
  const smtp = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'weir' && password === 'smtp-secret' ? done(null, { user: username }) : done(new Error('wrong')),
    onRcptTo: ({ address }, _session, done) =>
      address.startsWith('refused-')
        ? done(Object.assign(new Error(`5.1.1 <${address}>: Recipient address rejected`), { responseCode: 550 }))
        : done(),
    onData(stream, { envelope }, done) {
      let text = '';
      stream.on('data', (chunk) => (text += String(chunk)));
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
        done();
      });
    },
  });
  let baseUrl: string;
  const mailTo = (email: string) => mails.find(({ to }) => to.includes(email));
  /** The link in a mail, whose lines are as long as a line of a mail may be. */
  const linkIn = (text = '') =>
    /https:\/\/billing\.example\.com\/\S+/.exec(text.replace(/=\r\n/g, '').replace(/=3D/g, '='))?.[0] ?? '';
  const PUBLIC_URL = 'https://billing.example.com';

  beforeAll(async () => {
    smtp.listen(0, '127.0.0.1');
    await once(smtp.server, 'listening');
    const { port } = smtp.server.address() as AddressInfo;
    const SMTP_URL = `smtp://weir:smtp-secret@127.0.0.1:${port}`;
    baseUrl = (await weir.startApi({ SMTP_URL, SMTP_FROM: MAILED_FROM, PUBLIC_URL })).url;
  });
  afterAll(async () => {
    const closed = once(smtp.server, 'close');
    smtp.close();
    await closed;
  });

  test('an invitation and a link for a new password are mailed, and stand in the answer all the same', async () => {
    const email = `mailed-${userId}@example.com`;
    const invited = await post('/invitations', { email, role: 'viewer' }, admin.session, baseUrl);
    expect(invited).toMatchObject({ status: 201, body: { mailed: true } });
    expect(mailTo(email)).toMatchObject({ from: 'weir@example.com', to: [email] });
    expect(linkIn(mailTo(email)?.text)).toBe(invited.body.link);
    const made = await post(`/users/${userId}/password-reset`, undefined, admin.session, baseUrl);
    expect(made).toMatchObject({ status: 201, body: { mailed: true } });
    expect(linkIn(mailTo(admin.email)?.text)).toBe(made.body.link);
    expect((await reset(tokenIn(made.body.link))).status).toBe(200);
  });

  test('an invitation that is sent again with its key is mailed once, and the answer lacks the link', async () => {
    const email = `once-${userId}@example.com`;
    const invite = (key: string) =>
      weir.request('POST', '/api/v1/invitations', {
        session: admin.session,
        baseUrl,
        headers: { 'idempotency-key': key },
        body: { email, role: 'viewer' },
      });
    const first = await invite('once');
    expect(first).toMatchObject({ status: 201, body: { mailed: true, link: expect.any(String) } });
    const second = await invite('once');
    expect(second).toMatchObject({ status: 201, body: { ...first.body, link: null } });
    expect(second.headers.get('idempotent-withheld')).toBe('link');
    expect(mails.filter(({ to }) => to.includes(email))).toHaveLength(1);
    expect(linkIn(mailTo(email)?.text)).toBe(first.body.link);
  });

  test('whoever has lost a password is mailed a link, and nobody learns which accounts there are', async () => {
    const ask = (email: string) => post('/auth/password-reset/request', { email }, undefined, baseUrl);
    const [unknown, known] = [await ask('nobody@example.com'), await ask(admin.email.toUpperCase())];
    expect(known).toMatchObject({ status: 202, body: { status: 'accepted' } });
    expect(unknown).toMatchObject({ status: 202, body: { status: 'accepted' } });
    await until(() => mailTo(admin.email) !== undefined, 'the mail has arrived');
    expect((await reset(tokenIn(linkIn(mailTo(admin.email)?.text)))).status).toBe(200);
    expect(mailTo('nobody@example.com')).toBeUndefined();
  });

  test('asking for mails is slowed down, for accounts that do not exist too, and one account gets a few', async () => {
    const ask = async (email: string) =>
      (
        await Promise.all(
          Array.from({ length: 11 }, () => post('/auth/password-reset/request', { email }, undefined, baseUrl)),
        )
      )
        .map(({ status }) => status)
        .toSorted((a, b) => a - b);
    expect(await ask(admin.email)).toEqual([...Array<number>(10).fill(202), 429]);
    expect(await ask(`no-${admin.email}`)).toEqual([...Array<number>(10).fill(202), 429]);
    // They are sent in the order in which they were asked for: when this one is there, all before it are.
    const last = await signUp(weir);
    await post('/auth/password-reset/request', { email: last.email }, undefined, baseUrl);
    await until(() => mailTo(last.email) !== undefined, 'the last mail has arrived');
    expect(mails.filter(({ to }) => to.includes(admin.email))).toHaveLength(5);
  });

  test('a server that is away, or refuses, fails nothing: the link is in the answer', async () => {
    // A port that nothing listens on any more.
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    const { port: open } = smtp.server.address() as AddressInfo;
    for (const SMTP_URL of [`smtp://127.0.0.1:${port}`, `smtp://weir:wrong@127.0.0.1:${open}`]) {
      const other = await weir.startApi({ SMTP_URL, SMTP_FROM: MAILED_FROM, PUBLIC_URL });
      const email = `unmailed-${userId}@example.com`;
      const invited = await post('/invitations', { email, role: 'viewer' }, admin.session, other.url);
      expect(invited).toMatchObject({ status: 201, body: { mailed: false } });
      expect(new URL(invited.body.link).origin).toBe(PUBLIC_URL);
      await other.close();
    }
  });

  test('an address that the server refuses is in no line of the log, and the invitation is not mailed', async () => {
    const to = `refused-${userId}@example.com`;
    const invited = await post('/invitations', { email: to, role: 'viewer' }, admin.session, baseUrl);
    expect(invited).toMatchObject({ status: 201, body: { mailed: false } });
    const { port } = smtp.server.address() as AddressInfo;
    const SMTP_URL = `smtp://weir:smtp-secret@127.0.0.1:${port}`;
    const send = buildSendMail(
      loadSettings(apiSettings, { ...weir.env, SMTP_URL, SMTP_FROM: MAILED_FROM, PUBLIC_URL }),
    );
    const lines: string[] = [];
    const log = createLog('api', 'trace', [], { write: (line) => lines.push(line) });
    expect(await send?.({ to, subject: 'Refused', text: 'x' }, log)).toBe(false);
    expect(lines.join()).not.toContain(userId);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, code: 'EENVELOPE', responseCode: 550, command: 'RCPT TO' },
    ]);
  });

  test.each([
    ['SMTP_FROM', { SMTP_URL: 'smtp://127.0.0.1:25' }],
    ['SMTP_URL', { SMTP_FROM: MAILED_FROM, PUBLIC_URL }],
    ['PUBLIC_URL', { SMTP_URL: 'smtp://127.0.0.1:25', SMTP_FROM: MAILED_FROM }],
    ['SMTP_URL', { SMTP_URL: 'http://127.0.0.1', SMTP_FROM: MAILED_FROM, PUBLIC_URL }],
    ['SMTP_FROM', { SMTP_URL: 'smtp://127.0.0.1:25', SMTP_FROM: 'Weir', PUBLIC_URL }],
  ] as [string, Record<string, string>][])(
    '%s stops the start where it is missing or makes no sense',
    async (name, settings) => {
      await expect(weir.startApi(settings)).rejects.toThrow(name);
    },
  );
});
