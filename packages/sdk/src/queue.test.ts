import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventOf, FakeService, range, refuse, refuseAsProxy } from '../../../test/support/fake-service.ts';
import { WeirClient, type WeirError, type KeyedEvent, type QueueOptions } from './client.ts';
import { MemoryStore } from './memory-store.ts';

let service: FakeService;
let client: WeirClient;

beforeEach(async () => {
  service = await FakeService.open();
});

afterEach(() => service.close());

function makeClient(queue: QueueOptions = {}): WeirClient {
  client = new WeirClient({ baseUrl: service.url, apiKey: 'org_live_x', queue });
  return client;
}

const sizes = () => service.requests.map((events) => events.length);

test('as many events as fill a batch go at once, and the rest after the interval', async () => {
  makeClient({ batchEventsMax: 10, intervalMs: 30 });
  for (const n of range(25)) await client.queue(eventOf(n));
  await service.untilSent(2);
  expect(sizes()).toEqual([10, 10]);
  await service.untilSent(3);
  expect(sizes()).toEqual([10, 10, 5]);
  await client.flush();
  expect(service.accepted.size).toBe(25);
  expect(client.queuedBytes).toBe(0);
});

test('an event that is queued gets a key and the present time, and is not changed by its caller later', async () => {
  makeClient();
  const { idempotency_key: _, ...keyless } = eventOf(1);
  const before = Date.now();
  const key = await client.queue(keyless);
  keyless.quantity = 99;
  await client.close();
  const [sent] = service.requests.flat();
  expect(sent).toMatchObject({ quantity: 1, idempotency_key: key });
  expect(key).toMatch(/^[0-9a-f-]{36}$/);
  expect(Date.parse(sent?.timestamp ?? '')).toBeGreaterThanOrEqual(before);
});

test('a full queue holds the caller back until there is room, and never holds more', async () => {
  const held: ServerResponse[] = [];
  service.interfere = (_events, response) => held.push(response) > 0;
  makeClient({ eventsMax: 4, batchEventsMax: 2, concurrency: 1, intervalMs: 5 });
  let queued = 0;
  const all = Promise.all(range(20).map((n) => client.queue(eventOf(n)).then(() => (queued += 1))));
  for (const answered of range(10)) {
    await service.untilSent(answered);
    expect(queued).toBeLessThanOrEqual(2 * (answered - 1) + 4);
    service.take(service.requests.at(-1) ?? [], held[answered - 1] as ServerResponse);
  }
  await all;
  await client.flush();
  expect(service.accepted.size).toBe(20);
});

test('a full queue refuses instead, where that is asked for; by events or by bytes', async () => {
  service.interfere = () => true;
  for (const limits of [{ eventsMax: 3 }, { bytesMax: 400 }]) {
    makeClient({ ...limits, whenFull: 'reject' });
    const results = await Promise.allSettled(range(10).map((n) => client.queue(eventOf(n))));
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
    service.interfere = (events, response) =>
      held.set(events[0]?.idempotency_key, () => service.take(events, response)).size > 0;
    makeClient({ batchEventsMax: 1, concurrency: 3, ...(where === 'memory' ? {} : { outbox: { folder } }) });
    await client.queue(eventOf(1));
    await client.queue(eventOf(2));
    let isFlushed = false;
    const flushed = client.flush().then(() => (isFlushed = true));
    await client.queue(eventOf(3));
    await service.untilSent(3);
    held.get('k2')?.();
    await vi.waitUntil(() => service.accepted.has('k2'));
    expect(isFlushed).toBe(false);
    held.get('k1')?.();
    await flushed;
    expect([...service.accepted]).toEqual(['k2', 'k1']);
    await client.close({ timeout: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(['memory', 'an outbox'])(
  'a flush ends with a close that leaves something in %s, and says so',
  async (where) => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-flush-'));
    try {
      service.interfere = () => true;
      makeClient(where === 'memory' ? {} : { outbox: { folder } });
      await client.queue(eventOf(1));
      const [flushed, closed] = await Promise.allSettled([client.flush(), client.close({ timeout: 10 })]);
      expect(flushed).toMatchObject({ status: 'rejected', reason: { code: 'queue_closed', transient: false } });
      expect(closed).toMatchObject({ status: 'fulfilled', value: { isDone: false } });
      await expect(client.flush()).rejects.toMatchObject({ code: 'queue_closed' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test('a flush that nobody awaits ends no process beside a close that leaves something', async () => {
  service.interfere = () => true;
  makeClient();
  await client.queue(eventOf(1));
  const unhandled = vi.fn<() => void>();
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', unhandled);
  try {
    void client.flush();
    expect((await client.close({ timeout: 10 })).unsent).toHaveLength(1);
    // Node tells of those that are unhandled once the promises of a turn are done.
    await new Promise(setImmediate);
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const other of others) process.on('unhandledRejection', other);
  }
});

test('an outage is told of once, and said again when the client is closed', async () => {
  // No time between the attempts.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  try {
    service.interfere = (_events, response) => service.requests.length <= 20 && refuseAsProxy(response, 502);
    const warned: string[] = [];
    makeClient({ onWarning: (text) => warned.push(text) });
    await client.queue(eventOf(1));
    await client.flush();
    expect(warned).toEqual([expect.stringMatching(/^What is queued waits: http_502/)]);
    await client.close();
    expect(warned[1]).toMatch(/and 13 more like it/);
  } finally {
    random.mockRestore();
  }
});

test.each([7, true, {}])('an event whose key is no text (%j) is refused at once, and not held', async (key) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-keys-'));
  try {
    makeClient({ outbox: { folder } });
    const queued = client.queue({ ...eventOf(1), idempotency_key: key as string });
    await expect(queued).rejects.toThrow(/^idempotency_key must be a text/);
    expect(client.queuedBytes).toBe(0);
    await client.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a queue that is asked to wait for an hour waits for a minute', async () => {
  service.interfere = (_events, response) => {
    response.setHeader('retry-after', '3600');
    return refuse(response, 429, { code: 'rate_limited' });
  };
  const waited = new Promise<number>((resolve) => {
    const onRetry = (_error: WeirError, delayMs: number) => resolve(delayMs);
    client = new WeirClient({ baseUrl: service.url, apiKey: 'org_live_x', onRetry, queue: { intervalMs: 0 } });
  });
  await client.queue(eventOf(1));
  expect(await waited).toBe(60_000);
  expect((await client.close({ timeout: 0 })).unsent).toHaveLength(1);
});

test('a wait for room ends with the signal', async () => {
  service.interfere = () => true;
  makeClient({ eventsMax: 1 });
  const enough = new AbortController();
  await client.queue(eventOf(1));
  const waiting = client.queue(eventOf(2), { signal: enough.signal });
  enough.abort('enough');
  await expect(waiting).rejects.toBe('enough');
  await client.close({ timeout: 0 });
});

test('no more requests are open at once than asked for', async () => {
  const held: ServerResponse[] = [];
  service.interfere = (_events, response) => held.push(response) > 0;
  makeClient({ batchEventsMax: 2, concurrency: 3 });
  for (const n of range(40)) await client.queue(eventOf(n));
  for (const answered of range(20)) {
    await service.untilSent(Math.min(answered + 2, 20));
    expect(service.requests.length).toBeLessThanOrEqual(answered + 2);
    service.take(service.requests[answered - 1] ?? [], held[answered - 1] as ServerResponse);
  }
  await client.close();
  expect(service.accepted.size).toBe(40);
});

test('an outage is outlasted with the same keys, and only what is not settled goes again', async () => {
  const statuses = [201, 503, 409, 422, 500];
  const refused: [WeirError, KeyedEvent][] = [];
  service.interfere = (events, response) => {
    if (service.requests.length === 1) return refuse(response, 503, { code: 'unavailable', outcome: 'unknown' });
    if (service.requests.length === 2) return response.socket?.destroy() !== undefined;
    if (service.requests.length > 3) return false;
    const codes: Record<number, string> = { 409: 'duplicate_event', 422: 'invalid_request' };
    const data = events.map((_, index) => ({ status: statuses[index], id: 'x', code: codes[statuses[index] ?? 0] }));
    return refuse(response, 207, { data });
  };
  makeClient({ onRefused: (error, event) => refused.push([error, event]) });
  for (const n of range(5)) await client.queue(eventOf(n));
  await client.flush();
  const keys = service.requests.map((events) => events.map(({ idempotency_key }) => idempotency_key));
  const all = ['k1', 'k2', 'k3', 'k4', 'k5'];
  expect(keys).toEqual([all, all, all, ['k2', 'k5']]);
  expect(refused).toMatchObject([[{ status: 422 }, { idempotency_key: 'k4', quantity: '4' }]]);
});

test('a listener that throws is not a reason to send sooner', async () => {
  const thrown: unknown[] = [];
  const catchAll = (error: unknown) => thrown.push(error);
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', catchAll);
  try {
    service.interfere = (_events, response) =>
      service.requests.length < 3 && refuse(response, 503, { code: 'unavailable' });
    const waits: number[] = [];
    client = new WeirClient({
      baseUrl: service.url,
      apiKey: 'org_live_x',
      onRetry: (_error, delayMs) => {
        waits.push(delayMs);
        throw new Error('mine');
      },
    });
    await client.queue(eventOf(1));
    await client.flush();
    expect([waits.length, thrown.length, service.requests.length]).toEqual([2, 2, 3]);
  } finally {
    process.removeListener('uncaughtException', catchAll);
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
});

test.each(['org_live_x\n', 'org live', '', 'org_live_ü'])('the key %j is refused when a client is made', (apiKey) => {
  expect(() => new WeirClient({ baseUrl: 'http://127.0.0.1:1', apiKey })).toThrow(/apiKey must be/);
});

test('a flood of refused events is one warning, and one more with their number when the client is closed', async () => {
  service.interfere = (events, response) =>
    refuse(response, 207, { data: events.map(() => ({ status: 422, code: 'invalid_request', detail: 'ahead' })) });
  const warned: string[] = [];
  makeClient({ onWarning: (text) => warned.push(text) });
  for (const n of range(3_000)) await client.queue(eventOf(n));
  await client.flush();
  expect(warned).toEqual([expect.stringMatching(/^Weir refused the event k\d+ for good, and no onRefused keeps it: /)]);
  await client.close();
  expect(warned[1]).toMatch(/ahead \(and 2998 more like it since the last warning\)$/);
  expect(warned).toHaveLength(2);
});

test('each event may have a listener of its own', async () => {
  makeClient();
  const outcomes: unknown[] = [];
  await client.queue(eventOf(1), { onSettled: (outcome) => outcomes.push(outcome) });
  await client.queue(eventOf(1), { onSettled: (outcome) => outcomes.push(outcome) });
  await client.close();
  expect(outcomes).toEqual([
    { id: 'k1', duplicate: false },
    { id: 'k1', duplicate: true },
  ]);
});

test('close sends what is left, takes no more, and gives back what has no answer when its time is up', async () => {
  makeClient();
  await client.queue(eventOf(1));
  await expect(client.close()).resolves.toEqual({ isDone: true, unsent: [] });
  await expect(client.queue(eventOf(2))).rejects.toMatchObject({ code: 'queue_closed', transient: false });

  service.interfere = () => true;
  makeClient({ batchEventsMax: 1, concurrency: 1 });
  for (const n of range(3)) await client.queue(eventOf(n));
  const { isDone, unsent } = await client.close({ timeout: 50 });
  expect(isDone).toBe(false);
  expect(unsent.map(({ idempotency_key }) => idempotency_key)).toEqual(['k1', 'k2', 'k3']);
});

test('those who wait for room get it in their order, and are not all looked at for each batch', async () => {
  const [waiting, eventsMax] = [2_000, 20];
  const looks = vi.spyOn(MemoryStore.prototype, 'hasRoom');
  try {
    const order: string[] = [];
    makeClient({ eventsMax, batchEventsMax: eventsMax, concurrency: 1 });
    await Promise.all(range(waiting).map(async (n) => order.push(await client.queue(eventOf(n)))));
    await client.close();
    expect(order).toEqual(range(waiting).map((n) => `k${n}`));
    expect([...service.accepted]).toEqual(order);
    expect(looks.mock.calls.length).toBeLessThan(4 * waiting);
  } finally {
    looks.mockRestore();
  }
});

test('who waits for room behind an event that cannot be written gets it all the same', async () => {
  makeClient({ outbox: { folder: '/dev/null/outbox' }, eventsMax: 1, onWarning: () => {} });
  const results = await Promise.allSettled(range(3).map((n) => client.queue(eventOf(n))));
  const codes = results.map((result) => result.status === 'rejected' && result.reason.code);
  expect(codes).toEqual(['outbox_failed', 'outbox_failed', 'outbox_failed']);
  await client.close();
});

test('flush sends at once also what is on its way to the disk when it is called', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-flush-'));
  try {
    makeClient({ outbox: { folder }, intervalMs: 60_000 });
    await client.queue(eventOf(1));
    await client.flush();
    const queued = client.queue(eventOf(2));
    await client.flush({ signal: AbortSignal.timeout(10_000) });
    await queued;
    expect([...service.accepted]).toEqual(['k1', 'k2']);
    await client.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
