// What Weir, or the way to it, takes only in smaller requests than those that the client makes.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventOf, FakeService, range, refuse } from '../../../test/support/fake-service.ts';
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

/** Weir refuses more than so many events, as it does by a limit of this name. */
function limitTo(quota: number, name: string): void {
  service.interfere = (events, response) => {
    response.setHeader('ratelimit-policy', `"requests-per-key";q=1;w=60, "${name}";q=${quota};w=60`);
    return events.length > quota && refuse(response, 429, { code: 'rate_limited' });
  };
}

test('a batch of more events than Weir takes in a minute is tried once, and goes in smaller requests', async () => {
  limitTo(3, 'events-per-key');
  await queueTen(makeClient());
  expect(sizes()).toEqual([10, 3, 2, 3, 2]);
});

test('by a limit of requests, and where no minute is long enough, nothing goes in more requests', async () => {
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
