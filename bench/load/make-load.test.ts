import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { LoadMessage, LoadPlan, LoadResult } from './plan.ts';
import { runLoad } from './make-load.ts';

const server = createServer();
afterEach(() => {
  server.removeAllListeners('request');
  server.close();
});

/** Has a load made on a server that answers as it is told, and returns what it came to and what was told meanwhile. */
async function load(
  change: Partial<LoadPlan>,
  onRequest: (answer: (status?: number) => void, index: number) => void,
): Promise<{ result: LoadResult; kinds: string[] }> {
  let index = 0;
  server.on('request', (request, response: ServerResponse) => {
    request.resume();
    onRequest((status = 201) => response.writeHead(status, { 'content-length': 2 }).end('{}'), (index += 1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const plan: LoadPlan = {
    urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
    path: '/track',
    callers: [{ apiKey: 'key', meterToken: 'meter' }],
    customers: 10,
    eventsPerRequest: 1,
    connections: 2,
    seconds: 1,
    requestsPerSecond: null,
    ...change,
  };
  const told: LoadMessage[] = [];
  const result = await runLoad(plan, (message) => told.push(message));
  return { result, kinds: told.map(({ kind }) => kind) };
}

test('a server that stands still for a while is seen in the latency of all that was due meanwhile', async () => {
  // The first answers come after 600 of 1,000 ms; the rest of what is due waits for a connection.
  const held: (() => void)[] = [];
  const { result } = await load({ requestsPerSecond: 200 }, (answer, index) => {
    if (index <= 2) held.push(answer);
    else answer();
    if (index === 2) setTimeout(() => held.forEach((each) => each()), 600);
  });
  expect(result).toMatchObject({ due: 200, unsent: 0, accepted: 200, errors: {} });
  // 120 of the 200 were due while it stood still, and waited 300 ms on average.
  expect(result.latencyMs.p50).toBeGreaterThan(60);
  expect(result.latencyMs.p99).toBeGreaterThan(500);
});

test('without a rate each connection has one request under way, and the end is told before the result', async () => {
  let underWay = 0;
  let most = 0;
  const { result, kinds } = await load({ connections: 3 }, (answer) => {
    underWay += 1;
    most = Math.max(most, underWay);
    setImmediate(() => {
      underWay -= 1;
      answer();
    });
  });
  expect(most).toBeLessThanOrEqual(3);
  expect(result.accepted).toBeGreaterThan(10);
  expect(result).toMatchObject({ due: null, unsent: null, unclear: 0 });
  expect(kinds[0]).toBe('began');
  expect(kinds.at(-1)).toBe('ended');
});

test('an answer that refuses is no quick one: it counts as the longest there is', async () => {
  const { result } = await load({ seconds: 0.2 }, (answer, index) => answer(index % 10 === 0 ? 503 : 201));
  expect(result.errors['503']).toBeGreaterThan(0);
  expect(result.latencyMs.p50).toBeLessThan(1_000);
  expect(result.latencyMs.p99).toBeGreaterThan(59_000);
});
