import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { History, type Operation } from '../history.ts';
import { Random } from '../random.ts';
import { Sender, type Outgoing } from './sender.ts';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-test-sender-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const requestOf = (operation: Operation, path: string, organization = 0): Outgoing => ({
  organization,
  operation,
  expect: [200],
  message: { method: 'GET', path, headers: {} },
});

test('who is asked to come back later asks that API for nothing but tracking until then', async () => {
  const heard: { path: string; at: number }[] = [];
  const server = http.createServer((request, response) => {
    const path = request.url ?? '';
    heard.push({ path, at: performance.now() });
    if (path === '/first') response.writeHead(429, { 'retry-after': '1' });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const history = new History(join(folder, 'history.jsonl'));
  const sender = new Sender([`http://127.0.0.1:${port}`], history, new Random(1));
  const { signal } = new AbortController();
  try {
    await sender.send(requestOf('receipt', '/first'), signal);
    const later = sender.send(requestOf('usage', '/later'), signal);
    await sender.send(requestOf('track', '/tracked'), signal);
    await sender.send(requestOf('usage', '/another', 1), signal);
    await later;
    expect(heard.map(({ path }) => path)).toEqual(['/first', '/tracked', '/another', '/later']);
    expect((heard[3]?.at ?? 0) - (heard[0]?.at ?? 0)).toBeGreaterThan(990);
  } finally {
    sender.close();
    server.close();
    await history.close();
  }
});
