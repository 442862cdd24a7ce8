// Both clients behind a proxy that spoils what it passes on, so that Weir itself refuses each request: no event of an outbox is lost.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as forward, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WeirClient, type QueueOptions } from '@weir/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
const run = promisify(execFile);
const pythonClient = fileURLToPath(new URL('../../clients/python', import.meta.url));
const KEYS = ['k1', 'k2', 'k3', 'k4', 'k5'];

/** What a proxy makes of the headers, and whether it takes the body off. */
interface Spoils {
  headers: (raw: string[]) => string[];
  isBodiless?: boolean;
}

const add =
  (name: string, value: string): Spoils['headers'] =>
  (raw) => [...raw, name, value];
const without = (raw: string[], names: string[]) =>
  raw.filter((_, at) => !names.includes(raw[at - (at % 2)]!.toLowerCase()));

const SPOILS: [what: string, status: number, spoils: Spoils][] = [
  ['adds a second Host', 400, { headers: add('Host', 'elsewhere.example') }],
  ['adds a second Content-Type', 400, { headers: add('Content-Type', 'application/json') }],
  ['takes bodies off', 400, { headers: (raw) => without(raw, ['content-length']), isBodiless: true }],
  ['says that bodies are packed', 400, { headers: add('Content-Encoding', 'gzip') }],
  ['adds a header of idempotency', 422, { headers: add('Idempotency-Key', 'mine') }],
  [
    'has another type of bodies',
    415,
    { headers: (raw) => [...without(raw, ['content-type']), 'Content-Type', 'text/plain'] },
  ],
  ['takes the API key off', 401, { headers: (raw) => without(raw, ['x-api-key']) }],
];

let apiKey: string;
let meter: { id: string; token: string };
let folder: string;
let proxy: Server | undefined;
let statuses: Set<number | undefined>;

beforeEach(async () => {
  const admin = await signUp(weir);
  apiKey = await admin.createKey('usage.write');
  meter = await admin.createMeter('SUM');
  folder = await mkdtemp(join(tmpdir(), 'weir-proxies-'));
  statuses = new Set();
});

afterEach(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await rm(folder, { recursive: true });
});

async function openProxy({ headers, isBodiless = false }: Spoils): Promise<string> {
  const { hostname, port } = new URL(weir.baseUrl);
  proxy = createServer((request, response) => {
    const answer = (answered: IncomingMessage) => {
      statuses.add(answered.statusCode);
      answered.pipe(response.writeHead(answered.statusCode ?? 502, answered.rawHeaders));
    };
    const sent = forward(
      { hostname, port, method: request.method, path: request.url, headers: headers(request.rawHeaders) as never },
      answer,
    );
    if (isBodiless) request.resume().on('end', () => sent.end());
    else request.pipe(sent);
  });
  await new Promise<void>((resolve) => proxy?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** Queues an event of each key, closes the client, and returns whether all is done and which events were refused for good. */
async function sendInNode(baseUrl: string, keys: readonly string[]): Promise<unknown> {
  const refused: string[] = [];
  const queue: QueueOptions = {
    outbox: { folder },
    onWarning: () => {},
    onRefused: (_, event) => refused.push(event.idempotency_key),
  };
  const client = new WeirClient({ baseUrl, apiKey, queue });
  for (const key of keys)
    await client.queue({ meter_token: meter.token, customer_external_id: 'c', quantity: 1, idempotency_key: key });
  return [(await client.close()).isDone, refused];
}

const PROGRAM = `
import json, sys
from weir import Client, Event, QueueOptions
base_url, api_key, folder, token, *keys = sys.argv[1:]
refused = []
options = QueueOptions(outbox=folder, on_refused=lambda error, event: refused.append(event.idempotency_key))
client = Client(base_url, api_key, queue=options)
for key in keys:
    client.queue(Event(token, "c", 1, idempotency_key=key))
print(json.dumps([client.close().is_done, refused]))
`;

async function sendInPython(baseUrl: string, keys: readonly string[]): Promise<unknown> {
  const env = { ...process.env, PYTHONPATH: pythonClient, PYTHONDONTWRITEBYTECODE: '1' };
  const args = ['-c', PROGRAM, baseUrl, apiKey, folder, meter.token, ...keys];
  return JSON.parse((await run('python3', args, { env })).stdout);
}

test.each(SPOILS)('a proxy that %s, which is a %i of Weir, costs no event', async (_, status, spoils) => {
  const baseUrl = await openProxy(spoils);
  expect(await sendInNode(baseUrl, KEYS)).toEqual([false, []]);
  // The same folder: what it finds is kept as well.
  expect(await sendInPython(baseUrl, ['k6'])).toEqual([false, []]);
  expect([...statuses]).toEqual([status]);
  expect(await sendInNode(weir.baseUrl, [])).toEqual([true, []]);
  await weir.drained();
  const { rows } = await weir.pool.query('SELECT idempotency_key FROM events WHERE meter_id = $1 ORDER BY 1', [
    meter.id,
  ]);
  expect(rows.map(({ idempotency_key }) => idempotency_key)).toEqual([...KEYS, 'k6']);
});
