import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DemoPlace, demoFeatures, openDemo } from './demo.ts';

/** As much of the API as the demo asks for. */
class FakeApi {
  accounts = new Map<string, string>();
  keys: string[] = [];
  features: Record<string, unknown>[] = [];
  customers: string[] = [];
  plans: { id: string; lookup_id: string; charges: object[] }[] = [];
  subscriptions: string[] = [];
  signup = 'first';
  logins = 0;
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
        this.logins += 1;
        return [this.accounts.get(String(body.email)) === body.password ? 200 : 401, {}];
      case 'POST /api/v1/auth/signup':
        if (this.signup !== 'open' && (this.signup === 'closed' || this.accounts.size > 0)) return [403, {}];
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
let place: DemoPlace;
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
  place = { file, baseUrl, signup: 'first' };
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

test('the first run makes an organization with all it needs, and keeps the facts for the owner alone', async () => {
  const demo = await openDemo(place, silent);
  expect(demo?.meters.map((meter) => meter.aggregation_type)).toEqual(
    demoFeatures.map((feature) => feature.aggregation_type),
  );
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(demo);
  expect(demo).toMatchObject({ base_url: baseUrl, api_key: 'key-0', subscription_id: 'subscription-0' });
  expect(api.plans[0]?.charges).toMatchObject([{ type: 'FIXED' }, { type: 'USAGE', meter_id: 'meter-1' }]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a later run answers the same facts, with the address of that run, and makes nothing', async () => {
  const demo = await openDemo(place, silent);
  await writeFile(file, JSON.stringify({ ...demo, base_url: 'http://127.0.0.1:1' }));
  expect(await openDemo(place, silent)).toEqual(demo);
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
  await expect(openDemo(place, silent)).rejects.toThrow('answered 500');
  const begun = JSON.parse(await readFile(file, 'utf8')) as object;
  const demo = await openDemo(place, silent);
  expect(demo).toMatchObject({ ...begun, api_key: 'key-0' });
  expect(api.features).toHaveLength(demoFeatures.length);
  expect(api.plans.map(({ charges }) => charges.length)).toEqual([2]);
  expect(api.subscriptions).toEqual(['acme plan-0']);
});

test('a file that knows of no subscription gets one, and keeps its key', async () => {
  const { subscription_id, ...kept } = (await openDemo(place, silent)) ?? {};
  await writeFile(file, JSON.stringify(kept));
  expect(await openDemo(place, silent)).toEqual({ ...kept, subscription_id });
  expect(api.keys).toHaveLength(1);
});

test('where there is an organization, nothing is added to it at any start, and no password is tried', async () => {
  api.accounts.set('owner@example.com', 'a password of the owner');
  const lines: string[] = [];
  for (let start = 0; start < 2; start += 1) expect(await openDemo(place, (line) => lines.push(line))).toBeUndefined();
  expect([api.features, api.logins]).toEqual([[], 0]);
  expect(lines).toEqual([expect.stringContaining('not the demo'), lines[0]]);
  expect(await readdir(folder)).toEqual([]);
});

test('facts of another database are put away, and the organization there gets nothing', async () => {
  await openDemo(place, silent);
  api = new FakeApi();
  api.accounts.set('owner@example.com', 'a password of the owner');
  expect(await openDemo(place, silent)).toBeUndefined();
  expect(api.features).toEqual([]);
  expect(await readdir(folder)).toEqual(['demo.json.old']);
});

test.each(['open', 'closed'])(
  'with SIGNUP=%s no demo is made, which is said, and one that is there is used',
  async (signup) => {
    api.signup = signup;
    const lines: string[] = [];
    expect(await openDemo({ ...place, signup }, (line) => lines.push(line))).toBeUndefined();
    expect(api.accounts.size).toBe(0);
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^No demo is made with SIGNUP=${signup}, .*SIGNUP=first`)),
    ]);
    api.signup = 'first';
    const { api_key: _, ...begun } = (await openDemo(place, silent)) ?? {};
    await writeFile(file, JSON.stringify(begun));
    api.signup = signup;
    expect(await openDemo({ ...place, signup }, silent)).toMatchObject(begun);
  },
);
