// What is sent in gzip, also by those who want to do harm with it, and what is answered in gzip and brotli.

import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import type { RunningApi } from '@weir/api/serve';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { connectTo, talk } from '../support/raw-connection.ts';
import { ownWeir } from '../support/use-weir.ts';

const BODY_MAX = 100_000;
const BATCH_MAX = 300_000;

const weir = ownWeir({ withWorker: false });
let api: RunningApi;
let admin: Organization;
let apiKey: string;
let token: string;

beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  token = (await admin.createMeter('SUM')).token;
  api = await weir.startApi({
    BODY_BYTES_MAX: String(BODY_MAX),
    BATCH_BODY_BYTES_MAX: String(BATCH_MAX),
    BODIES_BYTES_MAX: String(BATCH_MAX),
  });
});

const event = () => ({ meter_token: token, customer_external_id: 'acme', quantity: 1 });
const send = (path: string, raw: Uint8Array | string, headers: Record<string, string> = {}): Promise<Answer> =>
  weir.request('POST', `/api/v1${path}`, {
    baseUrl: api.url,
    apiKey,
    session: admin.session,
    raw,
    headers: { 'content-encoding': 'gzip', ...headers },
  });
const batchOf = (events: number, padding = 0) =>
  JSON.stringify({ events: Array.from({ length: events }, event) }) + ' '.repeat(padding);
const held = async (): Promise<number> => {
  const { body } = await weir.request('GET', '/metrics', { baseUrl: api.url });
  return Number(/^weir_bodies_bytes (\d+)$/m.exec(body)?.[1]);
};

/** The bytes with one of them changed. */
const withByte = (bytes: Uint8Array, at: number) => bytes.with(at, (bytes.at(at) ?? 0) ^ 1);

describe('a body in gzip', () => {
  test('is taken by tracking, by batches and by every other operation', async () => {
    const staged = await weir.stagedEvents();
    expect((await send('/sdk/track', gzipSync(JSON.stringify(event())))).status).toBe(201);
    const batch = await send('/sdk/track/batch', gzipSync(batchOf(200)));
    expect([batch.status, batch.body.data.length]).toEqual([201, 200]);
    expect(await weir.stagedEvents()).toBe(staged + 201);
    const customer = gzipSync(JSON.stringify({ external_id: 'in-gzip' }));
    expect((await send('/customers', customer, { 'content-encoding': 'GZIP' })).status).toBe(201);
    // Without a length.
    const head =
      `POST /api/v1/sdk/track HTTP/1.1\r\nHost: weir\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\n` +
      'Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
    const body = gzipSync(JSON.stringify(event())).toString('latin1');
    const chunked = `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    expect((await talk(api.url, Buffer.from(chunked, 'latin1'))).status).toBe(201);
  });

  test('keeps all digits and is judged like any other', async () => {
    const raw = `{"meter_token":"${token}","customer_external_id":"acme","quantity":0.10000000000000000001,"nmae":1}`;
    expectProblem(await send('/sdk/track', gzipSync(raw)), 422, 'invalid_request');
    expectProblem(await send('/sdk/track', gzipSync('{"quantity":')), 400, 'malformed_json');
  });

  test('of which a few bytes stand for a gigabyte is refused unread, and the connection goes on', async () => {
    // A gzip of gzips is the same member again and again.
    const bomb = Buffer.concat(Array<Buffer>(64).fill(gzipSync(Buffer.alloc(16 * 1_048_576))));
    expect(bomb.length).toBeLessThan(2_000_000);
    const before = process.memoryUsage().rss;
    for (const [path, max] of [
      ['/sdk/track', BODY_MAX],
      ['/customers', BODY_MAX],
    ] as const) {
      const small = bomb.subarray(0, max - 1);
      expectProblem(await send(path, small), 413, 'payload_too_large');
    }
    const whole = bomb.subarray(0, BATCH_MAX - 1);
    const answer = await send('/sdk/track/batch', whole);
    expectProblem(answer, 413, 'payload_too_large');
    expect(answer.body.detail).toContain(String(BATCH_MAX));
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    await until(async () => (await held()) === 0, 'no byte is held', 10);
    expect((await send('/sdk/track/batch', gzipSync(batchOf(3)))).status).toBe(201);
  });

  test('is counted by what it unfolds to: the largest is taken, and one byte more is not', async () => {
    const metadata = { note: 'x'.repeat(800) };
    const text = JSON.stringify({ events: Array.from({ length: 280 }, () => ({ ...event(), metadata })) });
    expect(text.length).toBeGreaterThan(BATCH_MAX - BODY_MAX);
    const largest = gzipSync(text + ' '.repeat(BATCH_MAX - text.length));
    expect((await send('/sdk/track/batch', largest)).status).toBe(201);
    const more = gzipSync(text + ' '.repeat(BATCH_MAX - text.length + 1));
    expectProblem(await send('/sdk/track/batch', more), 413, 'payload_too_large');
  });

  test('of a stranger may unfold to no more than a form has', async () => {
    const login = (password: string) =>
      weir.request('POST', '/api/v1/auth/login', {
        baseUrl: api.url,
        raw: gzipSync(JSON.stringify({ email: 'nobody@example.com', password })),
        headers: { 'content-encoding': 'gzip' },
      });
    expect((await login('wrong password')).status).toBe(401);
    expectProblem(await login('x'.repeat(20_000)), 413, 'payload_too_large');
  });

  test.each<[string, () => Uint8Array | string]>([
    ['is no gzip', () => JSON.stringify(event())],
    ['is cut', () => gzipSync(batchOf(50)).subarray(0, -9)],
    ['has no checksum that fits', () => withByte(gzipSync(batchOf(50)), -6)],
    ['is nothing but a header', () => gzipSync('').subarray(0, 10)],
    ['is one bit away from gzip', () => withByte(gzipSync(batchOf(50)), 40)],
  ])('that %s is refused, and nothing of it is kept', async (_, spoil) => {
    const staged = await weir.stagedEvents();
    expectProblem(await send('/sdk/track/batch', spoil()), 400, 'malformed_json');
    expect(await weir.stagedEvents()).toBe(staged);
    expect(await held()).toBe(0);
  });

  test.each(['br', 'deflate', 'gzip, gzip', 'x-gzip', 'compress', ''])(
    'in another encoding, such as %j, is refused',
    async (encoding) => {
      const answer = await send('/sdk/track', gzipSync(JSON.stringify(event())), { 'content-encoding': encoding });
      expect([400, 415]).toContain(answer.status);
    },
  );

  test('of a client that leaves in the middle is let go', async () => {
    const body = gzipSync(
      Buffer.from(batchOf(10, BATCH_MAX / 2).replaceAll(' ', () => ' \t\n\r'[Math.floor(Math.random() * 4)] ?? ' ')),
    );
    const socket = connectTo(api.url);
    socket.on('error', () => {});
    socket.write(
      `POST /api/v1/sdk/track/batch HTTP/1.1\r\nHost: weir\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\n` +
        `Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body.subarray(0, -100));
    await until(async () => (await held()) > 0, 'its bytes are held');
    socket.destroy();
    await until(async () => (await held()) === 0, 'they are let go', 10);
    expect((await send('/sdk/track/batch', gzipSync(batchOf(3)))).status).toBe(201);
  });
});

describe('an answer', () => {
  const read = async (path: string, encoding: string, options: { method?: string; body?: string } = {}) => {
    const { method = 'GET', body = '' } = options;
    const head =
      `${method} ${path} HTTP/1.1\r\nHost: weir\r\nCookie: access_token=${admin.session}\r\nAccept-Encoding: ${encoding}\r\n` +
      `${body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`}Connection: close\r\n\r\n`;
    const chunks: Buffer[] = [];
    const socket = connectTo(api.url);
    socket.write(head + body);
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf('\r\n\r\n');
    const headers = whole.subarray(0, end).toString('latin1').toLowerCase();
    const rest = whole.subarray(end + 4);
    return { headers, body: /transfer-encoding: chunked/.test(headers) ? unchunked(rest) : rest };
  };
  const unchunked = (bytes: Buffer): Buffer => {
    const parts: Buffer[] = [];
    for (let at = 0; ;) {
      const line = bytes.indexOf('\r\n', at);
      const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
      if (size === 0) return Buffer.concat(parts);
      parts.push(bytes.subarray(line + 2, line + 2 + size));
      at = line + 2 + size + 2;
    }
  };

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('that is long comes in %s to who asks for it, and says the same', async (encoding, unfold) => {
    const plain = await read('/openapi.json', 'identity');
    expect(plain.headers).not.toContain('content-encoding');
    const packed = await read('/openapi.json', encoding);
    expect(packed.headers).toContain(`content-encoding: ${encoding}`);
    expect(packed.headers).toContain('vary: accept-encoding');
    expect(packed.body.length).toBeLessThan(plain.body.length / 8);
    expect(unfold(packed.body).equals(plain.body)).toBe(true);
    const chart = '/api/v1/features?search=';
    for (let made = 0; made < 4; made += 1) await admin.createMeter('SUM');
    const list = await read(chart, `${encoding}, identity;q=0.1`);
    expect(list.headers).toContain(`content-encoding: ${encoding}`);
    expect(JSON.parse(unfold(list.body).toString()).data.length).toBeGreaterThan(4);
  });

  test('that is short comes as it is', async () => {
    expect((await read('/api/v1/auth/me', 'br, gzip')).headers).not.toContain('content-encoding');
  });

  test('to tracking, and one that may hold a secret, comes as it is', async () => {
    const name = 'x'.repeat(200);
    const body = JSON.stringify({ name, scopes: ['usage.read'] });
    const created = await read('/api/v1/api-keys', 'br, gzip', { method: 'POST', body });
    expect(created.headers).not.toContain('content-encoding');
    const long = JSON.stringify({ external_id: 'long', metadata: { note: 'x'.repeat(4_000) } });
    const customer = await read('/api/v1/customers', 'br, gzip', { method: 'POST', body: long });
    expect(customer.body.length).toBeGreaterThan(4_000);
    expect(customer.headers).not.toContain('content-encoding');
    const batch = await weir.request('POST', '/api/v1/sdk/track/batch', {
      baseUrl: api.url,
      apiKey,
      raw: batchOf(100),
      headers: { 'accept-encoding': 'gzip' },
    });
    expect([batch.status, batch.headers.get('content-encoding')]).toEqual([201, null]);
  });

  test('to HEAD has no body, whatever it would come in', async () => {
    const { headers, body } = await read('/openapi.json', 'br', { method: 'HEAD' });
    expect(headers).toContain('200 ok');
    expect(body.length).toBe(0);
  });
});
