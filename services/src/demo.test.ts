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
  customers: string[] = [];
  plans: { id: string; lookup_id: string; charges: object[] }[] = [];
  subscriptions: string[] = [];
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
      case 'POST /api/v1/customers':
        if (this.customers.includes(String(body.external_id))) return [409, {}];
        this.customers.push(String(body.external_id));
        return [201, {}];
      case 'GET /api/v1/plans?page_size=100':
        return [200, { data: this.plans }];
      case 'POST /api/v1/plans':
        this.plans.push({ id: 'plan-0', lookup_id: String(body.lookup_id), charges: [] });
        return [201, { id: 'plan-0' }];
      case 'GET /api/v1/plans/plan-0':
        return [200, this.plans[0] ?? {}];
      case 'POST /api/v1/plans/plan-0/charges':
        this.plans[0]?.charges.push(body);
        return [201, {}];
      case 'POST /api/v1/subscriptions':
        if (this.subscriptions.length > 0) return [409, { code: 'external_id_taken', id: 'subscription-0' }];
        this.subscriptions.push(`${body.customer_external_id} ${body.plan_id}`);
        return [201, { id: 'subscription-0' }];
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

test('the first run makes an organization with all it needs, and keeps the facts for the owner alone', async () => {
  const demo = await openDemo(file, baseUrl, silent);
  expect(demo?.meters.map((meter) => meter.aggregation_type)).toEqual(
    demoFeatures.map((feature) => feature.aggregation_type),
  );
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(demo);
  expect(demo).toMatchObject({ base_url: baseUrl, api_key: 'key-0', subscription_id: 'subscription-0' });
  expect(api.plans[0]?.charges).toMatchObject([{ type: 'FIXED' }, { type: 'USAGE', meter_id: 'meter-1' }]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a later run answers the same facts, with the address of that run, and makes nothing', async () => {
  const demo = await openDemo(file, baseUrl, silent);
  await writeFile(file, JSON.stringify({ ...demo, base_url: 'http://127.0.0.1:1' }));
  expect(await openDemo(file, baseUrl, silent)).toEqual(demo);
  expect(api.keys).toHaveLength(1);
  expect(api.features).toHaveLength(demoFeatures.length);
});

test.each([
  'POST /api/v1/auth/signup',
  'POST /api/v1/features',
  'POST /api/v1/plans/plan-0/charges',
  'POST /api/v1/subscriptions',
  'POST /api/v1/api-keys',
])('a first run cut short at %s is continued by the next', async (request) => {
  api.failing = request;
  await expect(openDemo(file, baseUrl, silent)).rejects.toThrow('answered 500');
  const begun = JSON.parse(await readFile(file, 'utf8')) as object;
  const demo = await openDemo(file, baseUrl, silent);
  expect(demo).toMatchObject({ ...begun, api_key: 'key-0' });
  expect(api.features).toHaveLength(demoFeatures.length);
  expect(api.plans.map(({ charges }) => charges.length)).toEqual([2]);
  expect(api.subscriptions).toEqual(['acme plan-0']);
});

test('a file that knows of no subscription gets one, and keeps its key', async () => {
  const { subscription_id, ...kept } = (await openDemo(file, baseUrl, silent)) ?? {};
  await writeFile(file, JSON.stringify(kept));
  expect(await openDemo(file, baseUrl, silent)).toEqual({ ...kept, subscription_id });
  expect(api.keys).toHaveLength(1);
});

test('where there is an organization already, nothing is added to it', async () => {
  api.accounts.set('owner@example.com', 'a password of the owner');
  const lines: string[] = [];
  expect(await openDemo(file, baseUrl, (line) => lines.push(line))).toBeUndefined();
  expect(api.features).toEqual([]);
  expect(lines.join()).toContain('not the demo');
  await expect(readFile(file)).rejects.toThrow('ENOENT');
});
