// What a client was told and what the log has of it are found by one id, and in the trace that the client names.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { spawnCaptured, type Captured } from '../support/captured.ts';
import { signUp, until, type Organization, type RequestOptions } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let api: Captured;
let admin: Organization;
let apiKey: string;
beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  api = await spawnCaptured('apps/api/dist/main.js', { ...weir.env, LOG_LEVEL: 'debug' });
});
afterAll(async () => {
  await api.stop();
});

const ask = (method: string, path: string, options: RequestOptions = {}) =>
  weir.request(method, path, { baseUrl: api.url, ...options });
const linesOf = (id: string): Record<string, unknown>[] =>
  api
    .output()
    .split('\n')
    .filter((line) => line.includes(id))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

test('the request_id of a refusal is that of its header and of one line at debug', async () => {
  const track = '/api/v1/sdk/track';
  const refusals = await Promise.all([
    ask('GET', '/api/v1/nothing'),
    ask('DELETE', '/api/v1/features'),
    ask('GET', '/api/v1/features'),
    ask('GET', '/api/v1/%ff'),
    ask('POST', track, { apiKey, body: {} }),
    ask('POST', track, { apiKey, raw: '{' }),
    ask('POST', track, { apiKey, body: { meter_token: 'none', customer_external_id: 'acme', quantity: 1 } }),
  ]);
  for (const { status, headers, body } of refusals) {
    expect(body.request_id).toMatch(UUID);
    expect(headers.get('x-request-id')).toBe(body.request_id);
    await until(() => linesOf(body.request_id).length > 0, `a line tells of ${body.code}`);
    expect(linesOf(body.request_id)).toMatchObject([
      { level: 20, request_id: body.request_id, status, code: body.code },
    ]);
  }
});

test('every answer has the id of its request, and each another one', async () => {
  const { token } = await admin.createMeter('SUM');
  const body = { meter_token: token, customer_external_id: 'acme', quantity: 1 };
  const answers = [
    await ask('POST', '/api/v1/sdk/track', { apiKey, body }),
    await ask('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events: [body, {}] } }),
    await ask('GET', '/api/v1/features', { session: admin.session }),
    await ask('POST', '/api/v1/auth/logout'),
    ...(await Promise.all(
      ['/healthz', '/metrics', '/docs', '/openapi.json', '/embed'].map((path) => ask('GET', path)),
    )),
  ];
  const ids = answers.map(({ headers }) => headers.get('x-request-id') ?? '');
  expect(ids.filter((id) => UUID.test(id))).toHaveLength(answers.length);
  expect(new Set(ids).size).toBe(answers.length);
  const [, batchId = ''] = ids;
  await until(() => linesOf(batchId).length > 0, 'a line tells of the batch');
  expect(linesOf(batchId)).toMatchObject([{ status: 207, refused: 1, codes: ['invalid_request'] }]);
});

test('an id that the client sends is neither given back nor logged', async () => {
  for (const sent of ['mine-4711', 'a"b{}', 'x'.repeat(5_000)]) {
    const { headers, body } = await ask('GET', '/api/v1/features', { headers: { 'x-request-id': sent } });
    expect(headers.get('x-request-id')).toMatch(UUID);
    expect(body.request_id).toMatch(UUID);
    await until(() => linesOf(body.request_id).length > 0, 'a line tells of the refusal');
    expect(api.output()).not.toContain(sent);
  }
});

test('a trace that the client names stands in the lines of its request, if it is one', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const lineOf = async (traceparent: string) => {
    const { body } = await ask('GET', '/api/v1/features', { headers: { traceparent } });
    await until(() => linesOf(body.request_id).length > 0, 'a line tells of the refusal');
    return linesOf(body.request_id)[0];
  };
  for (const version of ['00', 'cc'])
    expect(await lineOf(`${version}-${trace}-00f067aa0ba902b7-01`)).toMatchObject({ trace_id: trace });
  const invalid = [
    `ff-${trace}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${trace}-0000000000000000-01`,
    `00-${trace.toUpperCase()}-00f067aa0ba902b7-01`,
    `00-${trace}-00f067aa0ba902b7-01-more`,
    `00-${trace}","level":60,"x":"-01`,
    trace,
  ];
  for (const traceparent of invalid) expect(await lineOf(traceparent)).not.toHaveProperty('trace_id');
});
