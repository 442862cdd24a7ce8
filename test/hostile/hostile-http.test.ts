// Requests that are wrong before their body is looked at: headers, methods, paths, and what is no HTTP at all. Each gets
// its status and a problem document, keeps nothing, and leaves the process answering.

import { once } from 'node:events';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { rawRequests } from '../support/hostile/raw-requests.ts';
import { connectTo, exchange, talk as rawTalk } from '../support/raw-connection.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let apiKey: string;
let token: string;
/** Events that a test sees accepted, beside those that were staged before it. */
let accepted = 0;
let stagedBefore = 0;

beforeAll(async () => {
  admin = await signUp(weir);
  token = (await admin.createMeter('SUM')).token;
  apiKey = await admin.createKey();
});
beforeEach(async () => {
  accepted = 0;
  stagedBefore = await weir.stagedEvents();
});

const eventOf = (idempotencyKey?: string) => ({
  meter_token: token,
  customer_external_id: 'acme',
  quantity: 1,
  ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
});
const track = (body: unknown, headers: Record<string, string> = {}) =>
  weir.request('POST', '/api/v1/sdk/track', { apiKey, body, headers });

const talk = (bytes: string | Uint8Array, isLast = false) => rawTalk(weir.baseUrl, bytes, isLast);

/** The bytes of a track request with whatever header lines. */
function requestOf(lines: string[], body = JSON.stringify(eventOf())): string {
  const head = ['POST /api/v1/sdk/track HTTP/1.1', 'Host: weir', `X-API-Key: ${apiKey}`, ...lines];
  return `${head.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`;
}
const json = 'Content-Type: application/json';
const lengthOf = (body: string) => `Content-Length: ${Buffer.byteLength(body)}`;

/** Whatever came before: nothing of it was kept, and the next good event is taken. */
async function expectNothingKept(): Promise<void> {
  expect(await weir.stagedEvents()).toBe(stagedBefore + accepted);
  expect((await track(eventOf())).status).toBe(201);
  accepted += 1;
}
afterEach(expectNothingKept);

test('a body that does not say what it is is refused', async () => {
  const body = JSON.stringify(eventOf());
  expectProblem(await talk(requestOf([lengthOf(body)], body)), 415, 'unsupported_media_type');
});

test.each(['application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'Application/JSON'])(
  'a body of type %s is taken',
  async (contentType) => {
    expect(await track(eventOf(), { 'content-type': contentType })).toMatchObject({ status: 201 });
    accepted += 1;
  },
);

test('a request without a body is refused', async () => {
  const answer = await weir.request('POST', '/api/v1/sdk/track', { apiKey });
  expectProblem(answer, 422, 'invalid_request');
});

describe('the header Idempotency-Key', () => {
  const header = (key: string) => ({ 'idempotency-key': key });

  test('means the same as the field', async () => {
    const first = await track(eventOf(), header('one'));
    expect(first.status).toBe(201);
    accepted += 1;
    for (const again of [await track(eventOf(), header('one')), await track(eventOf('one'))]) {
      expectProblem(again, 409, 'duplicate_event');
      expect(again.body.id).toBe(first.body.id);
    }
    expectProblem(await track(eventOf('one'), header('one')), 409, 'duplicate_event');
  });

  test('in UTF-8 is the same key as in the body', async () => {
    expect((await track(eventOf('Grüße'))).status).toBe(201);
    accepted += 1;
    expectProblem(await track(eventOf(), header(Buffer.from('Grüße').toString('latin1'))), 409, 'duplicate_event');
  });

  test('may have as many characters as the field, however many bytes they take', async () => {
    const key = '👋'.repeat(255);
    expect((await track(eventOf(), header(Buffer.from(key).toString('latin1')))).status).toBe(201);
    accepted += 1;
    expectProblem(await track(eventOf(key)), 409, 'duplicate_event');
  });

  test('that contradicts the body is refused', async () => {
    expectProblem(await track(eventOf('a'), header('b')), 422, 'invalid_request');
  });

  test('that is empty, too long or not UTF-8 is refused', async () => {
    for (const key of ['', 'x'.repeat(256), 'Gr\u00fc\u00dfe'])
      expectProblem(await track(eventOf(), header(key)), 422, 'invalid_request');
  });

  test('that stands twice is refused, unless both say the same', async () => {
    const body = JSON.stringify(eventOf());
    const twice = (a: string, b: string) =>
      talk(requestOf([json, lengthOf(body), `Idempotency-Key: ${a}`, `Idempotency-Key: ${b}`], body));
    expectProblem(await twice('x', 'y'), 422, 'invalid_request');
    expect((await twice('z', 'z')).status).toBe(201);
    accepted += 1;
  });
});

test('two API keys in one request are not valid credentials', async () => {
  const body = JSON.stringify(eventOf());
  expectProblem(await talk(requestOf([json, lengthOf(body), `X-API-Key: ${apiKey}`], body)), 401, 'unauthenticated');
});

test('two headers Authorization in one request are refused, and none of them is taken', async () => {
  const body = JSON.stringify(eventOf());
  const headers = [json, lengthOf(body), `X-API-Key: ${apiKey}`, 'Authorization: Bearer a', 'Authorization: Bearer b'];
  expectProblem(await talk(requestOf(headers, body)), 400, 'malformed_request');
});

describe('a path that takes other methods is answered with 405, and with those it takes', () => {
  test.each([
    ['GET', '/api/v1/sdk/track', 'POST'],
    ['PUT', '/api/v1/sdk/track', 'POST'],
    ['DELETE', '/api/v1/sdk/track', 'POST'],
    ['OPTIONS', '/api/v1/sdk/track', 'POST'],
    ['PROPFIND', '/api/v1/sdk/track', 'POST'],
    ['PATCH', '/api/v1/sdk/track?x=1', 'POST'],
    ['GET', '/api/v1/sdk/track/batch', 'POST'],
    ['GET', '/api/v1/events/0198c0de-0000-7000-8000-000000000000/replay', 'POST'],
    ['POST', '/api/v1/events', 'GET, HEAD'],
    ['DELETE', '/healthz', 'GET, HEAD'],
  ])('%s %s', async (method, path, allow) => {
    const answer = await weir.request(method, path, { apiKey });
    expectProblem(answer, 405, 'method_not_allowed');
    expect((answer.headers.get('allow') ?? '').split(', ').sort().join(', ')).toBe(allow);
  });
});

test.each(['QUERY', 'SEARCH', 'PURGE', 'TRACE', 'LINK', 'M-SEARCH', 'PROPPATCH'])(
  'the method %s is refused, wherever it is sent and with a body or without one',
  async (method) => {
    for (const path of ['/healthz', '/api/v1/sdk/track', '/nowhere', '*']) {
      for (const rest of ['', `${json}\r\nContent-Length: 2\r\n`]) {
        const head = `${method} ${path} HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n${rest}\r\n`;
        const answer = await talk(rest === '' ? head : `${head}{}`);
        expect([404, 405, 415], `${method} ${path}`).toContain(answer.status);
        expectProblem(answer, answer.status, answer.body.code);
      }
    }
  },
);

describe('a path that leads nowhere is answered with 404', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/api'],
    ['GET', '/api/v1'],
    ['POST', '/api/v2/sdk/track'],
    ['POST', '/api/v1/sdk/track/'],
    ['POST', '/api/v1/sdk/Track'],
    ['POST', '//api/v1/sdk/track'],
    ['GET', '/api/v1/events/not-an-id'],
    ['GET', `/api/v1/events/${'x'.repeat(513)}`],
    ['GET', '/api/v1/events/..%2f..%2fhealthz'],
    ['GET', '/api/v1/events/00000000-0000-0000-0000-000000000000'],
  ])('%s %s', async (method, path) => {
    const answer = await weir.request(method, path, { apiKey });
    expectProblem(answer, 404, 'not_found');
  });
});

test('a path whose percent-encoding is broken is refused', async () => {
  expectProblem(await weir.request('GET', '/api/v1/events/%zz', { apiKey }), 400, 'malformed_request');
});

describe('what is no HTTP is answered with a problem document, and the connection closed', () => {
  test.each(rawRequests)('%s', async (_, bytes, status = 400, code = 'malformed_request') => {
    const answer = await talk(bytes(requestOf));
    expectProblem(answer, status, code);
    expect(answer.headers.get('connection')).toBe('close');
  });
});

test('a client that sends all of a body that is too large is told so at its end, and not cut off', async () => {
  const body = 'x'.repeat(20_000_000);
  const socket = connectTo(weir.baseUrl);
  socket.pause();
  const isSent = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.write(requestOf([json, lengthOf(body)], body).replace('Connection: close\r\n', ''), () => resolve());
  });
  await isSent;
  socket.resume();
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 [^]*"code":"payload_too_large"/);
  socket.destroy();
});

describe('a request that only reads', () => {
  const body = '{"search": "acme"}';
  const read = (lines: string[], sent: string, method = 'GET') =>
    `${method} /api/v1/customers HTTP/1.1\r\nHost: weir\r\nCookie: access_token=${admin.session}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${sent}`;
  const close = 'Connection: close';

  test.each([
    ['of a length', [json, lengthOf(body)], body],
    ['in chunks', ['Transfer-Encoding: chunked'], `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
  ])('is refused with a body %s, and the next one over its connection is served', async (_, lines, sent) => {
    const [refused, served, ...more] = await exchange(weir.baseUrl, read(lines, sent) + read([close], ''));
    if (refused === undefined) throw new Error('there was no answer');
    expectProblem(refused, 422, 'invalid_request');
    expect(refused.body.errors).toMatchObject([{ path: '' }]);
    expect([served?.status, more]).toEqual([200, []]);
    const head = await weir.request('HEAD', '/api/v1/customers', { session: admin.session, raw: body });
    expect(head.status).toBe(422);
  });

  test('may say that it has none', async () => {
    const answer = await talk(read([json, 'Content-Length: 0', close], ''));
    expect(answer.status).toBe(200);
  });

  test('is refused for who sends it before what is in it', async () => {
    const answer = await talk(read([json, lengthOf(body), close], body).replace(admin.session, 'nobody'));
    expectProblem(answer, 401, 'unauthenticated');
  });
});

test('the last of 2,500 headers counts as much as the first', async () => {
  const body = JSON.stringify(eventOf());
  const many = Array<string>(2_500).fill('a:b');
  const send = () => talk(requestOf([json, lengthOf(body), ...many, 'Idempotency-Key: last'], body));
  expect((await send()).status).toBe(201);
  accepted += 1;
  expectProblem(await send(), 409, 'duplicate_event');
});

test('the same request ten times over one connection, before there is any answer, is one event', async () => {
  const body = JSON.stringify(eventOf('pipelined'));
  const closing = requestOf([json, lengthOf(body)], body);
  const answers = await exchange(weir.baseUrl, closing.replace('Connection: close\r\n', '').repeat(9) + closing);
  expect(answers.map(({ status }) => status)).toEqual([201, ...Array<number>(9).fill(409)]);
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  accepted += 1;
});

test('a request that was refused before its body came gets no second answer when the body is broken', async () => {
  const head = requestOf([json, 'Transfer-Encoding: chunked']).split('\r\n\r\n')[0]?.replace(apiKey, 'nobody');
  expectProblem(await talk(`${head}\r\n\r\nzz\r\n{}\r\n`), 401, 'unauthenticated');
});

test('the answer to a body with 50,000 mistakes lists some of them, and is no larger than the body', async () => {
  const body = `{${Array.from({ length: 50_000 }, (_, index) => `"f${index}":1`).join()}}`;
  const answer = await track(JSON.parse(body));
  expectProblem(answer, 422, 'invalid_request');
  expect(JSON.stringify(answer.body).length).toBeLessThan(20_000);
});

test('a body that ends before its length is not an event', async () => {
  const body = JSON.stringify(eventOf());
  await talk(requestOf([json, lengthOf(`${body}  `)], body), true).catch(() => undefined);
  await expectNothingKept();
});

test('a body that is longer than its length is not an event', async () => {
  const body = JSON.stringify(eventOf());
  const answer = await talk(requestOf([json, lengthOf(body.slice(0, -1))], body));
  // Cut off it is no JSON, and what is left of it no request: whichever is noticed first.
  expect(['malformed_json', 'malformed_request']).toContain(answer.body.code);
  expectProblem(answer, 400, answer.body.code);
});

test('of bytes that are no HTTP behind a good request, only the request is answered, and the line closed', async () => {
  accepted = 1;
  const request = requestOf([json, lengthOf(JSON.stringify(eventOf()))]).replace('Connection: close\r\n', '');
  const answer = await talk(`${request}x`);
  expect(answer.status).toBe(201);
  await until(async () => (await weir.stagedEvents()) === stagedBefore + 1, 'the good event is staged');
});

test('a request that does not arrive in time is answered with 408, be it late with its headers or its body', async () => {
  const slow = await weir.startApi({ REQUEST_TIMEOUT_MS: '1000' });
  const late = (bytes: string) => rawTalk(slow.url, bytes);
  const answers = await Promise.all([
    late(''),
    late('POST'),
    late('POST /api/v1/sdk/track HTTP/1.1\r\n'),
    late(
      `POST /api/v1/sdk/track HTTP/1.1\r\nHost: weir\r\nX-API-Key: ${apiKey}\r\n${json}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n`,
    ),
    late('POST /api/v1/sdk/track HTTP/1.1\r\nHost: weir\r\n'),
    late(
      `POST /api/v1/sdk/track HTTP/1.1\r\nHost: weir\r\nX-API-Key: ${apiKey}\r\n${json}\r\nContent-Length: 50\r\n\r\n{`,
    ),
  ]);
  for (const answer of answers) expectProblem(answer, 408, 'request_timeout');
});
