import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WeirClient, type WeirError, type KeyedEvent, type QueueOptions } from './client.ts';

interface SentEvent {
  idempotency_key: string;
  timestamp: string;
  quantity: number;
}

let server: Server;
let requests: SentEvent[][];
let accepted: Set<string>;
/** Answers a request itself and returns true, or leaves it to a service that takes everything once. */
let interfere: (events: SentEvent[], response: ServerResponse) => boolean;
let client: WeirClient;

beforeEach(async () => {
  requests = [];
  accepted = new Set();
  interfere = () => false;
  server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { events } = JSON.parse(text) as { events: SentEvent[] };
      requests.push(events);
      if (!interfere(events, response)) take(events, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function take(events: SentEvent[], response: ServerResponse): void {
  const data = events.map(({ idempotency_key: id }) => {
    if (accepted.has(id)) return { status: 409, code: 'duplicate_event', id };
    accepted.add(id);
    return { status: 201, id };
  });
  response.writeHead(207).end(JSON.stringify({ data }));
}

/** As Weir does it; a batch that is taken in part is no problem. */
const refuse = (response: ServerResponse, status: number, body = {}) => {
  const isProblem = status >= 300;
  response.writeHead(status, { 'content-type': isProblem ? 'application/problem+json' : 'application/json' });
  response.end(JSON.stringify({ ...(isProblem && { code: 'refused', status, request_id: 'r1' }), ...body }));
  return true;
};

/** As a proxy does it that stands before Weir. */
const refuseAsProxy = (response: ServerResponse, status: number) => {
  response.writeHead(status, { 'content-type': 'text/html' }).end(`<html><h1>${status}</h1></html>`);
  return true;
};

function makeClient(queue: QueueOptions = {}): WeirClient {
  const { port } = server.address() as AddressInfo;
  client = new WeirClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'org_live_x', queue });
  return client;
}

const event = (n: number) => ({
  meter_token: 'm',
  customer_external_id: 'acme',
  quantity: n,
  idempotency_key: `k${n}`,
});
const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const sizes = () => requests.map((events) => events.length);

async function untilSent(count: number): Promise<void> {
  while (requests.length < count) await new Promise((resolve) => setImmediate(resolve));
}

test('as many events as fill a batch go at once, and the rest after the interval', async () => {
  makeClient({ batchEventsMax: 10, intervalMs: 30 });
  for (const n of range(25)) await client.queue(event(n));
  await untilSent(2);
  expect(sizes()).toEqual([10, 10]);
  await untilSent(3);
  expect(sizes()).toEqual([10, 10, 5]);
  await client.flush();
  expect(accepted.size).toBe(25);
  expect(client.queuedBytes).toBe(0);
});

test('an event that is queued gets a key and the present time, and is not changed by its caller later', async () => {
  makeClient();
  const { idempotency_key: _, ...keyless } = event(1);
  const before = Date.now();
  const key = await client.queue(keyless);
  keyless.quantity = 99;
  await client.close();
  const [sent] = requests.flat();
  expect(sent).toMatchObject({ quantity: 1, idempotency_key: key });
  expect(key).toMatch(/^[0-9a-f-]{36}$/);
  expect(Date.parse(sent?.timestamp ?? '')).toBeGreaterThanOrEqual(before);
});

test('a full queue holds the caller back until there is room, and never holds more', async () => {
  const held: ServerResponse[] = [];
  interfere = (_events, response) => held.push(response) > 0;
  makeClient({ eventsMax: 4, batchEventsMax: 2, concurrency: 1, intervalMs: 5 });
  let queued = 0;
  const all = Promise.all(range(20).map((n) => client.queue(event(n)).then(() => (queued += 1))));
  for (const answered of range(10)) {
    await untilSent(answered);
    expect(queued).toBeLessThanOrEqual(2 * (answered - 1) + 4);
    take(requests.at(-1) ?? [], held[answered - 1] as ServerResponse);
  }
  await all;
  await client.flush();
  expect(accepted.size).toBe(20);
});

test('a full queue refuses instead, where that is asked for; by events or by bytes', async () => {
  interfere = () => true;
  for (const limits of [{ eventsMax: 3 }, { bytesMax: 400 }]) {
    makeClient({ ...limits, whenFull: 'reject' });
    const results = await Promise.allSettled(range(10).map((n) => client.queue(event(n))));
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.length).toBe(7);
    expect(refused[0]?.reason).toMatchObject({ code: 'queue_full', transient: true, idempotencyKeys: ['k4'] });
    await client.close({ timeout: 0 });
  }
});

test.each(['memory', 'an outbox'])('flush waits for what was queued before it, in %s, and no longer', async (where) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-flush-'));
  try {
    const held = new Map<string | undefined, () => void>();
    interfere = (events, response) => held.set(events[0]?.idempotency_key, () => take(events, response)).size > 0;
    makeClient({ batchEventsMax: 1, concurrency: 3, ...(where === 'memory' ? {} : { outbox: { folder } }) });
    await client.queue(event(1));
    await client.queue(event(2));
    let isFlushed = false;
    const flushed = client.flush().then(() => (isFlushed = true));
    await client.queue(event(3));
    await untilSent(3);
    held.get('k2')?.();
    await vi.waitUntil(() => accepted.has('k2'));
    expect(isFlushed).toBe(false);
    held.get('k1')?.();
    await flushed;
    expect([...accepted]).toEqual(['k2', 'k1']);
    await client.close({ timeout: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an outage is told of once, and said again when the client is closed', async () => {
  // No time between the attempts.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  try {
    interfere = (_events, response) => requests.length <= 20 && refuseAsProxy(response, 502);
    const warned: string[] = [];
    makeClient({ onWarning: (text) => warned.push(text) });
    await client.queue(event(1));
    await client.flush();
    expect(warned).toEqual([expect.stringMatching(/^What is queued waits: http_502/)]);
    await client.close();
    expect(warned[1]).toMatch(/and 13 more like it/);
  } finally {
    random.mockRestore();
  }
});

test('a wait for room ends with the signal', async () => {
  interfere = () => true;
  makeClient({ eventsMax: 1 });
  const enough = new AbortController();
  await client.queue(event(1));
  const waiting = client.queue(event(2), { signal: enough.signal });
  enough.abort('enough');
  await expect(waiting).rejects.toBe('enough');
  await client.close({ timeout: 0 });
});

test('no more requests are open at once than asked for', async () => {
  const held: ServerResponse[] = [];
  interfere = (_events, response) => held.push(response) > 0;
  makeClient({ batchEventsMax: 2, concurrency: 3 });
  for (const n of range(40)) await client.queue(event(n));
  for (const answered of range(20)) {
    await untilSent(Math.min(answered + 2, 20));
    expect(requests.length).toBeLessThanOrEqual(answered + 2);
    take(requests[answered - 1] ?? [], held[answered - 1] as ServerResponse);
  }
  await client.close();
  expect(accepted.size).toBe(40);
});

test('an outage is outlasted with the same keys, and only what is not settled goes again', async () => {
  const statuses = [201, 503, 409, 422, 500];
  const refused: [WeirError, KeyedEvent][] = [];
  interfere = (events, response) => {
    if (requests.length === 1) return refuse(response, 503, { code: 'unavailable', outcome: 'unknown' });
    if (requests.length === 2) return response.socket?.destroy() !== undefined;
    if (requests.length > 3) return false;
    const codes: Record<number, string> = { 409: 'duplicate_event', 422: 'invalid_request' };
    const data = events.map((_, index) => ({ status: statuses[index], id: 'x', code: codes[statuses[index] ?? 0] }));
    return refuse(response, 207, { data });
  };
  makeClient({ onRefused: (error, event) => refused.push([error, event]) });
  for (const n of range(5)) await client.queue(event(n));
  await client.flush();
  const keys = requests.map((events) => events.map(({ idempotency_key }) => idempotency_key));
  const all = ['k1', 'k2', 'k3', 'k4', 'k5'];
  expect(keys).toEqual([all, all, all, ['k2', 'k5']]);
  expect(refused).toMatchObject([[{ status: 422 }, { idempotency_key: 'k4', quantity: '4' }]]);
});

test('an event that makes the service refuse its whole request is found, and costs no other', async () => {
  interfere = (events, response) => events.some(({ quantity }) => quantity === 77) && refuse(response, 413, {});
  const refused: string[] = [];
  makeClient({ onRefused: (_error, { idempotency_key }) => refused.push(idempotency_key) });
  for (const n of range(100)) await client.queue(event(n));
  await client.close();
  expect(refused).toEqual(['k77']);
  expect(accepted.size).toBe(99);
});

describe.each([
  ['a page', refuseAsProxy],
  [
    'a problem of its own',
    (response: ServerResponse, status: number) => {
      response.writeHead(status, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ type: 'about:blank', title: 'No', status, detail: 'Not here' }));
      return true;
    },
  ],
])('a proxy that answers for Weir with %s', (_, answer) => {
  test.each([400, 403, 404, 405, 413, 302])('and the status %i settles nothing of an outbox', async (status) => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-proxy-'));
    try {
      const warned: string[] = [];
      const refused: unknown[] = [];
      const options = { outbox: { folder }, onWarning: (text: string) => warned.push(text) };
      interfere = (_events, response) => answer(response, status);
      makeClient({ ...options, onRefused: (error) => refused.push(error) });
      for (const n of range(10)) await client.queue(event(n));
      expect(await client.close()).toMatchObject({ isDone: false });
      expect(refused).toEqual([]);
      expect(warned).toEqual([expect.stringContaining('proxy')]);
      interfere = () => false;
      makeClient(options);
      expect(await client.close()).toMatchObject({ isDone: true });
      expect(accepted.size).toBe(10);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('settles nothing that is held in memory', async () => {
    interfere = (_events, response) => answer(response, 413);
    const refused: unknown[] = [];
    makeClient({ onWarning: () => {}, onRefused: (error) => refused.push(error) });
    for (const n of range(10)) await client.queue(event(n));
    const { isDone, unsent } = await client.close();
    expect([isDone, unsent.length, refused]).toEqual([false, 10, []]);
  });
});

test('an event that is too large for a proxy is kept, and holds no other up', async () => {
  interfere = (events, response) => events.some(({ quantity }) => quantity === 77) && refuseAsProxy(response, 413);
  makeClient({ onWarning: () => {} });
  for (const n of range(100)) await client.queue(event(n));
  const { unsent } = await client.close();
  expect(unsent.map(({ idempotency_key }) => idempotency_key)).toEqual(['k77']);
  expect(accepted.size).toBe(99);
});

test('what a firewall takes for an attack is kept, and the queue goes on beside it', async () => {
  interfere = (events, response) => events.some(({ quantity }) => quantity < 5) && refuseAsProxy(response, 403);
  const warned: string[] = [];
  makeClient({ batchEventsMax: 10, concurrency: 1, eventsMax: 20, onWarning: (text) => warned.push(text) });
  await client.queue(event(99));
  // More than the queue holds: it does not stand still.
  for (const n of range(100).slice(0, 98)) await client.queue(event(n));
  const { isDone, unsent } = await client.close();
  expect(isDone).toBe(false);
  expect(unsent.map(({ quantity }) => Number(quantity)).sort((a, b) => a - b)).toEqual([1, 2, 3, 4]);
  expect(accepted.size).toBe(95);
  expect(warned).toEqual([expect.stringContaining('proxy')]);
});

test('close tries once what a proxy refused before, and sends it when Weir is back', async () => {
  interfere = (_events, response) => requests.length === 1 && refuseAsProxy(response, 404);
  const told = new Promise<string>((resolve) => {
    makeClient({ batchEventsMax: 1, onWarning: resolve });
  });
  await client.queue(event(1));
  expect(await told).toContain('http_404');
  await client.queue(event(2));
  expect(await client.close()).toEqual({ isDone: true, unsent: [] });
  expect([...accepted].sort()).toEqual(['k1', 'k2']);
});

test('close does not give up what is under way because another event is refused', async () => {
  const held = new Map<number | undefined, ServerResponse>();
  let isHeld = false;
  interfere = ([first], response) => {
    if (isHeld) return held.set(first?.quantity, response).size > 0;
    return first?.quantity === 1 && refuseAsProxy(response, 403);
  };
  const told = new Promise((resolve) => makeClient({ batchEventsMax: 1, onWarning: resolve }));
  await client.queue(event(1));
  await told;
  isHeld = true;
  await client.queue(event(2));
  const closed = client.close();
  await untilSent(3);
  isHeld = false;
  // The second is in its retries when the first is refused.
  refuse(held.get(2)!, 503, { code: 'unavailable' });
  refuseAsProxy(held.get(1)!, 403);
  expect((await closed).unsent.map(({ idempotency_key }) => idempotency_key)).toEqual(['k1']);
  expect([...accepted]).toEqual(['k2']);
});

test('what was not tried after others were refused is sent, although nothing else is due', async () => {
  let third: ServerResponse | undefined;
  interfere = (events, response) => {
    if (events.length === 1 && events[0]?.quantity === 3) return (third = response) !== undefined;
    return events.some(({ quantity }) => quantity <= 3) && refuseAsProxy(response, 403);
  };
  makeClient({ batchEventsMax: 10, intervalMs: 60_000, onWarning: () => {} });
  for (const n of range(19)) await client.queue(event(n));
  await new Promise((resolve) => void client.queue(event(20), { onSettled: resolve }));
  await untilSent(8);
  const closed = client.close();
  refuseAsProxy(third!, 403);
  expect((await closed).unsent).toHaveLength(3);
  expect(accepted.size).toBe(17);
});

test('a listener that throws is not a reason to send sooner', async () => {
  const thrown: unknown[] = [];
  const catchAll = (error: unknown) => thrown.push(error);
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', catchAll);
  try {
    interfere = (_events, response) => requests.length < 3 && refuse(response, 503, { code: 'unavailable' });
    const { port } = server.address() as AddressInfo;
    const waits: number[] = [];
    client = new WeirClient({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: 'org_live_x',
      onRetry: (_error, delayMs) => {
        waits.push(delayMs);
        throw new Error('mine');
      },
    });
    await client.queue(event(1));
    await client.flush();
    expect([waits.length, thrown.length, requests.length]).toEqual([2, 2, 3]);
  } finally {
    process.removeListener('uncaughtException', catchAll);
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
});

test.each(['org_live_x\n', 'org live', '', 'org_live_ü'])('the key %j is refused when a client is made', (apiKey) => {
  expect(() => new WeirClient({ baseUrl: 'http://127.0.0.1:1', apiKey })).toThrow(/apiKey must be/);
});

test('a wrong key refuses every event once, and nothing is sent again', async () => {
  interfere = (_events, response) => refuse(response, 401, { code: 'unauthenticated' });
  const refused: string[] = [];
  makeClient({ onRefused: ({ code, idempotencyKeys }) => refused.push(code, ...idempotencyKeys) });
  for (const n of range(3)) await client.queue(event(n));
  await client.flush();
  expect(refused).toEqual(range(3).flatMap((n) => ['unauthenticated', `k${n}`]));
  expect(requests).toHaveLength(1);
});

test('a flood of refused events is one warning, and one more with their number when the client is closed', async () => {
  interfere = (events, response) =>
    refuse(response, 207, { data: events.map(() => ({ status: 422, code: 'invalid_request', detail: 'ahead' })) });
  const warned: string[] = [];
  makeClient({ onWarning: (text) => warned.push(text) });
  for (const n of range(3_000)) await client.queue(event(n));
  await client.flush();
  expect(warned).toEqual([expect.stringMatching(/^Weir refused the event k\d+ for good, and no onRefused keeps it: /)]);
  await client.close();
  expect(warned[1]).toMatch(/ahead \(and 2998 more like it since the last warning\)$/);
  expect(warned).toHaveLength(2);
});

test('each event may have a listener of its own', async () => {
  makeClient();
  const outcomes: unknown[] = [];
  await client.queue(event(1), { onSettled: (outcome) => outcomes.push(outcome) });
  await client.queue(event(1), { onSettled: (outcome) => outcomes.push(outcome) });
  await client.close();
  expect(outcomes).toEqual([
    { id: 'k1', duplicate: false },
    { id: 'k1', duplicate: true },
  ]);
});

test('close sends what is left, takes no more, and gives back what has no answer when its time is up', async () => {
  makeClient();
  await client.queue(event(1));
  await expect(client.close()).resolves.toEqual({ isDone: true, unsent: [] });
  await expect(client.queue(event(2))).rejects.toMatchObject({ code: 'queue_closed', transient: false });

  interfere = () => true;
  makeClient({ batchEventsMax: 1, concurrency: 1 });
  for (const n of range(3)) await client.queue(event(n));
  const { isDone, unsent } = await client.close({ timeout: 50 });
  expect(isDone).toBe(false);
  expect(unsent.map(({ idempotency_key }) => idempotency_key)).toEqual(['k1', 'k2', 'k3']);
});

test('options that make no sense are refused at once', () => {
  for (const queue of [{ batchEventsMax: 1001 }, { concurrency: 0 }, { eventsMax: 1.5 }]) {
    expect(() => makeClient(queue)).toThrow(RangeError);
  }
});
