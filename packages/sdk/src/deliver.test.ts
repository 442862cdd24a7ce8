// What Weir, or the way to it, takes only in smaller requests than those that the client makes.

import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventOf, FakeService, range, refuse, type SentEvent } from '../../../test/support/fake-service.ts';
import { WeirClient, type WeirClientOptions } from './client.ts';

let service: FakeService;

beforeEach(async () => {
  service = await FakeService.open();
  // No time between the attempts.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await service.close();
});

function makeClient(options: Partial<WeirClientOptions> = {}): WeirClient {
  return new WeirClient({ baseUrl: service.url, apiKey: 'org_live_x', queue: { onWarning: () => {} }, ...options });
}

async function queueTen(client: WeirClient): Promise<void> {
  for (const n of range(10)) await client.queue(eventOf(n));
  expect(await client.close()).toEqual({ isDone: true, unsent: [] });
  expect(service.accepted.size).toBe(10);
}

const sizes = () => service.requests.map((events) => events.length);

/** Weir takes so many events in a minute, by a limit of this name. The minute ends with the first answer that nothing is left of it. */
function limitTo(quota: number, name: string): void {
  let left = quota;
  service.interfere = (events, response) => {
    if (events.length <= left) {
      left -= events.length;
      return false;
    }
    response.setHeader('ratelimit-policy', `"tracking-per-address";q=90;w=60, "${name}";q=${quota};w=60`);
    response.setHeader('ratelimit', `"tracking-per-address";r=1;t=40, "${name}";r=${left};t=40`);
    if (left === 0) left = quota;
    return refuse(response, 429, { code: 'rate_limited' });
  };
}

test('of a batch of more events than Weir takes in a minute so many go, and the others in the next one', async () => {
  limitTo(6, 'events-per-key');
  await queueTen(makeClient());
  expect(sizes()).toEqual([10, 6, 4, 4]);
});

test('what others have left of the minute is used up, and each wait for a minute is a retry', async () => {
  limitTo(3, 'events-per-key');
  await makeClient().trackBatch([eventOf(11), eventOf(12)]);
  const told: number[] = [];
  const client = makeClient({ retries: 2, onRetry: ({ status }) => told.push(status) });
  const outcomes = await client.trackBatch(range(10).map(eventOf));
  const kept = outcomes.map((outcome) => 'id' in outcome);
  expect(kept).toEqual([...Array(7).fill(true), ...Array(3).fill(false)]);
  expect(sizes()).toEqual([2, 10, 1, 9, 9, 3, 6, 6, 3, 3]);
  expect(told).toEqual([429, 429]);
});

test('by a limit of requests, and where nothing is left of a minute, nothing goes in more requests', async () => {
  limitTo(3, 'tracking-per-address');
  const error: unknown = await makeClient({ retries: 2 })
    .trackBatch(range(10).map(eventOf))
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'rate_limited' });
  limitTo(0, 'events-per-key');
  await expect(makeClient({ retries: 1 }).trackBatch([eventOf(1)])).rejects.toMatchObject({ code: 'rate_limited' });
  expect(sizes()).toEqual([10, 10, 10, 1, 1]);
});

test('a batch that twice got no answer in time, or 408, goes on in halves', async () => {
  service.interfere = (events) => events.length > 3;
  await queueTen(makeClient({ timeoutMs: 50 }));
  // The halves of a half; on a busy machine they, too, may have to be sent once more.
  expect(sizes()).toEqual(expect.arrayContaining([3, 2]));

  service.requests.length = 0;
  service.accepted.clear();
  service.interfere = (events, response) => events.length > 3 && refuse(response, 408);
  await queueTen(makeClient());
  expect(sizes()).toEqual([10, 10, 5, 5, 3, 2, 5, 5, 3, 2]);
});

test('an event is sent no more often than asked for, in halves or not', async () => {
  service.interfere = (_events, response) => refuse(response, 408);
  const told: number[] = [];
  const client = makeClient({ retries: 4, onRetry: ({ status }) => told.push(status) });
  await expect(client.trackBatch(range(10).map(eventOf))).rejects.toMatchObject({ status: 408 });
  expect(sizes()).toEqual([10, 10, 5, 5, 3]);
  expect(told).toEqual(Array(4).fill(408));
});

test('an event of which an answer got lost is not told as if it had left no trace', async () => {
  const shed = { status: 503, code: 'unavailable', outcome: 'not_accepted' };
  const answerTo = (events: SentEvent[], response: ServerResponse) =>
    refuse(response, 207, { data: events.map(() => shed) });
  const events = range(2).map(eventOf);
  const perhaps = { error: { outcome: 'unknown', code: 'unavailable' } };
  for (const lost of [1, 2]) {
    service.requests.length = 0;
    service.interfere = (sent, response) =>
      service.requests.length === lost ? refuse(response, 502) : answerTo(sent, response);
    expect(await makeClient({ retries: 1 }).trackBatch(events)).toMatchObject([perhaps, perhaps]);
  }
  service.interfere = answerTo;
  const none = { error: { outcome: 'not_accepted' } };
  expect(await makeClient({ retries: 1 }).trackBatch(events)).toMatchObject([none, none]);
});

test('a batch without an event is for Weir to refuse', async () => {
  service.interfere = (_events, response) => refuse(response, 422, { code: 'invalid_request' });
  await expect(makeClient().trackBatch([])).rejects.toMatchObject({ code: 'invalid_request' });
});
