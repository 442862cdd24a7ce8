// Tables with a row for each thing that was measured, and columns of what its rounds come to.

import { COMPONENTS } from './component-usage.ts';
import { markdownTable } from './markdown-table.ts';
import type { FixedRate } from './measure-throughput.ts';
import type { RoundResult } from './round.ts';
import { oneDigit, spreadOfAll, spreadText, whole } from './spread.ts';

type Rounds = readonly RoundResult[];

export interface Row {
  title: string;
  rounds: Rounds;
}

interface Column {
  head: string;
  cell(rounds: Rounds): string;
}

type Figure = (round: RoundResult) => number | null | undefined;

const medians = (head: string, of: Figure, text = whole): Column => ({
  head,
  cell: (rounds) => spreadText(spreadOfAll(rounds, of), text),
});

const total = (head: string, of: Figure): Column => ({
  head,
  cell: (rounds) => whole(rounds.reduce((sum, round) => sum + (of(round) ?? 0), 0)),
});

const megabytes = (bytes: number): string => whole(bytes / 1e6);

const REQUESTS = medians('requests/s', (round) => round.requestsPerSecond);
const RECORDED = medians('events/s recorded', (round) => round.recordedPerSecond);
const BACKLOG = medians('backlog', (round) => round.backlog);
const P50 = medians('p50 ms', (round) => round.latencyMs.p50, oneDigit);
const P99 = medians('p99 ms', (round) => round.latencyMs.p99, oneDigit);
const P999 = medians('p99.9 ms', (round) => round.latencyMs.p999, oneDigit);
const NOT_201 = total('not 201', ({ errors }) => Object.values(errors).reduce((sum, count) => sum + count, 0));
const CPU = medians('CPU µs an event', (round) => round.cpuPerEvent?.['all']);
const DISK = medians('bytes in Postgres', (round) => round.postgresBytesPerEvent);

/** What each pattern does in a second, and how soon it answers. */
export function throughputTable(rows: readonly Row[]): string {
  return roundsTable('pattern', rows, [REQUESTS, RECORDED, BACKLOG, P50, P99, P999, NOT_201]);
}

/** How soon Weir answers at each fixed rate. */
export function ratesTable(rates: readonly FixedRate[]): string {
  const rows = rates.map(({ sharePercent, rounds }) => ({ title: `${sharePercent} %`, rounds }));
  const due = medians('due/s', (round) => round.duePerSecond);
  const unsent = total('never sent', (round) => round.unsent);
  const answered = { ...REQUESTS, head: 'answered/s' };
  return roundsTable('of the top rate', rows, [due, answered, P50, P99, P999, CPU, NOT_201, unsent]);
}

/** What an event takes of the processors and leaves behind. */
export function costTable(rows: readonly Row[]): string {
  const cpu = COMPONENTS.map((component) => medians(component, (round) => round.cpuPerEvent?.[component]));
  const redis = medians('bytes in Redis', (round) => round.redisBytesPerEvent);
  return roundsTable('for each event', rows, [{ ...CPU, head: 'CPU µs, all but the load' }, ...cpu, DISK, redis]);
}

/** The most memory that each component was seen with. */
export function memoryTable(rows: readonly Row[]): string {
  const columns = COMPONENTS.slice(0, -1).map((component) =>
    medians(component, (round) => round.memoryBytes?.[component], megabytes),
  );
  return roundsTable('resident MB, at most', rows, columns);
}

export function growthTable(rows: readonly Row[]): string {
  return roundsTable('what there is', rows, [REQUESTS, RECORDED, BACKLOG, P99, CPU, DISK]);
}

function roundsTable(head: string, rows: readonly Row[], columns: readonly Column[]): string {
  return markdownTable(
    [head, ...columns.map((column) => column.head)],
    rows.map(({ title, rounds }) => [title, ...columns.map((column) => column.cell(rounds))]),
  );
}
