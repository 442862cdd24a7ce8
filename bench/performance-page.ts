// docs/performance.md, made of the results of one run. Every figure in it was measured, or is an aim or a setting of the bench.

import { aimsOf, aimsTable } from './aims.ts';
import type { BenchResults } from './bench-results.ts';
import { billingTable } from './billing/billing-table.ts';
import type { BillingResult } from './billing/measure-billing.ts';
import { markdownTable } from './markdown-table.ts';
import { RAW_POSTGRES } from './patterns.ts';
import { READ_SCALE } from './read/measure-reading.ts';
import { readTable } from './read/read-table.ts';
import { USABLE_SHARES, maxmemoryFor, sizingOf } from './redis-sizing.ts';
import { ONE_OF_EACH, type RoundResult } from './round.ts';
import { costTable, growthTable, memoryTable, ratesTable, throughputTable } from './rounds-tables.ts';
import { oneDigit, spreadOfAll, spreadText, twoDigits, whole } from './spread.ts';

const WIDTH = 110;

/** What the table of sizes tells of. */
const STEADY_RATES = [100, 1_000, 5_000];
const CLAIM_SECONDS = 86_400;
const AWAY_SECONDS = 600;
const MONTH_SECONDS = 30 * 86_400;

const REPEAT = `## How to repeat it

\`\`\`sh
npm run bench                                            # every pattern, Weir at fixed rates, and what Redis takes
npm run bench -- --rounds 1 --seconds 3                  # a quick look
npm run bench -- --read --rows 1m,5m,20m                 # every reading endpoint, on tables that are full
npm run bench -- --billing                               # one midnight of 100,000 subscriptions
npm run bench -- --growth                                # full tables, more workers, one customer, many organizations
npm run bench -- --only weir-single --apis 4             # four API processes behind the same load
npm run bench -- --only weir-single --profile profiles   # CPU profiles of each process
npm run bench -- --help                                  # every option
\`\`\`

${paragraph(
  'The bench brings up its own Postgres and Redis, and stops everything it started. With `DATABASE_URL` and `REDIS_URL` it uses',
  'those: a database that it makes and drops, and a key prefix that it deletes. CPU and memory of services that were given are',
  'not seen, and only Linux tells them at all. Where temporary folders lie in memory, set `TMPDIR` to a folder on a disk: fsync',
  'costs nothing otherwise. Full tables need disk for every row.',
)}

- Look at the noise first. Compare lines only where the spread in brackets is small.
- CPU for each event depends least on what else the machine does.
- Without a rate the load waits for answers, so a slow pattern gets fewer requests. Fixed rates do not wait.
- A fresh database fits into memory. Tables of many months do not: see \`--growth rows\`.`;

/** The whole page. */
export function performancePage(results: BenchResults): string {
  const introduction = paragraph(
    'The bench writes this page; do not edit it. It is one run of one build on one machine, so run it on yours. What was tried on',
    'the way here is in [notes](notes).',
  );
  const command = `\`\`\`sh\n${results.command}\n\`\`\``;
  return `${['# Performance', introduction, command, ...resultSections(results), REPEAT].join('\n\n')}\n`;
}

/** What the run has found, without how to repeat it; what was not measured is left out. */
export function resultSections(results: BenchResults): string[] {
  const { throughput, rates, growth, reading, billing } = results;
  const aims = aimsOf(results);
  const sections = [
    factsTable(results),
    throughput.length > 0 && fast(throughput),
    rates.length > 0 && atFixedRates(rates),
    reading.length > 0 && ofReading(reading),
    billing !== null && ofBilling(billing),
    growth.length > 0 && `### As the work grows\n\n${growthTable(growth)}`,
    throughput.length > 0 && costs(throughput),
    sizes(results),
    aims.length > 0 && `## Aims\n\n${paragraph(AIMS)}\n\n${aimsTable(aims)}`,
  ];
  return sections.filter((section) => typeof section === 'string');
}

const AIMS =
  'The bench fails by none of these: what is not kept is a line to read. An aim is of a size, and left out where a run had less.';

/** More than this, of other programs, is in the figures. */
const NOISE_MAX = 0.2;

/** Why these results are no page: it stands for a build, and lies in the repository. Undefined where they are one. */
export function whyNoPage(results: BenchResults): string | undefined {
  const noise = noiseOf(results);
  if (noise <= NOISE_MAX) return undefined;
  return (
    `The page was not written: other programs used ${whole(noise * 100)} % of the cores just before or after a round, and it says nothing ` +
    `of Weir with more than ${whole(NOISE_MAX * 100)} %. Run it again while the machine is at rest.`
  );
}

function noiseOf(results: BenchResults): number {
  return Math.max(0, ...roundsOf(results).map(({ busyElsewhere }) => busyElsewhere));
}

function roundsOf({ throughput, rates, growth }: BenchResults): RoundResult[] {
  return [throughput, rates, growth].flat().flatMap((each) => each.rounds);
}

function factsTable(results: BenchResults): string {
  const { startedAt, settings, machine, services } = results;
  const rounds = roundsOf(results);
  const facts = [
    ['build', `Weir ${machine.commit}`],
    ['date', startedAt.toISOString().slice(0, 10)],
    ['machine', `${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, ${machine.system}`],
    ['versions', `Node ${machine.node}, Postgres ${services['postgres']}, Redis ${services['redis']}`],
  ];
  if (rounds.length > 0) {
    const { seconds, warmupSeconds, connections, apis } = settings;
    facts.push(
      [
        'rounds',
        `${settings.rounds} of ${seconds} s each, after ${warmupSeconds} s of warm-up; patterns in turn, each second time from the last to the first`,
      ],
      ['figures', 'the median of the rounds (lowest–highest)'],
      ['load', `${connections} connections (an eighth of them for batches); API processes where not said: ${apis}`],
      [
        'noise',
        `other programs used up to ${whole(noiseOf(results) * 100)} % of the cores just before and after the rounds, each time by the quietest of some looks`,
      ],
    );
    const stolen = spreadOfAll(rounds, (round) => round.stolen);
    if (stolen !== null)
      facts.push([
        'host',
        `gave ${spreadText(stolen, (share) => whole(share * 100))} % of the cores to others during a round`,
      ]);
  }
  return markdownTable(['this run', ''], facts, 'text');
}

function fast(throughput: BenchResults['throughput']): string {
  const text = [
    paragraph(
      'Load, API, worker, Redis and Postgres share the machine. A 201 means in all but the bare route that the event is on disk.',
      'Every event is new: an idempotency key, a time, three fields of metadata, one of',
      `${whole(ONE_OF_EACH.customers)} customers. *Recorded* is what Postgres had when the load ended; *backlog* is what was`,
      'accepted by then and not yet there. Milliseconds are of a request; from memory, of a statement with',
      `${whole(RAW_POSTGRES.eventsPerRequest)} events. On two disks means a replica of Redis, or a synchronous standby of Postgres, on`,
      'the same cores and the same disk. With Redis away, every event is recorded by the API.',
    ),
    throughputTable(throughput),
    paragraph(
      'After each round Postgres must hold exactly the events that were answered with 201, and rollups that add up to the same;',
      'otherwise the bench fails. Of what was answered otherwise it may hold any. The patterns besides Weir are in `bench/baselines`. They check the API key, the body and the',
      'idempotency key as Weir does, and write the same rows. One job a request promises less: a process that dies between claim',
      'and job has claimed an event that never was.',
    ),
  ];
  return ['## How fast', ...text].join('\n\n');
}

function atFixedRates(rates: BenchResults['rates']): string {
  const text = paragraph(
    'Weir, one event a request. Requests are due by a schedule, whether earlier ones were answered or not. Latency counts from',
    'when a request was due. Rates are shares of what this build reached, so that two builds are asked for different ones.',
  );
  return ['### At fixed rates', text, ratesTable(rates)].join('\n\n');
}

function ofBilling(billing: BillingResult): string {
  const text = paragraph(
    `${whole(billing.subscriptions)} subscriptions of one organization end their month at one midnight. Each has a fixed and two`,
    `usage charges; ${whole(billing.events)} events are billed. One worker makes the drafts and, once the grace is over, the`,
    'invoices: alone, beside events that are tracked as fast as they are taken, and killed every ten seconds. The invoices of all',
    'three are the same, and no number is missing. *Tracking ÷ without* is what is recorded in a second meanwhile, of what is',
    'recorded when the same is tracked for as long and no month ends. Some seconds after the midnight are in it.',
  );
  return ['### Billing', text, billingTable(billing)].join('\n\n');
}

function ofReading(reading: BenchResults['reading']): string {
  const { customers, meters, users, days } = READ_SCALE;
  const text = paragraph(
    `Events of ${whole(customers)} customers and ${meters} meters in ${days} days; one meter counts ${whole(users)} distinct`,
    'users. One request after another, each about another customer and window: first after the database was made, when',
    'most of it is read from the disk, and then the same requests again, when it is in memory.',
    ...reading.map(
      ({ events, databaseBytes }) =>
        `The database takes ${oneDigit(databaseBytes / 1e9)} GB with ${whole(events)} events.`,
    ),
  );
  return ['### Reading', text, readTable(reading)].join('\n\n');
}

function costs(throughput: BenchResults['throughput']): string {
  const text = paragraph(
    'CPU in microseconds for each event, which is seconds for a million. Bytes in Postgres are tables and indexes, in Redis claims',
    'that are held.',
  );
  return ['## What it costs', text, costTable(throughput), memoryTable(throughput)].join('\n\n');
}

/** What steady rates need, from what one event costs; undefined without figures of Weir or of Redis. */
function sizes({ throughput, rates, redis }: BenchResults): string | undefined {
  const sizing = sizingOf(redis);
  const roundsOf = (wanted: string) => throughput.find(({ name }) => name === wanted)?.rounds ?? [];
  const single = roundsOf('weir-single');
  const diskBytes = spreadOfAll(single, ({ postgresBytesPerEvent }) => postgresBytesPerEvent)?.median;
  if (sizing === undefined || diskBytes === undefined) return undefined;
  const { claimBytes, stagedBytes } = sizing;
  const cpuOf = (rounds: readonly RoundResult[]) =>
    spreadOfAll(rounds, ({ cpuPerEvent }) => cpuPerEvent?.['all'])?.median;
  const singleCpu = [single, ...rates.map(({ rounds }) => rounds)].map(cpuOf).filter((cpu) => cpu !== undefined);
  const mostCpu = singleCpu.length > 0 ? Math.max(...singleCpu) : undefined;
  const batchCpu = cpuOf(roundsOf('weir-batch'));
  const cores = (rate: number, cpu: number | undefined) => (cpu === undefined ? '–' : twoDigits((rate * cpu) / 1e6));
  const need = { claimSeconds: CLAIM_SECONDS, awaySeconds: AWAY_SECONDS };
  const rows = STEADY_RATES.map((rate) => [
    whole(rate),
    cores(rate, mostCpu),
    cores(rate, batchCpu),
    oneDigit((rate * MONTH_SECONDS * diskBytes) / 1e9),
    twoDigits(maxmemoryFor(sizing, { ...need, eventsPerSecond: rate }) / 1e9),
  ]);
  const text = [
    paragraph(
      'What a steady rate keeps busy and fills. Cores are for the most CPU that an event took at any rate above; at low rates it',
      'takes more, since fewer share a flush. Leave room on top. Claims live for',
      `${CLAIM_SECONDS / 3_600} hours here (\`IDEMPOTENCY_CLAIM_SECONDS\`), and Postgres may be away for ${AWAY_SECONDS / 60}`,
      'minutes.',
    ),
    markdownTable(
      ['events/s', 'cores, single', 'cores, batches', 'GB of disk a month', 'GB of Redis `maxmemory`'],
      rows,
    ),
    paragraph(
      `A claim takes ${whole(claimBytes)} bytes in Redis, and an event that waits to be recorded ${whole(stagedBytes)} more:`,
    ),
    `\`\`\`
claims    = events/s × claim lifetime in s × ${whole(claimBytes)}
waiting   = events/s × seconds that Postgres may be away × ${whole(stagedBytes)}
maxmemory = the larger of claims ÷ ${USABLE_SHARES.claims} and (claims + waiting) ÷ ${USABLE_SHARES.all}
\`\`\``,
  ];
  return ['## How to size it', ...text].join('\n\n');
}

/** Wrapped as the rest of the documents. */
function paragraph(...pieces: string[]): string {
  const lines: string[] = [];
  for (const word of pieces.join(' ').split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
}
