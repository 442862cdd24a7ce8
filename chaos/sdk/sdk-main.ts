// npm run chaos-clients: the SDK and the Python client report usage while everything between them and Postgres fails, and those with
// an outbox are killed. Then what they were given is counted.

import { outliveReaders } from '@weir/shared/progress-line';
import { Command, InvalidArgumentError } from 'commander';
import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WeirClient } from '@weir/sdk';
import pg from 'pg';
import { HttpClient } from '../clients/http-client.ts';
import { makeOrganizations } from '../clients/made-organizations.ts';
import { BillingTime } from '../environment/billing-time.ts';
import { openReaper, type Reaper } from '../environment/reaper.ts';
import { openStack, type Stack } from '../environment/stack.ts';
import { History } from '../history.ts';
import { untilDrained } from '../judge/drained-queue.ts';
import { Random } from '../random.ts';
import { compare, violationsOf } from './compare.ts';
import { makeFaults } from './make-faults.ts';
import { Producer } from './producer.ts';

const DRAIN_SECONDS_MAX = 120;
const REPOSITORY_HOME = fileURLToPath(new URL('../../../.weir', import.meta.url));

const log = (line: string) => process.stderr.write(`${line}\n`);

interface Options {
  minutes: number;
  seed: number;
  rate: number;
}

const { minutes, seed, rate } = new Command()
  .name('npm run chaos-clients --')
  .description('Has the clients report usage while everything fails, kills those with an outbox, and counts.')
  .option('--minutes <n>', 'how long', numberOf, 1)
  .option('--seed <n>', 'the same one makes the same faults in the same order', numberOf, randomInt(0x7fff_ffff))
  .option('--rate <n>', 'events a second of each of the four clients', numberOf, 200)
  .parse()
  .opts<Options>();

const folder = await mkdtemp(join(tmpdir(), 'weir-chaos-clients-'));
// As root, Postgres runs as another user and has to get to its data in the folder.
await chmod(folder, 0o711);
const reaper = openReaper(folder);
const stopping = new AbortController();
outliveReaders();
setMaxListeners(0, stopping.signal);
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort(new Error('interrupted')));
try {
  const violations = await run(reaper, stopping.signal);
  for (const violation of violations) console.log(`VIOLATED: ${violation}`);
  console.log(violations.length === 0 ? 'Count in = count out.' : `Logs and data are in ${folder}.`);
  if (violations.length > 0) reaper.keepFolder();
  process.exitCode = violations.length === 0 ? 0 : 1;
} catch (error) {
  log(String(error instanceof Error ? error.stack : error));
  // What broke the run off is told by its logs.
  if (!stopping.signal.aborted) {
    reaper.keepFolder();
    log(`Logs and data are in ${folder}.`);
  }
  process.exitCode = 1;
} finally {
  await reaper.close();
}
// A client that could not be ended is ended by the reaper.
process.exit();

async function run(reaper: Reaper, signal: AbortSignal): Promise<string[]> {
  log(`Bringing up Postgres, Redis, two APIs and two workers in ${folder} …`);
  const programs = process.env['WEIR_HOME'] || REPOSITORY_HOME;
  const stack = await openStack({ folder, programs, variants: { api: {}, worker: {} }, reaper, log, signal });
  try {
    const { producers, ...caller } = await openProducers(stack, reaper);
    log(`Seed ${seed}: ${minutes} min of faults under ${producers.length} clients of ${rate} events/s.`);
    for (const producer of producers) producer.start();
    const faults = await fail(stack, producers, signal);
    await stack.heal('reset');
    await Promise.all(producers.map((producer) => producer.finish()));
    if (!(await untilDrained(stack, DRAIN_SECONDS_MAX))) return ['the queue of Weir did not empty'];
    return await report({ stack, caller, producers, faults });
  } finally {
    await stack.close();
  }
}

/** What the clients report with. */
interface Caller {
  apiKey: string;
  meterToken: string;
}

async function openProducers(stack: Stack, reaper: Reaper): Promise<Caller & { producers: Producer[] }> {
  const [first, second] = stack.apis.map(({ url }) => url) as [string, string];
  const client = new HttpClient(first);
  const history = new History(join(folder, 'history.jsonl'));
  const [organization] = await makeOrganizations(client, history, {
    billingTime: await BillingTime.begin(stack, minutes * 60),
    receivers: [],
  });
  await history.close();
  client.close();
  const apiKey = organization?.apiKey ?? '';
  const meterToken = organization?.meters.find(({ aggregation }) => aggregation === 'SUM')?.token ?? '';
  const outboxes = join(folder, 'outbox');
  await mkdir(outboxes);
  const shared = { apiKey, meterToken, rate, onStart: (pid: number) => reaper.add(pid) };
  const producers = [
    new Producer({ ...shared, language: 'typescript', baseUrl: first }),
    new Producer({ ...shared, language: 'typescript', baseUrl: second, outbox: join(outboxes, 'typescript') }),
    new Producer({ ...shared, language: 'python', baseUrl: second }),
    new Producer({ ...shared, language: 'python', baseUrl: first, outbox: join(outboxes, 'python') }),
  ];
  return { apiKey, meterToken, producers };
}

/** Faults everywhere, and kills of the clients that may be killed, for as long as was asked. Returns the number of faults. */
async function fail(stack: Stack, producers: readonly Producer[], signal: AbortSignal): Promise<number> {
  const random = new Random(seed);
  const seconds = minutes * 60;
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const end = () => over.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  const timer = setTimeout(end, seconds * 1_000);
  const faults = makeFaults(stack, seconds, random.fork(), over.signal);
  const kills = producers
    .filter(({ hasOutbox }) => hasOutbox)
    .map((producer) => killAgainAndAgain(producer, random.fork(), over.signal));
  await Promise.all([faults, ...kills]).finally(() => clearTimeout(timer));
  signal.throwIfAborted();
  return await faults;
}

async function killAgainAndAgain(producer: Producer, random: Random, over: AbortSignal): Promise<void> {
  for (;;) {
    await delay(random.int(1_500, 6_000), undefined, { signal: over }).catch(() => over.aborted);
    if (over.aborted) return;
    await producer.kill();
    producer.start();
  }
}

interface Run {
  stack: Stack;
  caller: Caller;
  producers: readonly Producer[];
  faults: number;
}

async function report({ stack, caller: { apiKey, meterToken }, producers, faults }: Run): Promise<string[]> {
  const postgres = new pg.Client({ connectionString: stack.databaseUrl });
  await postgres.connect();
  const comparisons = await compare(postgres, producers);
  await postgres.end();
  console.log(`${faults} faults\n`);
  console.table(
    comparisons.map(({ missing, twice, ...counts }) => ({ ...counts, missing: missing.length, twice: twice.length })),
  );
  const violations = comparisons.flatMap(violationsOf);
  const weir = new WeirClient({ baseUrl: stack.apis[0]?.url ?? '', apiKey });
  for (const { client, recorded } of comparisons) {
    const { event_count: count } = await weir.usage({ meter_token: meterToken, customer_external_id: client });
    if (count !== recorded) violations.push(`usage says ${count} events of ${client}, and ${recorded} are recorded`);
  }
  for (const { name, complaints } of producers) {
    if (complaints.length > 0) violations.push(`${name} complained: ${complaints.slice(0, 5).join(' ')}`);
  }
  return violations;
}

function numberOf(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text)) return value;
  throw new InvalidArgumentError('It must be a number.');
}
