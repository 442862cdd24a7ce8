// The demo of npm start, on a real API and worker: each line that it prints works when it is pasted as it is.

import { type Demo, openDemo } from '@weir/services/demo';
import { tellWelcome } from '@weir/services/welcome';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownWeir } from '../support/use-weir.ts';

const shell = promisify(execFile);
const silent = (): void => {};

const weir = ownWeir();
let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-demo-'));
  file = join(folder, 'demo.json');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** The lines to paste, as somebody reads them after a start. */
async function start(): Promise<string[]> {
  const demo = await openDemo({ file, baseUrl: weir.baseUrl, signup: 'first' }, silent);
  const lines = tellWelcome(weir.baseUrl, demo, folder).split('\n');
  return lines.filter((line) => line.startsWith('curl '));
}

// Waiting for the queue does what the printed sleep does for a person.
async function paste(line: string): Promise<unknown> {
  const { stdout } = await shell('sh', ['-c', line], { cwd: folder });
  await weir.drained();
  return JSON.parse(stdout);
}

const invoiceOf = (quantity: string, usage: string, total: string) => ({
  status: 'DRAFT',
  currency: 'USD',
  total,
  lines: [
    { kind: 'USAGE', description: 'Tokens', quantity, amount: usage },
    { kind: 'FIXED', description: 'Base fee', amount: '49.00' },
  ],
});

test('the printed lines send an event, count it and show it on an invoice, at each start', async () => {
  for (const [quantity, usage, total] of [
    ['1250', '23.75', '72.75'],
    ['2500', '42.50', '91.50'],
  ] as const) {
    const [track = '', read = '', invoice = '', ...others] = await start();
    expect(others).toEqual([]);
    expect(await paste(track)).toHaveProperty('id');
    expect(await paste(read)).toMatchObject({ total_usage: quantity });
    expect(await paste(invoice)).toMatchObject(invoiceOf(quantity, usage, total));
  }
  expect(await listSubscriptions()).toMatchObject([{ customer_external_id: 'acme', status: 'ACTIVE' }]);
});

test('a file that does not name the subscription gets the same subscription, and the same key', async () => {
  const { subscription_id, ...kept } = JSON.parse(await readFile(file, 'utf8')) as Demo;
  await writeFile(file, JSON.stringify(kept));
  expect(await openDemo({ file, baseUrl: weir.baseUrl, signup: 'first' }, silent)).toEqual({
    ...kept,
    subscription_id,
  });
});

async function listSubscriptions(): Promise<unknown> {
  const { email, password } = JSON.parse(await readFile(file, 'utf8')) as Demo;
  const login = await weir.request('POST', '/api/v1/auth/login', { body: { email, password } });
  const session = /access_token=([^;]+)/.exec(login.headers.get('set-cookie') ?? '')?.[1] ?? '';
  const { body } = await weir.request('GET', '/api/v1/subscriptions', { session });
  return body.data;
}
