// The guides: every command in them is run as it stands, in the order in which a reader pastes it, and answers what they say.

import { openDemo } from '@weir/services/demo';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, until, type Organization } from '../support/harness.ts';
import { makeServiceAccount } from '../support/service-accounts.ts';
import { ownWeir } from '../support/use-weir.ts';

const run = promisify(execFile);

/** The Python client, as it is installed from a clone. */
const CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url));

const FIRST = 'first-event';
const CHAIN = [
  FIRST,
  'unique-users',
  'late-events',
  'corrections',
  'pricing-and-invoices',
  'services',
  'embedding',
  'events-of-others',
];
const NAMES = [...CHAIN, 'running-it'];

/** What is not run here: it starts Weir, which each test has done in its own way. */
const STARTS = [
  'npm start',
  'cp .env.example .env && chmod 600 .env',
  'docker compose build --build-arg REVISION=$(git rev-parse HEAD)',
  'docker compose up -d',
  'docker compose ps',
];

/** Where in the last answer a variable is found that the reader copies from it; by default its `id`. */
const FIELDS: Record<string, string> = {
  METER: 'meter_token',
  METER_ID: 'meter_id',
  USERS: 'meter_token',
  USERS_ID: 'meter_id',
  KEY: 'key',
  TOKEN: 'token',
  SERVICE_TOKEN: 'token',
  NEXT_TOKEN: 'token',
  USAGE_KEY: 'key',
  INVOICE: 'data.0.id',
  OLD_TOKEN_ID: 'data.1.id',
};

// A guide has a receiver of webhooks on the reader's own machine.
const networks = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
const weir = ownWeir({ api: networks, worker: { ...networks, WEBHOOK_CONCURRENCY: '4', WEBHOOK_INTERVAL_MS: '100' } });
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-guides-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const textOf = (name: string) => readFile(new URL(`../../docs/guides/${name}.md`, import.meta.url), 'utf8');

/** The blocks of code of a guide. */
async function blocksOf(name: string): Promise<{ language: string; code: string }[]> {
  const blocks = (await textOf(name)).matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].map(([, language = '', code = '']) => ({ language, code: code.trim() }));
}

/** What a guide says that a command answers, and what it answered. */
interface Told {
  code: string;
  said: object;
  answered: object;
}

/**
 * Reads a guide as a person does; `env` is the shell, which the next guide goes on in. Returns what it tells of answers, and how
 * many commands were run.
 */
async function follow(name: string, env: Record<string, string>): Promise<{ told: Told[]; ran: number }> {
  let ran = 0;
  let answered: Record<string, unknown> = {};
  const told: Told[] = [];
  for (const { language, code } of await blocksOf(name)) {
    if (language === 'json') told.push({ code, said: JSON.parse(code) as object, answered });
    else if (language === 'python') {
      answered = await runPython(code, env);
      ran += 1;
    } else if (language !== 'sh' || STARTS.includes(code)) continue;
    else if (code.startsWith('export ')) copy(code, answered, env);
    else {
      if (!code.startsWith('curl -sS ')) throw new Error(`${name} has a command that is not run: ${code}`);
      const { stdout } = await run('sh', ['-c', code], { cwd: folder, env: { PATH: process.env['PATH'], ...env } });
      // What is deleted is answered with nothing.
      answered = JSON.parse(stdout || '{}') as Record<string, unknown>;
      // A problem document has a title.
      if ('title' in answered) throw new Error(`${name}: ${code} answered ${stdout}`);
      await weir.drained();
      ran += 1;
    }
  }
  return { told, ran };
}

/** Runs a program of a guide; returns what it prints. */
async function runPython(code: string, env: Record<string, string>): Promise<Record<string, unknown>> {
  const { stdout } = await run('python3', ['-c', code], { env: { ...process.env, ...env, PYTHONPATH: CLIENT } });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Puts what a reader copies from an answer into the shell. */
function copy(code: string, answered: Record<string, unknown>, env: Record<string, string>): void {
  for (const [, variable = ''] of code.matchAll(/(\w+)=/g)) {
    if (variable in env) continue;
    const path = (FIELDS[variable] ?? 'id').split('.');
    const copied = path.reduce<unknown>((within, part) => (within as Record<string, unknown>)?.[part], answered);
    if (typeof copied !== 'string') throw new Error(`there is no ${variable} to copy from ${JSON.stringify(answered)}`);
    env[variable] = copied;
  }
}

test('the guides are true from the first command to the last', async () => {
  // A reader signs in to what `npm start` has made, so a guide must not make what the demo has already.
  const place = { file: join(folder, 'demo.json'), baseUrl: weir.baseUrl, signup: 'first' };
  const demo = await openDemo(place, () => {});
  if (demo === undefined) throw new Error('There is no demo to follow the guides in.');
  const shellOfReader = { WEIR: weir.baseUrl, EMAIL: demo.email, PASSWORD: demo.password };
  const followed = [];
  for (const name of CHAIN) followed.push(await follow(name, shellOfReader));
  // Under Docker there is no demo: this guide signs up, and makes its things in an organization of its own.
  followed.push(await follow('running-it', { WEIR: weir.baseUrl }));
  for (const { code, said, answered } of followed.flatMap(({ told }) => told))
    expect(answered, code).toMatchObject(said);
  expect(followed.map(({ told }) => told.length)).toEqual([1, 1, 2, 5, 2, 6, 4, 1, 1]);
  expect(followed.map(({ ran }) => ran)).toEqual([5, 3, 3, 9, 6, 19, 6, 2, 5]);
}, 60_000);

/** The webhook that fails waits for no more than that this is known. */
const sendAgain = (organizationId: string): Promise<void> =>
  until(async () => {
    const { rowCount } = await weir.pool.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now()
       WHERE organization_id = $1 AND status = 'PENDING' AND tries = 1 AND next_attempt_at > now()`,
      [organizationId],
    );
    return (rowCount ?? 0) > 0;
  }, 'the webhook has failed');

/**
 * Runs the bridge of a guide in an organization of its own. `atFirstPay` happens when the bridge has collected and first says so;
 * false lets no answer through. Returns what the bridge prints.
 */
async function followBridge(admin: Organization, atFirstPay: () => Promise<boolean>): Promise<Record<string, unknown>> {
  const bridge = (await blocksOf('services')).find(({ code }) => code.includes('class Receiver'));
  if (bridge === undefined) throw new Error('The guide of services has no bridge.');
  const { token } = await makeServiceAccount(weir, admin, 'admin');
  const { hostname, port } = new URL(weir.baseUrl);
  let asked = 0;
  const proxy = createServer((request, response) => {
    const { method, url, headers } = request;
    const pass = () => {
      const sent = forward({ hostname, port, method, path: url, headers }, (answered) => {
        answered.pipe(response.writeHead(answered.statusCode ?? 502, answered.rawHeaders));
      });
      request.pipe(sent);
    };
    if (url?.endsWith('/pay') !== true || ++asked > 1) return pass();
    // The client does not ask again what a proxy forbids, so the whole webhook has failed.
    void atFirstPay().then((isLet) => {
      if (isLet) pass();
      else response.writeHead(403).end();
      return sendAgain(admin.id);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    const { port: own } = proxy.address() as AddressInfo;
    const printed = await runPython(bridge.code, { WEIR: `http://127.0.0.1:${own}`, SERVICE_TOKEN: token });
    return { ...printed, asked };
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

test('the bridge of the guide collects once, also where Weir did not hear of it the first time', async () => {
  const admin = await signUp(weir);
  expect(await followBridge(admin, () => Promise.resolve(false))).toEqual({
    status: 'PAID',
    amount_paid: '49.00',
    charges: 1,
    feed: ['invoice.created', 'invoice.finalized', 'invoice.payment_recorded', 'invoice.paid'],
    asked: 2,
  });
}, 30_000);

test('what the bridge of the guide has collected above what is due is credit of the customer', async () => {
  const admin = await signUp(weir);
  const { call: request } = admin;
  const lower = async () => {
    const [{ id: customer_id }] = (await request('GET', '/customers?external_id=umbrella')).data;
    const plan = { name: 'Desk', lookup_id: 'desk', type: 'HYBRID', billing_interval: 'month', currency: 'USD' };
    const fee = { type: 'FIXED', display_name: 'Desk', unit_price: '1', timing: 'in_advance' };
    const { id: plan_id } = await request('POST', '/plans', { ...plan, charges: [fee] });
    const { id } = await request('POST', '/subscriptions', { plan_id, customer_id });
    const [draft] = (await request('GET', `/subscriptions/${id}/invoices`)).data;
    await request('POST', `/invoices/${draft.id}/lines`, { description: 'An outage', amount: '-22.00' });
    await request('POST', `/invoices/${draft.id}/finalize`);
    return true;
  };
  const printed = await followBridge(admin, lower);
  expect(printed).toEqual({
    status: 'PAID',
    amount_paid: '28.00',
    charges: 1,
    feed: ['invoice.created', 'invoice.finalized', 'invoice.credited', 'invoice.payment_recorded', 'invoice.paid'],
    asked: 2,
  });
  const [customer] = (await request('GET', '/customers?external_id=umbrella')).data;
  const [invoice] = (await request('GET', '/invoices?status=PAID&sort=created_at')).data;
  expect(await request('GET', `/customers/${customer.id}/credits`)).toMatchObject({
    balance: { USD: '21.00' },
    // The older one is what the invoice below zero gave, all of it to the one that was open.
    grants: [
      { remaining: '21.00', external_id: invoice.reference },
      { remaining: '0.00', external_id: null },
    ],
  });
}, 30_000);

test('each guide is a page, in the look of the reference, which runs nothing and leads to the others', async () => {
  const overview = await weir.request('GET', '/docs/guides');
  for (const name of NAMES) {
    expect(overview.body).toContain(`href="/docs/guides/${name}"`);
    const { status, headers, body } = await weir.request('GET', `/docs/guides/${name}`);
    expect([name, status, headers.get('content-type')]).toEqual([name, 200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).not.toMatch(/script-src|unsafe|https?:/);
    expect(body).not.toMatch(/<script|<style|<[^>]*\s(?:style|on\w+)=/);
    expect(body).toMatch(/<h1>.+<\/h1>/);
    for (const [, link = ''] of String(body).matchAll(/href="(\/docs[^"#]*)/g))
      expect([link, (await weir.request('GET', link)).status]).toEqual([link, 200]);
  }
  for (const name of ['nothing', 'constructor', '..%2fbilling', 'first-event.md'])
    expect((await weir.request('GET', `/docs/guides/${name}`)).status).toBe(404);
});
