// Connections that ask again and again before they take an answer, and what is sent to everybody who asks for it.

import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { connectTo, exchange } from '../support/raw-connection.ts';
import { ownWeir } from '../support/use-weir.ts';

/** What one connection may have under way. */
const PER_CONNECTION = 10;

const requireOfApi = createRequire(new URL('../../apps/api/package.json', import.meta.url));
const SCALAR = readFileSync(
  join(dirname(requireOfApi.resolve('@scalar/fastify-api-reference')), 'js', 'standalone.js'),
);

const weir = ownWeir({ withWorker: false, api: { REQUESTS_IN_FLIGHT_MAX: String(PER_CONNECTION + 1) } });
let admin: Organization;

beforeAll(async () => {
  // One more than a connection may have.
  admin = await signUp(weir);
});

async function read(path: string, accepted?: string, method: 'GET' | 'HEAD' = 'GET') {
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
  const answer = await request(weir.baseUrl + path, { method, headers });
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) };
}
const metric = async (line: RegExp) => Number(line.exec((await read('/metrics')).body.toString())?.[1]);
const shed = () => metric(/^weir_shed_requests_total\{reason="requests"\} (\d+)$/m);
const slotsTaken = () => metric(/^weir_requests_in_flight (\d+)$/m);

describe('requests of one connection', () => {
  const own = () => `GET /api/v1/auth/me HTTP/1.1\r\nHost: weir\r\nCookie: access_token=${admin.session}\r\n`;
  const closing = 'Connection: close\r\n\r\n';

  test.each(['br', 'gzip', 'identity'])(
    'whose answers in %s nobody takes leave room for those of others',
    async (encoding) => {
      const before = await shed();
      const socket = connectTo(weir.baseUrl);
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {}).pause();
      await once(socket, 'connect');
      const ask = `GET /docs/assets/scalar.js HTTP/1.1\r\nHost: weir\r\nAccept-Encoding: ${encoding}\r\n\r\n`;
      socket.write(ask.repeat(200));
      await until(async () => (await shed()) > before, 'one of them is refused');
      expect(await slotsTaken()).toBeLessThanOrEqual(PER_CONNECTION);
      const other = await weir.request('GET', '/api/v1/auth/me', { session: admin.session });
      expect(other.status).toBe(200);
      socket.destroy();
      await until(async () => (await slotsTaken()) === 0, 'every slot is given back');
    },
  );

  test('are served up to ten at once, and more of them are refused', async () => {
    const answers = await exchange(weir.baseUrl, `${own()}\r\n`.repeat(PER_CONNECTION + 4) + own() + closing);
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array<number>(PER_CONNECTION).fill(200),
      ...Array<number>(5).fill(503),
    ]);
    for (const refused of answers.slice(PER_CONNECTION)) {
      expectProblem(refused, 503, 'unavailable');
      expect(refused.body.outcome).toBe('not_accepted');
    }
    expect(await slotsTaken()).toBe(0);
  });

  test('are all served where they track, and one behind them that does not is served too', async () => {
    const apiKey = await admin.createKey();
    const { token } = await admin.createMeter('SUM');
    const event = JSON.stringify({ meter_token: token, customer_external_id: 'acme', quantity: 1 });
    const track =
      `POST /api/v1/sdk/track HTTP/1.1\r\nHost: weir\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${event.length}\r\n\r\n${event}`;
    const answers = await exchange(weir.baseUrl, track.repeat(50) + own() + closing);
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(50).fill(201), 200]);
  });
});

describe('what is the same for everybody', () => {
  const embedFile = async (file: string) => {
    const version = /\/embed\/(\w+)\//.exec((await read('/embed')).body.toString())?.[1];
    return `/embed/${version}/${file}`;
  };
  const guides = readdirSync(new URL('../../docs/guides/', import.meta.url)).map((file) => file.replace('.md', ''));

  test.each<[string, () => string | Promise<string>]>([
    ['the reference', () => '/docs'],
    ['its script', () => '/docs/assets/scalar.js'],
    ['its style', () => '/docs/assets/reference.css'],
    ['the list of guides', () => '/docs/guides'],
    ['a guide', () => `/docs/guides/${guides[0]}`],
    ['the document of the API', () => '/openapi.json'],
    ['a file of the widget', () => embedFile('main.js')],
  ])('comes in what is asked for, and says the same: %s', async (_, pathOf) => {
    const path = await pathOf();
    const plain = await read(path);
    expect(plain.status).toBe(200);
    expect(plain.body.length).toBeGreaterThan(1_000);
    for (const [accepted, encoding, unfold] of [
      ['br', 'br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
      ['gzip, br', 'br', brotliDecompressSync],
      ['gzip;q=0, br;q=0', undefined, (body: Buffer) => body],
      [undefined, undefined, (body: Buffer) => body],
    ] as const) {
      const first = await read(path, accepted);
      expect(unfold(first.body).equals(plain.body)).toBe(true);
      expect((await read(path, accepted)).body.equals(first.body)).toBe(true);
      const head = await read(path, accepted, 'HEAD');
      expect(head.body.length).toBe(0);
      for (const { headers } of [first, head]) {
        expect(headers['content-encoding']).toBe(encoding);
        expect(headers['vary']).toBe('accept-encoding');
        // Known before it is sent: it was made as a whole.
        expect(headers['content-length']).toBe(String(first.body.length));
        expect(headers['content-type']).toBe(plain.headers['content-type']);
      }
    }
  });

  test('is the file that it was made of', async () => {
    const { body } = await read('/docs/assets/scalar.js', 'br');
    expect(brotliDecompressSync(body).equals(SCALAR)).toBe(true);
  });
});
