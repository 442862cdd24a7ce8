// Connections that only take: those whose clients do not read, do not send, do not close, and those that are too many.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { signUp, until, type Organization } from '../support/harness.ts';
import { connectTo, talk } from '../support/raw-connection.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
const sockets: Socket[] = [];

beforeAll(async () => {
  admin = await signUp(weir);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Clients that leave their side of the connection open, whatever the API does. */
async function clients(baseUrl: string, count: number, bytes = ''): Promise<Socket[]> {
  const all = Array.from({ length: count }, () => connectTo(baseUrl, { allowHalfOpen: true }));
  sockets.push(...all);
  for (const socket of all) socket.on('error', () => {});
  await Promise.all(all.map((socket) => once(socket, 'connect')));
  for (const socket of all) if (bytes !== '') socket.write(bytes);
  return all;
}
const metric = async (baseUrl: string, line: RegExp): Promise<number> =>
  Number(line.exec(await (await fetch(`${baseUrl}/metrics`)).text())?.[1] ?? Number.NaN);
const connections = (baseUrl: string) => metric(baseUrl, /^weir_connections (\d+)$/m);
const slotsTaken = (baseUrl: string) => metric(baseUrl, /^weir_requests_in_flight (\d+)$/m);
const shed = (baseUrl: string) => metric(baseUrl, /^weir_shed_requests_total\{reason="connections"\} (\d+)$/m);
const health = async (baseUrl: string) => (await weir.request('GET', '/healthz', { baseUrl })).status;
const readFeatures = (baseUrl: string) => weir.request('GET', '/api/v1/features', { session: admin.session, baseUrl });

const LARGE = 'GET /docs/assets/scalar.js HTTP/1.1\r\nHost: weir\r\n\r\n';

/** Clients that ask until as many answers as these wait in the process, and read nothing, or a little now and then. */
async function slowReaders(baseUrl: string, count: number): Promise<Socket[]> {
  const slow = await clients(baseUrl, count);
  for (const socket of slow) socket.pause();
  // The system takes some megabytes for each before the process has to keep the rest.
  let looks = 0;
  await until(async () => {
    for (const socket of slow) socket.write(LARGE);
    looks = (await slotsTaken(baseUrl)) >= count ? looks + 1 : 0;
    return looks === 10;
  }, 'answers wait to be taken, look after look');
  return slow;
}

test('a client that takes nothing of its answer, or little, holds a slot no longer than ANSWER_TIMEOUT_MS', async () => {
  const api = await weir.startApi({ REQUESTS_IN_FLIGHT_MAX: '2', ANSWER_TIMEOUT_MS: '1500' });
  const [, sips] = await slowReaders(api.url, 2);
  const sipping = setInterval(() => sips?.read(1_000), 20);
  await until(async () => (await readFeatures(api.url)).status === 200, 'there is room for those who read', 10);
  await until(async () => (await slotsTaken(api.url)) === 0, 'every slot is given back', 10);
  clearInterval(sipping);
  expect((await readFeatures(api.url)).status).toBe(200);
  await api.close();
});

test('a client that takes a large answer at its own pace gets all of it', async () => {
  const api = await weir.startApi({ ANSWER_TIMEOUT_MS: '20000' });
  // Of the last of these some waits in the process, which is when its time began.
  const [client] = await slowReaders(api.url, 1);
  const answers = Number(client?.bytesWritten) / LARGE.length;
  client?.end();
  let bytes = 0;
  const whole = Number(
    (await fetch(`${api.url}/docs/assets/scalar.js`, { headers: { 'accept-encoding': 'identity' } })).headers.get(
      'content-length',
    ),
  );
  for await (const chunk of client ?? []) bytes += (chunk as Buffer).length;
  expect(bytes).toBeGreaterThan(answers * whole);
  await api.close();
});

test('what was answered and ended is closed soon after, also when its client leaves it open', async () => {
  const api = await weir.startApi({ REQUEST_TIMEOUT_MS: '1000' });
  await clients(api.url, 100, 'POST /api/v1/auth/login HTTP/1.1\r\n');
  expect(await connections(api.url)).toBeGreaterThan(100);
  await clients(api.url, 100, 'this is no HTTP\r\n\r\n');
  await clients(api.url, 20, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
  await until(async () => (await connections(api.url)) <= 2, 'they are closed', 8);
  await api.close();
});

test('clients that break off in the middle of whatever they say do not end the process', async () => {
  const api = await weir.spawnApi();
  for (const bytes of [
    'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\r\n',
    'no HTTP\r\n\r\n',
    LARGE,
  ]) {
    for (const socket of await clients(api.url, 5, bytes)) {
      socket.resetAndDestroy();
      expect(await health(api.url)).toBe(200);
    }
  }
  await api.stop();
  expect(api.child.exitCode).toBe(0);
});

describe('connections from one address', () => {
  test('are limited, and one more is told so', async () => {
    const api = await weir.startApi({ CONNECTIONS_PER_ADDRESS_MAX: '5' });
    const held = await clients(api.url, 5);
    const refused = await talk(api.url, '');
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    for (const socket of held) socket.destroy();
    await until(async () => (await health(api.url).catch(() => 0)) === 200, 'there is room');
    expect(await shed(api.url)).toBeGreaterThan(0);
    await api.close();
  });

  test.each([
    [{ CONNECTIONS_PER_ADDRESS_MAX: '0' }],
    [{ CONNECTIONS_PER_ADDRESS_MAX: '5', TRUST_PROXY: '10.0.0.0/8, 127.0.0.1' }],
    [{ CONNECTIONS_PER_ADDRESS_MAX: '5', TRUST_PROXY: '127.0.0.0/255.0.0.0' }],
  ])('are not limited with %j', async (settings) => {
    const api = await weir.startApi(settings);
    await clients(api.url, 20);
    expect(await health(api.url)).toBe(200);
    await api.close();
  });
});

test('more connections than there may be in all are closed at once, and those that are open are served', async () => {
  const api = await weir.startApi({ CONNECTIONS_MAX: '10', CONNECTIONS_PER_ADDRESS_MAX: '0' });
  expect(await health(api.url)).toBe(200);
  const [served, ...crowd] = await clients(api.url, 30);
  if (served === undefined) throw new Error('there is no client');
  let ended = 0;
  for (const socket of crowd) socket.resume().once('end', () => (ended += 1));
  await until(() => ended >= 20, 'those that are too many are closed');
  served.write('GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n');
  expect(String(await once(served, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  for (const socket of crowd) socket.destroy();
  await until(async () => (await health(api.url).catch(() => 0)) === 200, 'there is room');
  expect(await shed(api.url)).toBeGreaterThanOrEqual(20);
  await api.close();
});

describe('a process that has few descriptors', () => {
  // To load its modules, Node opens hundreds of them at once: with fewer descriptors it does not start.
  const descriptorsMax = 800;

  test('takes as many connections as leave room for the rest, and serves those', async () => {
    const api = await weir.spawnApi({ CONNECTIONS_PER_ADDRESS_MAX: '0' }, { descriptorsMax });
    expect((await readFeatures(api.url)).status).toBe(200);
    await clients(api.url, descriptorsMax);
    // Over the connection that this test has already, and over new ones to Postgres.
    const answers = await Promise.all(Array.from({ length: 3 }, () => readFeatures(api.url).catch(() => undefined)));
    expect(answers.map((answer) => answer?.status)).toContain(200);
    await api.stop();
    expect(api.child.exitCode).toBe(0);
  });

  test('and runs out of them goes on, and serves everybody once there are some again', async () => {
    const settings = { CONNECTIONS_MAX: '100000', CONNECTIONS_PER_ADDRESS_MAX: '0' };
    const api = await weir.spawnApi(settings, { descriptorsMax });
    expect((await readFeatures(api.url)).status).toBe(200);
    const crowd = await clients(api.url, descriptorsMax + 150);
    // Two turns of the timers that look at how the process does.
    const began = performance.now();
    await until(() => performance.now() - began > 2_200 || api.child.exitCode !== null, 'its timers have run');
    expect(api.child.exitCode).toBe(null);
    for (const socket of crowd) socket.destroy();
    const isServed = async () => (await readFeatures(api.url).catch(() => undefined))?.status === 200;
    await until(isServed, 'everybody is served again');
    expect(await metric(api.url, /^process_resident_memory_bytes (\d+)$/m)).toBeGreaterThan(0);
    await api.stop();
    expect(api.child.exitCode).toBe(0);
  });
});

test('SIGTERM does not wait for clients that are answered, silent or slow, and ends with code 0', async () => {
  const api = await weir.spawnApi({ REQUEST_TIMEOUT_MS: '1000', DRAIN_TIMEOUT_MS: '4000' });
  const refused = 'POST /api/v1/sdk/track HTTP/1.1\r\nHost: weir\r\nContent-Length: 50\r\n\r\n{';
  const late = await clients(api.url, 20, 'POST /api/v1/auth/login HTTP/1.1\r\n');
  await Promise.all(late.map((socket) => once(socket, 'data')));
  await clients(api.url, 20);
  await clients(api.url, 20, refused);
  await clients(api.url, 20, 'GET /healthz HTT');
  await slowReaders(api.url, 3);
  await api.stop('SIGTERM');
  expect(api.child.exitCode).toBe(0);
});
