import { readProc } from '@weir/services/processes';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { startChild, type Child } from '../child.ts';
import { memoryOf } from '../component-usage.ts';
import type { BenchDeps } from '../environment.ts';
import { weirEnv } from '../patterns.ts';
import { signIn } from '../sign-up.ts';
import { percentileOf } from '../spread.ts';
import { askAtRate } from './ask-at-rate.ts';
import { startBillingClock } from './billing-clock.ts';
import { MONTH, type Given } from './prepare.ts';
import { openTracking, type Tracked } from './track-beside.ts';

/** What else happens: nothing; events are tracked as fast as they are taken; the worker is killed again and again. */
export type MidnightKind = 'alone' | 'tracking' | 'kills';

export interface Midnight {
  kind: MidnightKind;
  /** From midnight until every subscription has its draft. */
  draftsSeconds: number;
  /** From the end of the grace until every draft is an invoice with a number. */
  finalizedSeconds: number;
  invoices: number;
  /** Of whose invoice comes to what, line by line: the same for the same usage. */
  fingerprint: string;
  /** Resident, early and at most; null where the worker does not live long enough, and where the system does not tell. */
  workerBytes: { early: number; most: number } | null;
  /** Meanwhile; null without tracking. */
  tracked: Tracked | null;
  kills: number;
  /** p99 of reading a draft of ten charges, and of an entitlement at a fixed rate; only where nothing else happens. */
  draftP99Ms: number | null;
  entitlementP99Ms: number | null;
}

const GRACE_OVER = '2026-11-01T01:00:00Z';
const KILL_SECONDS = 10;
/** What is not done by then will not be. */
const SECONDS_MAX = 1_800;
const EARLY_SHARE = 0.2;
/** To count a hundred thousand drafts takes Postgres some milliseconds, which are none of Weir's. */
const LOOK_MS = 1_000;
export const ENTITLEMENTS_PER_SECOND = 300;

export async function runMidnight(kind: MidnightKind, given: Given, deps: BenchDeps): Promise<Midnight> {
  const { database, organizationId, subscriptions } = given;
  const { environment, signal, progress } = deps;
  const { client } = database;
  const env = weirEnv({ environment, database });
  const api = await startChild('apps/api/dist/main.js', { env, signal });
  const worker = await keepWorker(env, signal, kind === 'kills' ? KILL_SECONDS : null);
  const tracking = kind === 'tracking' ? await openTracking(api, given, deps) : null;
  // All of the plan, and the one of many charges.
  const expected = subscriptions + 1;
  try {
    const all = 'SELECT count(*)::integer AS count FROM invoices';
    // Those of the month that began are drafts too: their grace ends at this midnight.
    const drafts = `${all} WHERE created_at >= '${MONTH.end}'`;
    const numbered = `${all} WHERE invoice_number IS NOT NULL`;
    const wait = (what: string, query: string, most: number) =>
      waitUntil(client, query, most, (count) => {
        signal.throwIfAborted();
        worker.look(count / most);
        progress.show(() => `${kind}: ${count} of ${most} ${what}`);
      });
    tracking?.begin();
    await startBillingClock(client, MONTH.end);
    const draftsSeconds = await wait('drafts', drafts, expected);
    const read = kind === 'alone' ? await readMeanwhile(api, given, client) : null;
    await startBillingClock(client, GRACE_OVER);
    const finalizedSeconds = await wait('invoices', numbered, await countBy(client, all));
    const tracked = (await tracking?.end()) ?? null;
    const { fingerprint, invoices } = await readInvoices(client, organizationId);
    return {
      kind,
      draftsSeconds,
      finalizedSeconds,
      invoices,
      fingerprint,
      workerBytes: kind === 'kills' ? null : worker.bytes(),
      tracked,
      kills: worker.kills(),
      draftP99Ms: read?.draft ?? null,
      entitlementP99Ms: read?.entitlement ?? null,
    };
  } finally {
    await tracking?.close();
    await worker.stop();
    await api.stop();
  }
}

/** Seconds until a query counts so many. */
async function waitUntil(
  client: pg.Client,
  query: string,
  expected: number,
  onCount: (count: number) => void,
): Promise<number> {
  const begin = performance.now();
  for (;;) {
    const count = await countBy(client, query);
    const seconds = (performance.now() - begin) / 1_000;
    onCount(count);
    if (count >= expected) return seconds;
    if (seconds > SECONDS_MAX) throw new Error(`after ${SECONDS_MAX} seconds only ${count} of ${expected} were there`);
    await delay(LOOK_MS);
  }
}

async function countBy(client: pg.Client, query: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(query);
  return rows[0]?.count ?? 0;
}

/** A worker, and another one whenever it is killed, which is every so many seconds. */
async function keepWorker(env: Record<string, string>, signal: AbortSignal, killSeconds: number | null) {
  const start = () => startChild('apps/worker/dist/main.js', { env, signal });
  let child = await start();
  let kills = 0;
  let early = 0;
  let most = 0;
  const stopping = new AbortController();
  const killing = (async () => {
    while (killSeconds !== null) {
      await delay(killSeconds * 1_000, undefined, { signal: stopping.signal });
      child.process.kill('SIGKILL');
      await child.failed.catch(() => {});
      kills += 1;
      child = await start();
    }
  })();
  // It ends with an error only when it is told to stop, and that is waited for below.
  killing.catch(() => {});
  return {
    kills: () => kills,
    look(share: number) {
      const status = child.process.pid === undefined ? undefined : readProc(child.process.pid, 'status');
      if (status === undefined) return;
      const bytes = memoryOf([status]);
      if (share <= EARLY_SHARE) early = Math.max(early, bytes);
      most = Math.max(most, bytes);
    },
    bytes: () => (most === 0 ? null : { early, most }),
    async stop() {
      stopping.abort();
      await killing.catch((error: unknown) => {
        if (!stopping.signal.aborted) throw error;
      });
      await child.stop();
    },
  };
}

/** How long it takes to read a draft and to ask for an entitlement, while nothing else happens. */
async function readMeanwhile(api: Child, given: Given, client: pg.Client) {
  const { manyChargesId, caller, subscriptions, lookupKey } = given;
  const agent = new Agent({ keepAlive: true });
  const get = (path: string, headers: Record<string, string>) => getOk(`${api.url}/api/v1${path}`, { agent, headers });
  const { rows } = await client.query<{ id: string }>('SELECT id FROM invoices WHERE subscription_id = $1', [
    manyChargesId,
  ]);
  const cookie = await signIn(api.url);
  const drafts = await askAtRate(() => get(`/invoices/${rows[0]?.id}`, { cookie }), { perSecond: 5, seconds: 40 });
  const key = { 'x-api-key': caller.apiKey };
  const entitlement = (n: number) => {
    const query = new URLSearchParams({
      customer_external_id: `customer-${(n * 7_919) % subscriptions}`,
      feature: lookupKey,
    });
    return get(`/entitlements?${query.toString()}`, key);
  };
  // The process has answered none yet: at full rate from its first request on it would shed some.
  for (const share of [0.1, 0.3, 1]) {
    await askAtRate(entitlement, { perSecond: ENTITLEMENTS_PER_SECOND * share, seconds: 5 });
  }
  const entitlements = await askAtRate((n) => entitlement(n + 1), {
    perSecond: ENTITLEMENTS_PER_SECOND,
    seconds: 20,
  });
  agent.destroy();
  return { draft: percentileOf(drafts, 0.99), entitlement: percentileOf(entitlements, 0.99) };
}

/** By node:http, which takes a fraction of what fetch takes of the cores that are measured. */
async function getOk(url: string, options: RequestOptions): Promise<void> {
  const [response] = (await once(request(url, options).end(), 'response')) as [IncomingMessage];
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${body}`);
}

/** Throws where a number is missing. */
async function readInvoices(client: pg.Client, organizationId: string) {
  const { rows } = await client.query<{ invoices: number; last_number: number; fingerprint: string }>(
    `SELECT count(*)::integer AS invoices, count(DISTINCT invoice_number)::integer AS numbers,
       (SELECT sum(last_number)::integer FROM invoice_numbers WHERE organization_id = $1) AS last_number,
       md5(string_agg(customer_external_id || ' ' || total || ' ' || lines, E'\\n' ORDER BY customer_external_id, lines)) AS fingerprint
     FROM (
       SELECT s.customer_external_id, i.invoice_number, i.total, string_agg(
         concat_ws(' ', l.position, l.kind, l.description, l.period_start, l.quantity, l.event_count, l.exact_amount, l.amount),
         ', ' ORDER BY l.position) AS lines
       FROM invoices i JOIN subscriptions s ON s.organization_id = i.organization_id AND s.id = i.subscription_id
       JOIN invoice_lines l ON l.organization_id = i.organization_id AND l.invoice_id = i.id
       WHERE i.organization_id = $1 AND i.invoice_number IS NOT NULL
       GROUP BY s.customer_external_id, i.id, i.invoice_number, i.total) AS invoice`,
    [organizationId],
  );
  const [row] = rows;
  if (row === undefined || row.invoices !== row.last_number)
    throw new Error(`${row?.invoices} invoices have numbers up to ${row?.last_number}`);
  return row;
}
