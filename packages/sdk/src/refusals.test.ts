// What is refused, by Weir or by what stands before it: which events that settles, and which the client keeps.

import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  eventOf,
  FakeService,
  range,
  refuse,
  refuseAsProxy,
  type SentEvent,
} from '../../../test/support/fake-service.ts';
import { WeirClient, type QueueOptions } from './client.ts';

let service: FakeService;
let client: WeirClient;
let folder: string;

beforeEach(async () => {
  service = await FakeService.open();
  folder = mkdtempSync(join(tmpdir(), 'weir-refusals-'));
});

afterEach(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

function makeClient(queue: QueueOptions = {}): WeirClient {
  client = new WeirClient({ baseUrl: service.url, apiKey: 'org_live_x', queue });
  return client;
}

const is77 = ({ quantity }: SentEvent) => quantity === 77;

test.each([
  ['named', 400, 'malformed_json'],
  ['named', 413, 'payload_too_large'],
  // The size of what is sent, nobody on the way can change.
  ['not named', 413, 'payload_too_large'],
])('one event, %s by Weir as %i %s, is found and costs no other', async (named, status, code) => {
  service.interfere = (events, response) => {
    const at = events.findIndex(is77);
    const errors = named === 'named' ? [{ path: `events[${at}]`, message: 'no' }] : undefined;
    return at >= 0 && refuse(response, status, { code, errors });
  };
  const refused: string[] = [];
  makeClient({ onRefused: (error, { idempotency_key }) => refused.push(error.code, idempotency_key) });
  for (const n of range(100)) await client.queue(eventOf(n));
  expect(await client.close()).toEqual({ isDone: true, unsent: [] });
  expect(refused).toEqual([code, 'k77']);
  expect(service.accepted.size).toBe(99);
});

test('an event by which Weir cannot read a batch, and that it does not name, is kept and holds no other up', async () => {
  service.interfere = (events, response) => events.some(is77) && refuse(response, 400, { code: 'malformed_json' });
  const refused: unknown[] = [];
  makeClient({ onWarning: () => {}, onRefused: (error) => refused.push(error) });
  for (const n of range(100)) await client.queue(eventOf(n));
  const { unsent } = await client.close();
  expect(unsent.map(({ idempotency_key }) => idempotency_key)).toEqual(['k77']);
  expect([service.accepted.size, refused]).toEqual([99, []]);
});

test('what one of two proxies spoils is kept until it goes by the other', async () => {
  const isSpoilt = () => service.requests.length % 2 === 1;
  service.interfere = (_events, response) => isSpoilt() && refuse(response, 400, { code: 'malformed_json' });
  const refused: unknown[] = [];
  makeClient({ concurrency: 1, onWarning: () => {}, onRefused: (error) => refused.push(error) });
  for (const n of range(10)) await client.queue(eventOf(n));
  const { unsent } = await client.close();
  expect(refused).toEqual([]);
  const kept = unsent.map(({ idempotency_key }) => idempotency_key);
  expect([...service.accepted, ...kept].sort()).toEqual(
    range(10)
      .map((n) => `k${n}`)
      .sort(),
  );
});

/** Each request is answered so: no event is given up, and all are taken when the answer is another. */
async function expectKept(answer: Answer, told: string, outbox?: { folder: string }): Promise<void> {
  const [warned, refused]: [string[], unknown[]] = [[], []];
  service.interfere = (_events, response) => answer(response);
  const where = outbox === undefined ? {} : { outbox };
  makeClient({ ...where, onWarning: (text) => warned.push(text), onRefused: (error) => refused.push(error) });
  for (const n of range(10)) await client.queue(eventOf(n));
  const { isDone, unsent } = await client.close();
  expect([isDone, refused]).toEqual([false, []]);
  expect(warned).toEqual([expect.stringContaining(told)]);
  service.interfere = () => false;
  makeClient(where);
  for (const each of unsent) await client.queue(each);
  expect(await client.close()).toMatchObject({ isDone: true });
  expect(service.accepted.size).toBe(10);
}

type Answer = (response: ServerResponse) => true;

const OF_REQUESTS: [status: number, code: string][] = [
  // As a proxy brings about that adds headers, takes bodies off or leads elsewhere.
  [400, 'malformed_request'],
  [400, 'malformed_json'],
  [400, 'two_credentials'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [415, 'unsupported_media_type'],
  [422, 'invalid_request'],
  [431, 'headers_too_large'],
];
const OF_KEYS: [status: number, code: string][] = [
  [401, 'unauthenticated'],
  [403, 'missing_scope'],
];

describe('a refusal of Weir that is about the request', () => {
  test.each([...OF_REQUESTS, ...OF_KEYS])('settles nothing of an outbox: %i %s', async (status, code) => {
    await expectKept((response) => refuse(response, status, { code }), 'Weir refuses', { folder });
  });

  test.each(OF_REQUESTS)('settles nothing that is held in memory: %i %s', async (status, code) => {
    await expectKept((response) => refuse(response, status, { code }), 'Weir refuses');
  });
});

describe.each<[string, (response: ServerResponse, status: number) => true]>([
  ['a page', refuseAsProxy],
  [
    'a problem of its own',
    (response, status) => {
      response.writeHead(status, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ type: 'about:blank', title: 'No', status, detail: 'Not here' }));
      return true;
    },
  ],
])('a proxy that answers for Weir with %s', (_, answer) => {
  test.each([400, 401, 403, 404, 405, 413, 302])('and the status %i settles nothing', async (status) => {
    await expectKept((response) => answer(response, status), 'such as a proxy', { folder });
    service.accepted.clear();
    await expectKept((response) => answer(response, status), 'such as a proxy');
  });
});

test('an event that is too large for a proxy is kept, and holds no other up', async () => {
  service.interfere = (events, response) => events.some(is77) && refuseAsProxy(response, 413);
  makeClient({ onWarning: () => {} });
  for (const n of range(100)) await client.queue(eventOf(n));
  const { unsent } = await client.close();
  expect(unsent.map(({ idempotency_key }) => idempotency_key)).toEqual(['k77']);
  expect(service.accepted.size).toBe(99);
});

test('what a firewall takes for an attack is kept, and the queue goes on beside it', async () => {
  service.interfere = (events, response) => events.some(({ quantity }) => quantity < 5) && refuseAsProxy(response, 403);
  const warned: string[] = [];
  makeClient({ batchEventsMax: 10, concurrency: 1, eventsMax: 20, onWarning: (text) => warned.push(text) });
  await client.queue(eventOf(99));
  // More than the queue holds: it does not stand still.
  for (const n of range(100).slice(0, 98)) await client.queue(eventOf(n));
  const { isDone, unsent } = await client.close();
  expect(isDone).toBe(false);
  expect(unsent.map(({ quantity }) => Number(quantity)).sort((a, b) => a - b)).toEqual([1, 2, 3, 4]);
  expect(service.accepted.size).toBe(95);
  expect(warned).toEqual([expect.stringMatching(/proxy, refuses some of what is sent, such as the event k1, and/)]);
});

test('what is behind events that a firewall refuses is sent at once, however many these are', async () => {
  service.interfere = (events, response) => events.some(({ quantity }) => quantity < 7) && refuseAsProxy(response, 403);
  makeClient({ batchEventsMax: 10, onWarning: () => {} });
  for (const n of range(6)) await client.queue(eventOf(n));
  const settled = [7, 8, 9, 10].map(
    (n) => new Promise((resolve) => void client.queue(eventOf(n), { onSettled: resolve })),
  );
  await Promise.all(settled);
  expect([...service.accepted].sort()).toEqual(['k10', 'k7', 'k8', 'k9']);
  expect((await client.close()).unsent).toHaveLength(6);
});

test('close tries once what a proxy refused before, and sends it when Weir is back', async () => {
  service.interfere = (_events, response) => service.requests.length === 1 && refuseAsProxy(response, 404);
  const told = new Promise<string>((resolve) => {
    makeClient({ batchEventsMax: 1, onWarning: resolve });
  });
  await client.queue(eventOf(1));
  expect(await told).toContain('http_404');
  await client.queue(eventOf(2));
  expect(await client.close()).toEqual({ isDone: true, unsent: [] });
  expect([...service.accepted].sort()).toEqual(['k1', 'k2']);
});

test('close does not give up what is under way because another event is refused', async () => {
  const held = new Map<number | undefined, ServerResponse>();
  let isHeld = false;
  service.interfere = ([first], response) => {
    if (isHeld) return held.set(first?.quantity, response).size > 0;
    return first?.quantity === 1 && refuseAsProxy(response, 403);
  };
  const told = new Promise((resolve) => makeClient({ batchEventsMax: 1, onWarning: resolve }));
  await client.queue(eventOf(1));
  await told;
  isHeld = true;
  await client.queue(eventOf(2));
  const closed = client.close();
  await service.untilSent(3);
  isHeld = false;
  // The second is in its retries when the first is refused.
  refuse(held.get(2)!, 503, { code: 'unavailable' });
  refuseAsProxy(held.get(1)!, 403);
  expect((await closed).unsent.map(({ idempotency_key }) => idempotency_key)).toEqual(['k1']);
  expect([...service.accepted]).toEqual(['k2']);
});

test('what was not tried after others were refused is sent, although nothing else is due', async () => {
  let third: ServerResponse | undefined;
  service.interfere = (events, response) => {
    if (events.length === 1 && events[0]?.quantity === 3) return (third = response) !== undefined;
    return events.some(({ quantity }) => quantity <= 3) && refuseAsProxy(response, 403);
  };
  makeClient({ batchEventsMax: 10, intervalMs: 60_000, onWarning: () => {} });
  for (const n of range(19)) await client.queue(eventOf(n));
  await new Promise((resolve) => void client.queue(eventOf(20), { onSettled: resolve }));
  await service.untilSent(8);
  const closed = client.close();
  refuseAsProxy(third!, 403);
  expect((await closed).unsent).toHaveLength(3);
  expect(service.accepted.size).toBe(17);
});

test('a wrong key refuses every event once, and nothing is sent again', async () => {
  service.interfere = (_events, response) => refuse(response, 401, { code: 'unauthenticated' });
  const refused: string[] = [];
  makeClient({ onRefused: ({ code, idempotencyKeys }) => refused.push(code, ...idempotencyKeys) });
  for (const n of range(3)) await client.queue(eventOf(n));
  await client.flush();
  expect(refused).toEqual(range(3).flatMap((n) => ['unauthenticated', `k${n}`]));
  expect(service.requests).toHaveLength(1);
});
