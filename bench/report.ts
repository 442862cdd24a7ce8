import type { Pattern } from './patterns.ts';
import type { RoundResult } from './round.ts';

/** The parts among which CPU time is shared; `all` is their sum without the load. */
const CPU_PARTS = ['all', 'API', 'worker', 'Postgres', 'Redis', 'load'] as const;

interface Spread {
  median: number;
  min: number;
  max: number;
}

/** What the rounds of one pattern come to. */
export interface Summary {
  name: string;
  title: string;
  requestsPerSecond: Spread;
  acceptedPerSecond: Spread;
  recordedPerSecond: Spread | null;
  backlog: Spread | null;
  p50Ms: Spread;
  p99Ms: Spread;
  p999Ms: Spread;
  /** Answers other than 201, in all rounds. */
  errors: number;
  /** Microseconds of CPU for each event; the parts are medians of their own. */
  cpuPerEvent: Record<string, Spread>;
  busyElsewhere: Spread;
}

export interface Ratios {
  /** Requests per second of Weir (one event a request), as a share of the bare route's. */
  weirToFloor: number | null;
  /** Events per second that Weir (one event a request) has recorded, as a multiple of one job a request. */
  weirToJobPerRequest: number | null;
  weirToInsertPerRequest: number | null;
}

function spreadOf(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

export function summarize({ name, title, records }: Pattern, rounds: RoundResult[]): Summary {
  const spread = (of: (round: RoundResult) => number | null) => spreadOf(rounds.map((round) => of(round) ?? 0));
  return {
    name,
    title,
    requestsPerSecond: spread((round) => round.requestsPerSecond),
    acceptedPerSecond: spread((round) => round.acceptedPerSecond),
    recordedPerSecond: records ? spread((round) => round.recordedPerSecond) : null,
    backlog: records ? spread((round) => round.backlog) : null,
    p50Ms: spread((round) => round.latencyMs.p50),
    p99Ms: spread((round) => round.latencyMs.p99),
    p999Ms: spread((round) => round.latencyMs.p999),
    errors: rounds.reduce((total, { errors }) => total + Object.values(errors).reduce((sum, n) => sum + n, 0), 0),
    cpuPerEvent: Object.fromEntries(
      CPU_PARTS.map((part) => [part, spreadOf(rounds.map(({ cpuPerEvent }) => cpuPerEvent?.[part] ?? 0))]),
    ),
    busyElsewhere: spread((round) => round.busyElsewhere),
  };
}

export function ratiosOf(summaries: Summary[]): Ratios {
  const find = (name: string) => summaries.find((summary) => summary.name === name);
  const weir = find('weir-single');
  const recordedOf = (name: string) => find(name)?.recordedPerSecond?.median;
  return {
    weirToFloor: ratio(weir?.requestsPerSecond.median, find('floor')?.requestsPerSecond.median),
    weirToJobPerRequest: ratio(weir?.recordedPerSecond?.median, recordedOf('job-per-request')),
    weirToInsertPerRequest: ratio(weir?.recordedPerSecond?.median, recordedOf('insert-per-request')),
  };
}

function ratio(a: number | undefined, b: number | undefined): number | null {
  return a === undefined || b === undefined ? null : a / b;
}

/** A Markdown table, also good to read in a terminal: medians, with the lowest and highest round. */
export function tableOf(summaries: Summary[]): string {
  const head = [
    'pattern',
    'requests/s',
    'events/s accepted',
    'events/s recorded',
    'backlog',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'not 201',
  ];
  const rows = summaries.map((summary) => [
    summary.title,
    rate(summary.requestsPerSecond),
    rate(summary.acceptedPerSecond),
    summary.recordedPerSecond === null ? '–' : rate(summary.recordedPerSecond),
    summary.backlog === null ? '–' : rate(summary.backlog),
    milliseconds(summary.p50Ms),
    milliseconds(summary.p99Ms),
    milliseconds(summary.p999Ms),
    String(summary.errors),
  ]);
  return markdown(head, rows);
}

/** Where the cores went: microseconds of CPU for each event. Empty where the system does not tell. */
export function cpuTableOf(summaries: Summary[]): string {
  if (!summaries.some(({ cpuPerEvent }) => (cpuPerEvent['all']?.median ?? 0) > 0)) return '';
  const rows = summaries.map(({ title, cpuPerEvent }) => [
    title,
    ...CPU_PARTS.map((part) => rate(cpuPerEvent[part] ?? spreadOf([]))),
  ]);
  return markdown(['CPU µs an event', ...CPU_PARTS], rows);
}

function markdown(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

export function sentencesOf(ratios: Ratios, summaries: Summary[]): string {
  const lines = [
    ratios.weirToFloor !== null &&
      `Weir answers ${percent(ratios.weirToFloor)} of the requests that a bare route does.`,
    ratios.weirToJobPerRequest !== null &&
      `Weir records ${times(ratios.weirToJobPerRequest)} the events of one job a request.`,
    ratios.weirToInsertPerRequest !== null &&
      `Weir records ${times(ratios.weirToInsertPerRequest)} the events of one transaction a request.`,
    `Just before and after the rounds, other programs used up to ${percent(Math.max(...summaries.map(({ busyElsewhere }) => busyElsewhere.max)))} of the cores.`,
  ];
  return lines.filter((text) => text !== false).join('\n');
}

const rate = ({ median, min, max }: Spread) => `${whole(median)} (${whole(min)}–${whole(max)})`;
const milliseconds = ({ median, min, max }: Spread) => `${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)})`;
const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const percent = (value: number) => `${Math.round(value * 100)} %`;
const times = (value: number) => `${value.toFixed(1)} times`;
