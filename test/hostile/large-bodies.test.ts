// Bodies are held in memory while they are read: how many bytes of them at the same time is bounded, for all together.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { RunningApi } from '@weir/api/serve';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer } from '../support/harness.ts';
import { connectTo, exchange, talk } from '../support/raw-connection.ts';
import { ownWeir } from '../support/use-weir.ts';

/** Room for one large batch, and not for two. */
const BYTES_MAX = 2_000_000;
const LARGE = 1_500_000;

const weir = ownWeir({ withWorker: false });
let api: RunningApi;
let apiKey: string;
let token: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  const admin = await signUp(weir);
  apiKey = await admin.createKey();
  token = (await admin.createMeter('SUM')).token;
  api = await weir.startApi({
    BODIES_BYTES_MAX: String(BYTES_MAX),
    BATCH_BODY_BYTES_MAX: String(BYTES_MAX),
    // What stands beside the events of a batch may have as many characters.
    BODY_BYTES_MAX: String(BYTES_MAX),
  });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  // The next test waits until its own bytes are held, and would take these for them.
  await until(async () => (await held()) === 0, 'no byte is held');
});

/** Whatever was sent before: nothing of it is held, and a large batch is taken. */
async function expectNothingHeld(): Promise<void> {
  await until(async () => (await held()) === 0, 'no byte is held', 10);
  expect((await send(batchOf(LARGE))).status).toBe(201);
}

const event = () => ({ meter_token: token, customer_external_id: 'acme', quantity: 1 });
/** A batch of this many bytes: mostly space, which is read and says nothing. */
function batchOf(bytes: number): string {
  const text = JSON.stringify({ events: [event()] });
  return text + ' '.repeat(bytes - text.length);
}
const send = (raw: string): Promise<Answer> =>
  weir.request('POST', '/api/v1/sdk/track/batch', { baseUrl: api.url, apiKey, raw });
const track = (): Promise<Answer> =>
  weir.request('POST', '/api/v1/sdk/track', { baseUrl: api.url, apiKey, body: event() });
const metric = async (line: RegExp): Promise<number> =>
  Number(line.exec((await weir.request('GET', '/metrics', { baseUrl: api.url })).body)?.[1] ?? Number.NaN);
const held = () => metric(/^weir_bodies_bytes (\d+)$/m);

const head = (lines: string[], credentials = `X-API-Key: ${apiKey}\r\n`) =>
  `POST /api/v1/sdk/track/batch HTTP/1.1\r\nHost: weir\r\n${credentials}Content-Type: application/json\r\n` +
  `${lines.join('\r\n')}\r\n\r\n`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** A client that has begun to send a batch, and holds what is said of it. */
async function begun(bytes: string): Promise<Socket> {
  const socket = connectTo(api.url);
  sockets.push(socket);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  await until(async () => (await held()) >= LARGE, 'its bytes are held');
  return socket;
}

function expectNoRoom(answer: Answer): void {
  expectProblem(answer, 503, 'unavailable');
  expect(answer.body).toMatchObject({ outcome: 'not_accepted', detail: expect.stringContaining('large bodies') });
  expect(answer.headers.get('retry-after')).toBe('1');
}

test('a batch for which there is no room is refused, and single events go on', async () => {
  const first = await begun(`${head([`Content-Length: ${LARGE}`])}{`);
  const staged = await weir.stagedEvents();
  expectNoRoom(await send(batchOf(LARGE)));
  expect(await weir.stagedEvents()).toBe(staged);
  expect((await track()).status).toBe(201);
  expect(await metric(/^weir_shed_requests_total\{reason="bodies"\} (\d+)$/m)).toBeGreaterThan(0);
  first.write(batchOf(LARGE).slice(1));
  expect(String(await once(first, 'data'))).toMatch(/^HTTP\/1\.1 201 /);
  await expectNothingHeld();
});

test('a client that sends all of such a batch is told so at its end, and can go on over its connection', async () => {
  await begun(`${head([`Content-Length: ${LARGE}`])}{`);
  const socket = connectTo(api.url);
  sockets.push(socket);
  const body = batchOf(LARGE);
  socket.pause();
  await new Promise<void>((resolve) => {
    socket.write(head([`Content-Length: ${body.length}`]) + body, () => resolve());
  });
  socket.resume();
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 503 /);
  socket.write('GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n');
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
});

test('a batch in chunks, which says nothing of its length, is counted as it comes', async () => {
  const first = await begun(head(['Transfer-Encoding: chunked']) + chunk(' '.repeat(LARGE)));
  const refused = await talk(
    api.url,
    `${head(['Transfer-Encoding: chunked', 'Connection: close'])}${chunk(' '.repeat(LARGE))}0\r\n\r\n`,
  );
  expectNoRoom(refused);
  const small = JSON.stringify({ events: [event()] });
  const taken = `${head(['Transfer-Encoding: chunked', 'Connection: close'])}${chunk(small)}0\r\n\r\n`;
  expect((await talk(api.url, taken)).status).toBe(201);
  first.write(`${chunk(JSON.stringify({ events: [event()] }))}0\r\n\r\n`);
  expect(String(await once(first, 'data'))).toMatch(/^HTTP\/1\.1 201 /);
});

test.each(['destroy', 'resetAndDestroy', 'end'] as const)(
  'what was sent of a batch is let go when its client leaves by %s',
  async (leave) => {
    const bodies = [
      `${head([`Content-Length: ${LARGE}`])}${' '.repeat(LARGE - 1)}`,
      head(['Transfer-Encoding: chunked']) + chunk(' '.repeat(LARGE)),
    ];
    for (const bytes of bodies) {
      const client = await begun(bytes);
      client[leave]();
      await expectNothingHeld();
    }
  },
);

test('batches that are sent over one connection without waiting for answers take no more room than others', async () => {
  const text = batchOf(LARGE);
  const one = `${head([`Content-Length: ${LARGE}`])}${text}`;
  const last = `${head([`Content-Length: ${LARGE}`, 'Connection: close'])}${text}`;
  const statuses = (await exchange(api.url, one.repeat(5) + last)).map(({ status }) => status);
  expect(statuses).toHaveLength(6);
  expect(statuses[0]).toBe(201);
  expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
});

test('one organization cannot take the room of the others, also not by bodies that never come', async () => {
  const roomy = await weir.startApi({
    BODIES_BYTES_MAX: String(2 * BYTES_MAX),
    BATCH_BODY_BYTES_MAX: String(BYTES_MAX),
    BODY_BYTES_MAX: String(BYTES_MAX),
  });
  const other = await signUp(weir);
  const theirs = { apiKey: await other.createKey(), token: (await other.createMeter('SUM')).token };
  const batch = (key: string, meterToken: string) =>
    weir.request('POST', '/api/v1/sdk/track/batch', {
      baseUrl: roomy.url,
      apiKey: key,
      raw: batchOf(LARGE).replace(token, meterToken),
    });
  const socket = connectTo(roomy.url);
  sockets.push(socket);
  socket.write(head([`Content-Length: ${LARGE}`]));
  await until(async () => (await batch(apiKey, token)).status === 503, 'one organization holds its share');
  expectNoRoom(await batch(apiKey, token));
  expect((await batch(theirs.apiKey, theirs.token)).status).toBe(201);
  socket.destroy();
  await roomy.close();
});

test('who is not known may send as much as a form has, and is not read any further', async () => {
  const login = (password: string) =>
    weir.request('POST', '/api/v1/auth/login', { baseUrl: api.url, body: { email: 'nobody@example.com', password } });
  expect((await login('wrong password')).status).toBe(401);
  expectProblem(await login('x'.repeat(20_000)), 413, 'payload_too_large');
  const chunked = head(['Transfer-Encoding: chunked', 'Connection: close'], '').replace(
    'sdk/track/batch',
    'auth/login',
  );
  expectProblem(await talk(api.url, `${chunked}${chunk('x'.repeat(20_000))}0\r\n\r\n`), 413, 'payload_too_large');
});
