// Clients that never send anything again: each request that is not answered as it should be is one that an upgrade has cost.

import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface Load {
  /** Answered as they should be, by what they were. */
  readonly answered: Record<string, number>;
  readonly failed: string[];
  /** How many invoices there will be in the end that are no drafts. */
  invoicesDue(): number;
  stop(): Promise<void>;
}

interface Asked {
  status: number;
  text: string;
  cookie: string | undefined;
}

interface Message {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: object;
}

function ask(url: string, agent: http.Agent, { method, path, headers, body }: Message): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const type =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const request = http.request(`${url}${path}`, { method, agent, headers: { ...headers, ...type } }, (response) => {
      let read = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (read += chunk));
      response.on('error', reject);
      response.on('end', () => {
        const cookie = /access_token=[^;]+/.exec(response.headers['set-cookie']?.[0] ?? '')?.[0];
        resolve({ status: response.statusCode ?? 0, text: read, cookie });
      });
    });
    request.on('error', reject);
    request.end(text);
  });
}

/** What one client does: what it is called, what must come of it, how long it waits between two, and what it sends. */
interface Client {
  name: string;
  status: number;
  pauseMs: number;
  /** Undefined while there is nothing to ask for. */
  message(): Message | undefined;
}

/** As many subscriptions are made under load. */
const SUBSCRIPTIONS = 200;
/** They began so long ago, by the month: three are over whatever day it is, and no other one ends within the run. */
const DAYS_AGO = 100;
const PERIODS_OVER = 3;
const DAY_MS = 86_400_000;

/**
 * An organization with a meter and a plan, and whoever tracks, reads, changes, subscribes and asks for invoices, each over a connection
 * that is kept.
 */
export async function startLoad(url: string, log: (line: string) => void): Promise<Load> {
  const agent = new http.Agent({ keepAlive: true });
  const create = async (
    path: string,
    body: object,
    cookie = '',
    method = 'POST',
  ): Promise<{ made: Record<string, string>; cookie: string }> => {
    const answer = await ask(url, agent, { method, path: `/api/v1${path}`, headers: { cookie }, body });
    if (answer.status !== (method === 'POST' ? 201 : 200))
      throw new Error(`${path} was answered ${answer.status}: ${answer.text}`);
    return { made: JSON.parse(answer.text) as Record<string, string>, cookie: answer.cookie ?? cookie };
  };
  const account = { email: 'admin@example.com', password: 'correct horse battery', organization_name: 'Rolling' };
  const { cookie } = await create('/auth/signup', account);
  const feature = { name: 'Calls', lookup_key: 'calls', type: 'meter', aggregation_type: 'SUM' };
  const { made } = await create('/features', feature, cookie);
  const key = await create('/api-keys', { name: 'load', scopes: ['usage.write', 'usage.read'] }, cookie);
  await create('/billing/settings', { invoice_grace_hours: 0 }, cookie, 'PATCH');
  const terms = { name: 'Monthly', lookup_id: 'monthly', type: 'HYBRID', billing_interval: 'month', currency: 'USD' };
  const plan = (await create('/plans', terms, cookie)).made['id'] ?? '';
  const prices = [
    { type: 'FIXED', display_name: 'Base fee', unit_price: '1' },
    { type: 'USAGE', display_name: 'Calls', meter_id: made['meter_id'], unit_price: '0.1' },
  ];
  for (const price of prices) await create(`/plans/${plan}/charges`, price, cookie);
  const subscribers: string[] = [];
  for (let count = 1; count <= SUBSCRIPTIONS; count += 1)
    subscribers.push((await create('/customers', { external_id: `subscriber-${count}` }, cookie)).made['id'] ?? '');
  agent.destroy();

  const start_date = new Date(Date.now() - DAYS_AGO * DAY_MS).toISOString();
  const caller = { 'x-api-key': key.made['key'] ?? '' };
  const event = { meter_token: made['meter_token'], customer_external_id: 'acme', quantity: 1 };
  let customers = 0;
  const track = { name: 'events', status: 201, message: () => post('/sdk/track', caller, event) };
  const load = { answered: {} as Record<string, number>, failed: [] as string[] };
  const fail = (line: string) => {
    load.failed.push(line);
    log(line);
  };
  const clients: Client[] = [
    ...Array.from({ length: 6 }, () => ({ ...track, pauseMs: 10 })),
    // Those that are slower than a stop find their connection as they left it, or not.
    ...Array.from({ length: 12 }, (_, index) => ({ ...track, pauseMs: 200 + 70 * index })),
    {
      name: 'reads',
      status: 200,
      pauseMs: 30,
      message: () => ({ method: 'GET', path: `/api/v1/meters/${made['meter_id']}/usage`, headers: caller }),
    },
    {
      name: 'changes',
      status: 201,
      pauseMs: 50,
      message: () => post('/customers', { cookie }, { external_id: `customer-${(customers += 1)}` }),
    },
    {
      name: 'subscriptions',
      status: 201,
      pauseMs: 100,
      message() {
        const customer_id = subscribers.pop();
        return customer_id === undefined
          ? undefined
          : post('/subscriptions', { cookie }, { plan_id: plan, customer_id, start_date });
      },
    },
    {
      name: 'invoices',
      status: 200,
      pauseMs: 200,
      message: () => ({ method: 'GET', path: '/api/v1/invoices?status=OPEN&page_size=20', headers: { cookie } }),
    },
    {
      name: 'feed',
      status: 200,
      pauseMs: 200,
      message: () => ({ method: 'GET', path: '/api/v1/billing-events?limit=20', headers: { cookie } }),
    },
  ];
  let isStopped = false;
  const work = async ({ name, status, pauseMs, message }: Client): Promise<void> => {
    const own = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (; !isStopped; await delay(pauseMs)) {
      const asked = message();
      if (asked === undefined) continue;
      try {
        const answer = await ask(url, own, asked);
        if (answer.status === status) load.answered[name] = (load.answered[name] ?? 0) + 1;
        else fail(`${name}: ${answer.status} ${answer.text}`);
      } catch (error) {
        fail(`${name}: ${String(error)}`);
      }
    }
    own.destroy();
  };
  const working = clients.map(work);
  return {
    ...load,
    // The fixed price of the period that goes on is billed in advance.
    invoicesDue: () => (PERIODS_OVER + 1) * (load.answered['subscriptions'] ?? 0),
    async stop() {
      isStopped = true;
      await Promise.all(working);
    },
  };
}

function post(path: string, headers: Record<string, string>, body: object): Message {
  return { method: 'POST', path: `/api/v1${path}`, headers, body };
}
