import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WeirClient, type WeirClientOptions } from './client.ts';
import { WeirError } from './error.ts';

interface Received {
  url: string;
  headers: IncomingMessage['headers'];
  text: string;
}
type Reply = (response: ServerResponse, received: Received) => void;

let server: Server;
let received: Received[];
let replies: Reply[];

beforeEach(async () => {
  received = [];
  replies = [];
  server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const entry = { url: request.url ?? '', headers: request.headers, text };
      received.push(entry);
      (replies.shift() ?? json(500, { code: 'no_reply_planned' }))(response, entry);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const event = { meter_token: 'tokens', customer_external_id: 'acme', quantity: 3 };

function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => response.writeHead(status, headers).end(JSON.stringify(body));
}

function client(options: Partial<WeirClientOptions> = {}): WeirClient {
  const { port } = server.address() as AddressInfo;
  return new WeirClient({ baseUrl: `http://127.0.0.1:${port}/`, apiKey: 'org_live_x', ...options });
}

function key(entry: Received | undefined): string {
  return JSON.parse(entry?.text ?? '{}').idempotency_key;
}

async function failure(promise: Promise<unknown>): Promise<WeirError> {
  const error = await promise.catch((reason: unknown) => reason);
  if (error instanceof WeirError) return error;
  throw new Error('expected a WeirError', { cause: error });
}

describe('track', () => {
  test('sends the event with the key of the client and a new idempotency key', async () => {
    replies = [json(201, { id: 'e1' })];
    await expect(client().track(event)).resolves.toEqual({ id: 'e1', duplicate: false });
    expect(received[0]).toMatchObject({
      url: '/api/v1/sdk/track',
      headers: { 'x-api-key': 'org_live_x', 'content-type': 'application/json' },
    });
    expect(key(received[0])).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('sends a decimal literal digit for digit', async () => {
    replies = [json(201, { id: 'e1' })];
    await client().track({ ...event, quantity: '0.1234567890123456789' });
    expect(received[0]?.text).toContain('"quantity":0.1234567890123456789}');
  });

  test('refuses a quantity that is no JSON number, before sending anything', async () => {
    for (const quantity of ['abc', '', '1,5', '.5', '1}', NaN, Infinity]) {
      await expect(client().track({ ...event, quantity })).rejects.toThrow(RangeError);
    }
    expect(received).toHaveLength(0);
  });

  test('a 503 is repeated with the same key', async () => {
    replies = [json(503, { code: 'unavailable' }), json(201, { id: 'e1' })];
    await expect(client().track(event)).resolves.toEqual({ id: 'e1', duplicate: false });
    expect(key(received[1])).toBe(key(received[0]));
  });

  test('an event that was accepted before counts as done and has the first id', async () => {
    replies = [json(409, { code: 'duplicate_event', detail: 'Already accepted', id: 'first' })];
    await expect(client().track(event)).resolves.toEqual({ id: 'first', duplicate: true });
  });

  test('waits at least as long as Retry-After says', async () => {
    replies = [json(429, {}, { 'retry-after': '1' }), json(201, { id: 'e1' })];
    const waits: number[] = [];
    const started = performance.now();
    await client({ onRetry: (_error, delayMs) => waits.push(delayMs) }).track(event);
    expect(waits).toEqual([1000]);
    expect(performance.now() - started).toBeGreaterThan(990);
  });

  test('gives a Retry-After of more than a minute back to the caller', async () => {
    replies = [json(503, { code: 'maintenance' }, { 'retry-after': '3600' })];
    const error = await failure(client().track(event));
    expect(error).toMatchObject({ code: 'maintenance', retryAfterMs: 3_600_000, transient: true });
  });

  test('an attempt without an answer ends at the time limit and is repeated', async () => {
    replies = [() => undefined, json(201, { id: 'e1' })];
    const errors: WeirError[] = [];
    await client({ timeoutMs: 1_000, onRetry: (error) => errors.push(error) }).track(event);
    expect(errors).toMatchObject([{ status: 0, code: 'timeout' }]);
    expect(key(received[1])).toBe(key(received[0]));
  });

  test('an answer that stops halfway ends at the time limit too', async () => {
    replies = [(response) => response.writeHead(201).write('{"id"'), json(409, { code: 'duplicate_event', id: 'e1' })];
    await expect(client({ timeoutMs: 1_000 }).track(event)).resolves.toEqual({
      id: 'e1',
      duplicate: true,
    });
  });

  test('a broken connection and an unreadable success are repeated', async () => {
    replies = [
      (response) => response.socket?.destroy(),
      (response) => response.writeHead(201).end('<html>'),
      json(201, { id: 'e1' }),
    ];
    await expect(client().track(event)).resolves.toEqual({ id: 'e1', duplicate: false });
  });

  test('a refusal is not repeated and says what, why and where to look', async () => {
    replies = [json(422, { code: 'invalid', detail: 'quantity must be more than 0', request_id: 'r1' })];
    const error = await failure(client().track({ ...event, quantity: 0, idempotency_key: 'k1' }));
    expect(error).toMatchObject({
      status: 422,
      code: 'invalid',
      detail: 'quantity must be more than 0',
      requestId: 'r1',
      transient: false,
      idempotencyKeys: ['k1'],
    });
    expect(received).toHaveLength(1);
  });

  test('the key does not follow a redirect', async () => {
    replies = [json(307, {}, { location: 'http://127.0.0.1:9/elsewhere' })];
    await expect(failure(client().track(event))).resolves.toMatchObject({
      status: 307,
      code: 'http_307',
    });
  });

  test('after the last retry the error carries the generated key, so that sending again is safe', async () => {
    replies = [json(503, {}), json(503, {})];
    const error = await failure(client({ retries: 1 }).track(event));
    expect(error).toMatchObject({ status: 503, idempotencyKeys: [key(received[0])] });
    expect(received).toHaveLength(2);
  });

  test('says what failed when nothing listens', async () => {
    const orphan = client({ retries: 0 });
    await new Promise((resolve) => server.close(resolve));
    const error = await failure(orphan.track(event));
    expect(error).toMatchObject({ status: 0, code: 'network_error', transient: true });
    expect(error.detail).toMatch(/^Cannot reach http:.*ECONNREFUSED/);
  });

  test('a signal ends the call with its reason, in an attempt and between attempts', async () => {
    const during = new AbortController();
    replies = [() => during.abort('enough')];
    await expect(client().track(event, { signal: during.signal })).rejects.toBe('enough');

    const between = new AbortController();
    replies = [json(503, {}, { 'retry-after': '50' })];
    const onRetry = () => between.abort('enough');
    await expect(client({ onRetry }).track(event, { signal: between.signal })).rejects.toBe('enough');
  });
});

describe('trackBatch', () => {
  const events = ['a', 'b', 'c', 'd'].map((idempotency_key) => ({ ...event, idempotency_key }));
  const sentKeys = () =>
    received.map(({ text }) =>
      JSON.parse(text).events.map((item: { idempotency_key: string }) => item.idempotency_key),
    );

  test('sends only the events again that the service could not take, and keeps the order', async () => {
    const items = [
      { status: 201, id: '1' },
      { status: 503, code: 'unavailable', detail: 'later' },
      { status: 422, code: 'invalid', detail: 'no' },
      { status: 503, code: 'unavailable', detail: 'later' },
    ];
    replies = [
      json(207, { data: items }),
      json(207, {
        data: [
          { status: 409, code: 'duplicate_event', id: '2' },
          { status: 201, id: '4' },
        ],
      }),
    ];
    const outcomes = await client().trackBatch(events);
    expect(outcomes).toMatchObject([
      { id: '1', duplicate: false },
      { id: '2', duplicate: true },
      { error: { status: 422, detail: 'no', idempotencyKeys: ['c'] } },
      { id: '4', duplicate: false },
    ]);
    expect(sentKeys()).toEqual([
      ['a', 'b', 'c', 'd'],
      ['b', 'd'],
    ]);
  });

  test('events that stay refused for now have their error after the last retry', async () => {
    replies = [json(207, { data: events.map(() => ({ status: 503, code: 'unavailable' })) }), json(503, {})];
    const outcomes = await client({ retries: 1 }).trackBatch(events);
    expect(outcomes).toMatchObject(events.map(() => ({ error: { code: 'unavailable', transient: true } })));
  });

  test('rejects when the request fails as a whole', async () => {
    replies = [json(401, { code: 'unauthorized', detail: 'This key is not valid' })];
    const error = await failure(client().trackBatch(events));
    expect(error).toMatchObject({ status: 401, idempotencyKeys: ['a', 'b', 'c', 'd'] });
  });

  test('an event that a proxy refuses, or that was not tried then, has an error with its own key', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const sevenEvents = names.map((idempotency_key) => ({ ...event, idempotency_key }));
    let isRefused = (text: string) => /"idempotency_key":"[bcd]"/.test(text);
    const answer: Reply = (response, { text }) => {
      if (isRefused(text)) return response.writeHead(403).end('<html>attack</html>');
      return response.writeHead(201).end(JSON.stringify({ data: [{ status: 201, id: 'x' }] }));
    };
    replies = Array.from({ length: 20 }, () => answer);
    const outcomes = await client().trackBatch(sevenEvents);
    // Of those behind, the last one is tried.
    for (const outcome of [outcomes[0], outcomes.at(-1)]) expect(outcome).toMatchObject({ id: 'x' });
    const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
    expect(errors.map(({ idempotencyKeys }) => idempotencyKeys)).toEqual(names.slice(1, -1).map((name) => [name]));
    expect(errors.map(({ transient }) => transient)).toEqual([false, false, false, true, true]);

    isRefused = () => true;
    const { idempotencyKeys } = await failure(client().trackBatch(sevenEvents));
    expect(idempotencyKeys).toEqual(names);
  });

  test('does not believe an answer that leaves events out', async () => {
    replies = [json(201, { data: [{ status: 201, id: '1' }] })];
    const error = await failure(client({ retries: 0 }).trackBatch(events));
    expect(error).toMatchObject({ code: 'bad_response', transient: true });
  });
});

describe('widgetToken', () => {
  const token = { token: 'wgt_x', expires_at: '2026-11-20T10:30:00.000Z' };
  const keys = () => received.map(({ headers }) => headers['idempotency-key']);

  test('is one write however often it is sent, and the next call is another', async () => {
    const underWay = json(409, { code: 'request_under_way' }, { 'retry-after': '0' });
    replies = [(response) => response.socket?.destroy(), underWay, json(201, token), json(201, token)];
    const weir = client();
    await expect(weir.widgetToken('acme')).resolves.toEqual(token);
    await weir.widgetToken('acme');
    const [first, second, third, other] = keys();
    expect([second, third]).toEqual([first, first]);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(other).not.toBe(first);
  });

  test('makes another one where the answer with the first got lost, since a secret is shown once', async () => {
    const withheld = json(201, { ...token, token: null }, { 'idempotent-replay': 'true' });
    replies = [(response) => response.socket?.destroy(), withheld, json(201, token)];
    await expect(client().widgetToken('acme')).resolves.toEqual(token);
    const [first, second, third] = keys();
    expect([second === first, third === first]).toEqual([true, false]);

    replies = [withheld, withheld, withheld];
    await expect(failure(client().widgetToken('acme'))).resolves.toMatchObject({
      code: 'secret_lost',
      transient: true,
    });
  });

  test('no event and no read has such a header: an event has its key in itself', async () => {
    received = [];
    replies = [
      json(201, { id: 'e1' }),
      json(201, { data: [{ status: 201, id: 'e1' }] }),
      json(200, { total_usage: '1' }),
    ];
    const weir = client();
    await weir.track(event);
    await weir.trackBatch([event]);
    await weir.usage({ meter_token: 'tokens' });
    expect(keys()).toEqual([undefined, undefined, undefined]);
  });
});

describe('a service token', () => {
  const open = (options: Partial<WeirClientOptions> = {}) =>
    client({ apiKey: undefined, serviceToken: 'org_svc_x', ...options });
  const sent = () => received.map(({ headers }) => [headers.authorization, headers['x-api-key']]);

  test('opens requests and reads, and beside it an API key opens events and widget tokens', async () => {
    replies = [json(200, { data: [] }), json(201, { id: 'e1' }), json(201, { token: 'wgt_x', expires_at: 'x' })];
    const both = open({ apiKey: 'org_live_x' });
    await both.customers();
    await both.track(event);
    await both.widgetToken('acme');
    expect(sent()).toEqual([
      ['Bearer org_svc_x', undefined],
      [undefined, 'org_live_x'],
      [undefined, 'org_live_x'],
    ]);
  });

  test('makes any request, with one key in all of its attempts and what is answered in return', async () => {
    replies = [json(503, { code: 'unavailable' }), json(201, { id: 'c1' }), json(200, { data: [] }), json(204, null)];
    const weir = open();
    expect(await weir.request('POST', '/customers', { body: { name: 'Ada' } })).toEqual({ id: 'c1' });
    await weir.request('GET', '/invoices', { query: { status: 'OPEN', page: 2 } });
    expect(await weir.request('DELETE', '/customers/c1', { idempotencyKey: 'mine' })).toEqual({});
    expect(received.map(({ url, text }) => [url, text])).toEqual([
      ['/api/v1/customers', '{"name":"Ada"}'],
      ['/api/v1/customers', '{"name":"Ada"}'],
      ['/api/v1/invoices?status=OPEN&page=2', ''],
      ['/api/v1/customers/c1', ''],
    ]);
    const [first, again, read, deletion] = received.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect([again, read, deletion]).toEqual([first, undefined, 'mine']);
    expect(new Set(sent().flat())).toEqual(new Set(['Bearer org_svc_x', undefined]));
  });

  test('tells of a write what became of all its attempts, and by which key it is settled', async () => {
    const [shed, doubtful] = ['not_accepted', 'unknown'].map((outcome) => json(503, { code: 'unavailable', outcome }));
    const cut: Reply = (response) => response.destroy();
    const limited = json(429, { code: 'rate_limited' });
    for (const [attempts, told] of [
      [[shed!, shed!], 'not_accepted'],
      [[limited, shed!], 'not_accepted'],
      [[doubtful!, shed!], 'unknown'],
      [[cut, shed!], 'unknown'],
      [[shed!, doubtful!], 'unknown'],
    ] as const) {
      replies = [...attempts];
      const { outcome, idempotencyKeys } = await failure(open({ retries: 1 }).request('POST', '/customers'));
      expect([outcome, idempotencyKeys]).toEqual([told, [received.at(-1)!.headers['idempotency-key']]]);
    }
  });

  test('says what of an answer is not shown twice, and takes it for no failure that nothing of it is kept', async () => {
    const withheld = { 'idempotent-replay': 'true', 'idempotent-withheld': 'key, scopes' };
    const answer = json(201, { id: 'k1', key: null }, withheld);
    replies = [answer, answer, json(201, {}, { 'idempotent-replay': 'true' })];
    const weir = open();
    const error = await failure(weir.request('POST', '/api-keys', { body: {}, idempotencyKey: 'mine' }));
    expect([error.code, error.transient]).toEqual(['answer_withheld', false]);
    expect(error.detail).toContain('key, scopes');
    expect(error.detail).toContain('sent with another key it is done twice');
    expect(await weir.exchange('POST', '/api-keys')).toMatchObject({ body: { id: 'k1' }, withheld: ['key', 'scopes'] });
    expect(await weir.request('POST', '/customers')).toEqual({});
  });

  test('reads files byte for byte, and writes booleans as the API does', async () => {
    const bytes = Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0x00]);
    const weir = open();
    replies = [
      (response) => response.writeHead(200, { 'content-type': 'application/pdf' }).end(bytes),
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>sign in</html>'),
      json(404, { code: 'not_found' }),
    ];
    expect(Buffer.from(await weir.file('/invoices/i1/pdf', { query: { is_draft: true } }))).toEqual(bytes);
    expect(received[0]?.url).toBe('/api/v1/invoices/i1/pdf?is_draft=true');
    expect((await failure(weir.file('/invoices/i1/pdf', { retries: 0 }))).code).toBe('bad_response');
    expect((await failure(weir.file('/invoices/i1/pdf'))).code).toBe('not_found');
  });

  test('gives all of an answer, and takes what a change is made of in its headers', async () => {
    replies = [
      json(200, { id: 'c1' }, { etag: '"one"' }),
      // Whoever compresses an answer on its way makes its ETag weak.
      json(200, { id: 'c1' }, { etag: 'W/"two"' }),
      (response) => response.writeHead(304, { etag: 'W/"two"' }).end(),
      (response) => response.writeHead(304).end(),
    ];
    const weir = open();
    const read = await weir.exchange('GET', '/customers/c1');
    expect(read).toMatchObject({ status: 200, body: { id: 'c1' }, etag: '"one"' });
    expect(read.headers.get('etag')).toBe(read.etag);
    const changed = { body: { name: 'Ada' }, ifMatch: read.etag, headers: { Traceparent: '00-1' } };
    const { etag } = await weir.exchange('PATCH', '/customers/c1', changed);
    const same = await weir.exchange('GET', '/customers/c1', { ifNoneMatch: etag });
    expect([same.status, same.body, same.etag]).toEqual([304, {}, '"two"']);
    expect(received.map(({ headers: h }) => [h['if-match'], h['if-none-match'], h.traceparent])).toEqual([
      [undefined, undefined, undefined],
      ['"one"', undefined, '00-1'],
      [undefined, '"two"', undefined],
    ]);
    // Nobody asked for it.
    expect((await failure(weir.exchange('GET', '/customers/c1'))).code).toBe('http_304');
  });

  test.each([
    [{ headers: { Authorization: 'Bearer x' } }, "the header Authorization is the client's own: give serviceToken"],
    [{ headers: { 'X-API-Key': 'x' } }, "the header X-API-Key is the client's own: give apiKey"],
    [{ headers: { host: 'example.com' } }, "the header host is the client's own: leave it out"],
    [{ headers: { 'Content-Length': '1' } }, "the header Content-Length is the client's own: leave it out"],
    [{ headers: { 'If-Match': '"x"' } }, "the header If-Match is the client's own: use the option ifMatch"],
    [{ headers: { 'Idempotency-Key': 'x' } }, 'use the option idempotencyKey'],
    [{ headers: { 'x-note': 'a\r\nhost: b' } }, 'the header "x-note" holds a line break'],
    [{ headers: { 'x note': 'a' } }, 'the header "x note" holds'],
    [{ ifMatch: '"ü"' }, 'the header "if-match" holds'],
    [{ ifMatch: undefined }, 'ifMatch is undefined: what was read has no ETag'],
  ])('refuses %j before anything is sent', async (options, message) => {
    await expect(open().request('PATCH', '/customers/c1', { body: {}, ...options })).rejects.toThrow(message);
    expect(received).toEqual([]);
  });

  test('sends a key of any language as its UTF-8, in which Weir reads it', async () => {
    replies = [json(201, { id: 'c1' })];
    await open().request('POST', '/customers', { idempotencyKey: 'für→ оплата' });
    expect(Buffer.from(String(received[0]?.headers['idempotency-key']), 'latin1').toString()).toBe('für→ оплата');
  });

  test.each(['', ' a', 'a\t', 'a\r\nhost: b', 'a\0', '\ud800', 7 as never])(
    'refuses the key %j, which would not arrive as it is, before anything is sent',
    async (idempotencyKey) => {
      const requested = open().request('POST', '/customers', { idempotencyKey });
      await expect(requested).rejects.toThrow(/^idempotencyKey must be a text/);
      expect(received).toEqual([]);
    },
  );

  test('alone tracks nothing, and says so at once', async () => {
    const weir = open();
    const refused = /^apiKey must be an API key .*: there is none$/;
    await expect(weir.track(event)).rejects.toThrow(refused);
    await expect(weir.trackBatch([event])).rejects.toThrow(refused);
    await expect(weir.queue(event)).rejects.toThrow(refused);
    await expect(weir.widgetToken('acme')).rejects.toThrow(refused);
    expect(received).toEqual([]);
    expect(() => open({ serviceToken: '' })).toThrow(/^serviceToken must be the token of a service account/);
  });
});
