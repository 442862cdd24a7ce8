// npm run rolling: one build takes over from another behind a proxy, as docs/operations.md says, while clients that never send anything
// again go on. Then what was accepted is counted.

import { NODE_OPTIONS } from '@weir/services/node-options';
import { run } from '@weir/services/run';
import { openTemporaryServices } from '@weir/services/temporary';
import { outliveReaders } from '@weir/shared/progress-line';
import { Command, InvalidArgumentError } from 'commander';
import { Redis } from 'ioredis';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { pickPorts } from '../environment/ports.ts';
import { openHaproxy } from './haproxy.ts';
import { startLoad, type Load } from './load.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The proxy looks once a second, and believes the first answer that is good. */
const SEEN_MS = 2_500;

/** What waits in the queue in the end is some seconds of work. */
const DRAIN_MS_MAX = 120_000;

interface Options {
  old: string;
  new: string;
  turns: number;
  back: boolean;
}

const options = new Command()
  .name('npm run rolling --')
  .description('Lets one build take over from another under load, and counts what failed and what was lost.')
  .requiredOption('--old <folder>', 'a clone with the build that runs at first')
  .option('--new <folder>', 'a clone with the one that takes over', ROOT)
  .option('--turns <n>', 'how often all processes are exchanged', wholeOf, 1)
  .option('--back', 'every second turn goes back to the old build; else the new one takes over from itself', false)
  .parse()
  .opts<Options>();

/** A process of one of the builds, at a port that stays. */
interface Place {
  app: 'api' | 'worker';
  port: number;
  child?: ChildProcess;
}

const log = (line: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
outliveReaders();
const work = await mkdtemp(join(tmpdir(), 'weir-rolling-'));
const programs = process.env['WEIR_HOME'] || join(ROOT, '.weir');
const services = await openTemporaryServices({ cacheHome: programs, log });
const env = {
  PATH: process.env['PATH'],
  NODE_ENV: 'production',
  DATABASE_URL: services.databaseUrl,
  REDIS_URL: services.redisUrl,
  TRUST_PROXY: '127.0.0.1',
  LOG_LEVEL: 'error',
  // A machine that is busy with something else is no outage.
  REDIS_COMMAND_TIMEOUT_MS: '10000',
  EVENT_LOOP_DELAY_MS_MAX: '60000',
};
const [proxyPort = 0, ...ports] = await pickPorts(5);
const places: Place[] = ports.map((port, index) => ({ app: index < 2 ? 'worker' : 'api', port }));
const apiPorts = places.filter(({ app }) => app === 'api').map(({ port }) => port);
let stops = 0;
/** Those of any process that ended with another code than 0. */
let badStops = 0;
// Those that were started end with their channel, the services with their keeper, and the proxy with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const proxy = await openHaproxy(ROOT, { programs, work }, proxyPort, apiPorts);
try {
  await migrate(options.old);
  for (const place of places) await start(place, options.old);
  await delay(SEEN_MS);
  const load = await startLoad(proxy.url, log);
  await delay(2_000);
  await migrate(options.new);
  for (let turn = 1; turn <= options.turns; turn += 1) {
    const build = options.back && turn % 2 === 0 ? options.old : options.new;
    for (const place of places) await exchange(place, build);
    log(`turn ${turn}: ${load.failed.length} failed`);
  }
  await load.stop();
  process.exitCode = (await isCounted(load)) && load.failed.length === 0 && badStops === 0 ? 0 : 1;
} finally {
  await Promise.all(places.map(stop));
  await proxy.close();
  await services.close();
  await rm(work, { recursive: true });
}

async function migrate(build: string): Promise<void> {
  const { ok, output } = await run(process.execPath, [join(resolve(build), 'packages/db/dist/migrate-main.js')], {
    seconds: 120,
    env,
  });
  if (!ok) throw new Error(output);
  log(`${build}: ${output.trim()}`);
}

async function start(place: Place, build: string): Promise<void> {
  const { app, port } = place;
  const script = join(resolve(build), `apps/${app}/dist/main.js`);
  const child = spawn(process.execPath, [...NODE_OPTIONS, script], {
    env: { ...env, [app === 'api' ? 'PORT' : 'WORKER_PORT']: String(port) },
    cwd: resolve(build),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  place.child = child;
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${script} ended before it was ready`)));
  await Promise.race([once(child, 'message'), ended]);
  // It is told of by whoever stops it.
  ended.catch(() => {});
}

/** Returns with what code it ended. */
async function stop({ child }: Place): Promise<number | null> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  return child.exitCode;
}

async function exchange(place: Place, build: string): Promise<void> {
  const code = await stop(place);
  if (place.app === 'api') stops += 1;
  if (code !== 0) {
    badStops += 1;
    log(`the ${place.app} at ${place.port} ended with ${code}`);
  }
  await start(place, build);
  if (place.app === 'api') await delay(SEEN_MS);
}

/** Whether the invoices are there that are due, each once, as soon as they are. */
async function isBilled({ invoicesDue, failed }: Load, client: pg.Client): Promise<boolean> {
  // One that failed may be subscribed all the same.
  const unsure = failed.some((line) => line.startsWith('subscriptions: '));
  const deadline = Date.now() + DRAIN_MS_MAX;
  for (;;) {
    const { rows } = await client.query<{ invoices: number; periods: number }>(
      `SELECT count(*)::int AS invoices, count(DISTINCT (subscription_id, cycle))::int AS periods
       FROM invoices WHERE status <> 'DRAFT'`,
    );
    const { invoices = 0, periods = 0 } = rows[0] ?? {};
    if (invoices >= invoicesDue() || Date.now() > deadline) {
      console.log(`invoices due ${invoicesDue()}, made ${invoices}, of ${periods} periods`);
      return invoices === periods && (unsure || invoices === invoicesDue());
    }
    await delay(100);
  }
}

/** Throws where the workers do not come to an end. */
async function untilDrained(): Promise<void> {
  const redis = new Redis(services.redisUrl);
  const deadline = Date.now() + DRAIN_MS_MAX;
  try {
    for (;;) {
      const waiting = await redis.zcard('{weir}:staged');
      if (waiting === 0) return;
      if (Date.now() > deadline)
        throw new Error(`${waiting} batches still wait to be recorded after ${DRAIN_MS_MAX / 1_000} s`);
      await delay(100);
    }
  } finally {
    redis.disconnect();
  }
}

/** Whether what was accepted is in Postgres and billed, each event and each period once, as the new build itself says too. */
async function isCounted(load: Load): Promise<boolean> {
  const { answered, failed } = load;
  await untilDrained();
  const client = new pg.Client({ connectionString: services.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ events: number }>('SELECT count(*)::int AS events FROM events');
  const billed = await isBilled(load, client);
  await client.end();
  const reconcile = join(resolve(options.new), 'apps/reconcile/dist/main.js');
  const reconciled = await run(process.execPath, [reconcile, '--invoices'], { seconds: 300, env });
  const recorded = rows[0]?.events ?? 0;
  console.log(
    `${stops} stops of an API, ${places.length * options.turns} of any process, ${badStops} with another code than 0`,
  );
  console.log(`answered: ${JSON.stringify(answered)}; failed: ${failed.length}`);
  console.log(`events accepted ${answered['events'] ?? 0}, recorded ${recorded}`);
  console.log(reconciled.output.trim().split('\n').slice(-1)[0]);
  // One that failed may be recorded all the same.
  const unsure = failed.filter((line) => line.startsWith('events: ')).length;
  const lost = (answered['events'] ?? 0) - recorded;
  return billed && reconciled.ok && lost <= 0 && -lost <= unsure;
}

function wholeOf(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
