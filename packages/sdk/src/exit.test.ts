import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WeirClient, type KeyedEvent } from './client.ts';

let server: Server;
let keys: string[];
/** What the first requests are answered. */
let statuses: number[];
/** What is said of each event. */
let outcome: object;

beforeEach(async () => {
  keys = [];
  statuses = [];
  outcome = { status: 201, id: 'x' };
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { events } = JSON.parse(text) as { events: { idempotency_key: string }[] };
      const status = statuses.shift() ?? 201;
      if (status === 201) keys.push(...events.map((event) => event.idempotency_key));
      response.writeHead(status).end(JSON.stringify({ data: events.map(() => outcome) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A program that has a client, which sends nothing by itself for an hour. */
function runProgram(code: string, options = ''): { child: ChildProcess; ended: Promise<unknown[]> } {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const program = `
    import { WeirClient } from '${new URL('client.ts', import.meta.url).href}';
    const queue = { intervalMs: 3_600_000, ${options} };
    const weir = new WeirClient({ baseUrl: '${baseUrl}', apiKey: 'k', queue });
    const event = (key) => ({ meter_token: 'm', customer_external_id: 'c', quantity: 1, idempotency_key: key });
    ${code}`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, ended: once(child, 'exit') };
}

test('a process that ends by itself sends first what is queued, also when that takes another attempt', async () => {
  statuses = [503];
  const { ended } = runProgram(`await weir.queue(event('at exit'));`);
  expect(await ended).toEqual([0, null]);
  expect(keys).toEqual(['at exit']);
});

test('a process whose service is away ends all the same, and says what it did not send', async () => {
  statuses = Array.from({ length: 100 }, () => 503);
  const { child, ended } = runProgram(`await weir.queue(event('lost'));`, 'exitTimeoutMs: 50');
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  expect(await ended).toEqual([0, null]);
  expect(errors).toContain('WeirWarning: The process ends with 1 events that were not sent.');
});

test('who waits for room keeps the process alive', async () => {
  statuses = [503];
  const { ended } = runProgram(`for (const key of ['a', 'b', 'c']) await weir.queue(event(key));`, 'eventsMax: 1');
  expect(await ended).toEqual([0, null]);
  expect(keys).toEqual(['a', 'b', 'c']);
});

test('what a killed process had on disk is sent by another one that runs, and needs no new start for that', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-outbox-'));
  const { port } = server.address() as AddressInfo;
  const queue = { outbox: { folder } };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  const running = new WeirClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'k', queue });
  try {
    const code = `await weir.queue(event('of the killed')); console.log('queued'); setInterval(() => {}, 1000);`;
    const { child, ended } = runProgram(code, `outbox: { folder: ${JSON.stringify(folder)} }`);
    await once(child.stdout!, 'data');
    child.kill('SIGKILL');
    await ended;
    expect(keys).toEqual([]);
    // As long as it takes until the next look.
    await vi.advanceTimersByTimeAsync(5_000);
    await vi.waitUntil(() => keys.length > 0, { timeout: 20_000, interval: 20 });
    expect(await running.close()).toEqual({ isDone: true, unsent: [] });
    expect(keys).toEqual(['of the killed']);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    await running.close();
    vi.useRealTimers();
    rmSync(folder, { recursive: true });
  }
}, 30_000);

test('SIGTERM sends what is queued where that is asked for, and ends the process as it always does', async () => {
  const code = `await weir.queue(event('at SIGTERM')); setInterval(() => {}, 1000); console.log('queued');`;
  for (const [options, sent] of [
    ['closeOnSigterm: true', ['at SIGTERM']],
    ['', []],
  ] as const) {
    keys = [];
    const { child, ended } = runProgram(code, options);
    await once(child.stdout!, 'data');
    child.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
    expect(keys).toEqual(sent);
  }
});

test('of an event that is refused while its process is killed the next one is told, too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-refused-'));
  try {
    outcome = { status: 422, code: 'invalid_request' };
    // So small that the file of one event is full, and removed as soon as that is settled.
    const outbox = `batchEventsMax: 1, outbox: { folder: '${folder}', bytesMax: 1 }`;
    const { ended } = runProgram(
      `await weir.queue(event('refused'));`,
      `${outbox}, onRefused: () => process.kill(process.pid, 'SIGKILL')`,
    );
    expect(await ended).toEqual([null, 'SIGKILL']);
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    let next: WeirClient | undefined;
    const told = await new Promise((resolve) => {
      const queue = {
        outbox: { folder },
        onRefused: (_: unknown, event: KeyedEvent) => resolve(event.idempotency_key),
      };
      next = new WeirClient({ baseUrl, apiKey: 'k', queue });
    });
    expect(told).toBe('refused');
    await next?.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
