import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { demoFeatures, openDemo } from './demo.ts';

/** As much of the API as the demo asks for. */
class FakeApi {
  accounts = new Map<string, string>();
  keys: string[] = [];
  features: Record<string, unknown>[] = [];
  /** Answers 500 once to the first request for this. */
  failing = '';

  answer(request: string, headers: IncomingMessage['headers'], body: Record<string, string>): [number, object] {
    if (this.failing === request) {
      this.failing = '';
      return [500, {}];
    }
    const isSignedIn = headers.cookie === 'access_token=token' || this.keys.includes(String(headers['x-api-key']));
    switch (request) {
      case 'POST /api/v1/auth/login':
        return [this.accounts.get(String(body.email)) === body.password ? 200 : 401, {}];
      case 'POST /api/v1/auth/signup':
        if (this.accounts.size > 0) return [403, {}];
        this.accounts.set(String(body.email), String(body.password));
        return [201, {}];
      case 'GET /api/v1/features':
        return isSignedIn ? [200, { data: this.features }] : [401, {}];
      case 'POST /api/v1/features': {
        const n = this.features.length;
        this.features.push({ ...body, meter_id: `meter-${n}`, meter_token: `token-${n}` });
        return [201, this.features[n] ?? {}];
      }
      case 'POST /api/v1/api-keys':
        this.keys.push(`key-${this.keys.length}`);
        return [201, { key: this.keys.at(-1) }];
      default:
        return [404, {}];
    }
  }
}

let api: FakeApi;
let server: Server;
let folder: string;
let file: string;
let baseUrl: string;
const silent = (): void => {};

beforeEach(async () => {
  api = new FakeApi();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const [status, answer] = api.answer(
      `${request.method} ${request.url}`,
      request.headers,
      body === '' ? {} : (JSON.parse(body) as Record<string, string>),
    );
    response.writeHead(status, { 'content-type': 'application/json', 'set-cookie': 'access_token=token; Path=/' });
    response.end(JSON.stringify(answer));
  };
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = await mkdtemp(join(tmpdir(), 'weir-demo-'));
  file = join(folder, 'demo.json');
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

test('the first run makes an organization with a key and a meter of every kind, and keeps the facts for the owner alone', async () => {
  const demo = await openDemo(file, baseUrl, silent);
  expect(demo?.meters.map((meter) => meter.aggregation_type)).toEqual(
    demoFeatures.map((feature) => feature.aggregation_type),
  );
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(demo);
  expect(demo).toMatchObject({ base_url: baseUrl, api_key: 'key-0' });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a later run answers the same facts, with the address of that run, and makes nothing', async () => {
  const demo = await openDemo(file, baseUrl, silent);
  await writeFile(file, JSON.stringify({ ...demo, base_url: 'http://127.0.0.1:1' }));
  expect(await openDemo(file, baseUrl, silent)).toEqual(demo);
  expect(api.keys).toHaveLength(1);
  expect(api.features).toHaveLength(demoFeatures.length);
});

test.each(['POST /api/v1/auth/signup', 'POST /api/v1/features', 'POST /api/v1/api-keys'])(
  'a first run cut short at %s is continued by the next',
  async (request) => {
    api.failing = request;
    await expect(openDemo(file, baseUrl, silent)).rejects.toThrow('answered 500');
    const begun = JSON.parse(await readFile(file, 'utf8')) as object;
    const demo = await openDemo(file, baseUrl, silent);
    expect(demo).toMatchObject({ ...begun, api_key: 'key-0' });
    expect(api.features).toHaveLength(demoFeatures.length);
  },
);

test('where there is an organization already, nothing is added to it', async () => {
  api.accounts.set('owner@example.com', 'a password of the owner');
  const lines: string[] = [];
  expect(await openDemo(file, baseUrl, (line) => lines.push(line))).toBeUndefined();
  expect(api.features).toEqual([]);
  expect(lines.join()).toContain('not the demo');
  await expect(readFile(file)).rejects.toThrow('ENOENT');
});
