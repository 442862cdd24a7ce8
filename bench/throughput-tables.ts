import { markdownTable } from './markdown-table.ts';
import type { Pattern } from './patterns.ts';
import type { RoundResult } from './round.ts';
import { oneDigit, ratioOf, spreadOf, spreadOfAll, spreadText, whole, type Spread } from './spread.ts';
import type { Rounds } from './aims.ts';

/** The parts among which CPU time and memory are shared. */
const PARTS = ['API', 'worker', 'Postgres', 'Redis', 'load'] as const;

const MEGABYTE = 1e6;

/** What the rounds of one pattern come to. */
export interface Summary {
  name: string;
  title: string;
  /** Null where the events come from memory. */
  requestsPerSecond: Spread | null;
  acceptedPerSecond: Spread;
  recordedPerSecond: Spread | null;
  backlog: Spread | null;
  /** Of a request; of a batch where the events come from memory. */
  p50Ms: Spread;
  p99Ms: Spread;
  p999Ms: Spread;
  /** Answers other than 201, in all rounds. */
  errors: number;
  /** Microseconds of CPU for each event, which is seconds for each million; `all` is everything but the load. */
  cpuPerEvent: Record<string, Spread | null>;
  memoryBytes: Record<string, Spread | null>;
  postgresBytesPerEvent: Spread | null;
  redisBytesPerEvent: Spread | null;
  busyElsewhere: Spread;
}

type PatternFacts = Pick<Pattern, 'name' | 'title' | 'takesRequests'>;

export function summarize({ name, title, takesRequests }: PatternFacts, rounds: readonly RoundResult[]): Summary {
  const spread = (of: (round: RoundResult) => number) => spreadOf(rounds.map(of));
  const maybe = (of: (round: RoundResult) => number | null | undefined) => spreadOfAll(rounds, of);
  return {
    name,
    title,
    requestsPerSecond: takesRequests ? spread((round) => round.requestsPerSecond) : null,
    acceptedPerSecond: spread((round) => round.acceptedPerSecond),
    recordedPerSecond: maybe((round) => round.recordedPerSecond),
    backlog: maybe((round) => round.backlog),
    p50Ms: spread((round) => round.latencyMs.p50),
    p99Ms: spread((round) => round.latencyMs.p99),
    p999Ms: spread((round) => round.latencyMs.p999),
    errors: rounds.reduce((total, { errors }) => total + Object.values(errors).reduce((sum, n) => sum + n, 0), 0),
    cpuPerEvent: Object.fromEntries(
      ['all', ...PARTS].map((part) => [part, maybe(({ cpuPerEvent }) => cpuPerEvent?.[part])]),
    ),
    memoryBytes: Object.fromEntries(PARTS.map((part) => [part, maybe(({ memoryBytes }) => memoryBytes?.[part])])),
    postgresBytesPerEvent: maybe((round) => round.postgresBytesPerEvent),
    redisBytesPerEvent: maybe((round) => round.redisBytesPerEvent),
    busyElsewhere: spread((round) => round.busyElsewhere),
  };
}

/** What each pattern does in a second, and how soon it answers. */
export function rateTable(summaries: readonly Summary[]): string {
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
  return markdownTable(
    head,
    summaries.map((summary) => [
      summary.title,
      spreadText(summary.requestsPerSecond, whole),
      spreadText(summary.acceptedPerSecond, whole),
      spreadText(summary.recordedPerSecond, whole),
      spreadText(summary.backlog, whole),
      spreadText(summary.p50Ms, oneDigit),
      spreadText(summary.p99Ms, oneDigit),
      spreadText(summary.p999Ms, oneDigit),
      String(summary.errors),
    ]),
  );
}

/** Where the cores went. */
export function cpuTable(summaries: readonly Summary[]): string {
  return markdownTable(
    ['CPU s a million events', 'all but the load', ...PARTS],
    summaries.map(({ title, cpuPerEvent }) => [
      title,
      ...['all', ...PARTS].map((part) => spreadText(cpuPerEvent[part], whole)),
    ]),
  );
}

/** What each pattern holds in memory, and what an event leaves behind. */
export function spaceTable(summaries: readonly Summary[]): string {
  const head = ['at most resident, MB', ...PARTS.slice(0, 4), 'bytes in Postgres an event', 'bytes in Redis an event'];
  const megabytes = (bytes: number) => whole(bytes / MEGABYTE);
  return markdownTable(
    head,
    summaries.map((summary) => [
      summary.title,
      ...PARTS.slice(0, 4).map((part) => spreadText(summary.memoryBytes[part], megabytes)),
      spreadText(summary.postgresBytesPerEvent, whole),
      spreadText(summary.redisBytesPerEvent, whole),
    ]),
  );
}

export interface Ratios {
  /** Requests per second of Weir (one event a request), as a share of the bare route's. */
  weirToFloor: Spread | null;
  /** Events per second that Weir (one event a request) has recorded, as a multiple of one job a request. */
  weirToJobPerRequest: Spread | null;
  weirToInsertPerRequest: Spread | null;
}

/** Each made of figures of the same round. */
export function ratiosOf(rounds: Rounds): Ratios {
  const requests = (name: string) => (rounds.get(name) ?? []).map(({ requestsPerSecond }) => requestsPerSecond);
  const recorded = (name: string) => (rounds.get(name) ?? []).map(({ recordedPerSecond }) => recordedPerSecond);
  return {
    weirToFloor: ratioOf(requests('weir-single'), requests('floor')),
    weirToJobPerRequest: ratioOf(recorded('weir-single'), recorded('job-per-request')),
    weirToInsertPerRequest: ratioOf(recorded('weir-single'), recorded('insert-per-request')),
  };
}

export function sentencesOf(ratios: Ratios): string[] {
  const percent = (value: number) => `${Math.round(value * 100)} %`;
  const lines = [
    ratios.weirToFloor !== null &&
      `Weir answers ${percent(ratios.weirToFloor.median)} of the requests that a bare route does.`,
    ratios.weirToJobPerRequest !== null &&
      `Weir records ${oneDigit(ratios.weirToJobPerRequest.median)} times the events of one job a request.`,
    ratios.weirToInsertPerRequest !== null &&
      `Weir records ${oneDigit(ratios.weirToInsertPerRequest.median)} times the events of one transaction a request.`,
  ];
  return lines.filter((text) => text !== false);
}

/** How much the figures can be trusted. */
export function noiseSentence(rounds: readonly RoundResult[]): string {
  const most = Math.max(0, ...rounds.map(({ busyElsewhere }) => busyElsewhere));
  return `Just before and after the rounds, other programs used up to ${Math.round(most * 100)} % of the cores.`;
}

/** One round in one line. */
export function roundLine(result: RoundResult): string {
  const { recordedPerSecond, backlog, latencyMs, errors, firstError, unsent } = result;
  const parts = [
    `${whole(result.requestsPerSecond)} requests/s`,
    recordedPerSecond !== null && `${whole(recordedPerSecond)} events/s recorded, backlog ${backlog}`,
    `p99 ${oneDigit(latencyMs.p99)} ms`,
    result.cpuPerEvent !== null && `CPU ${whole(result.cpuPerEvent['all'] ?? 0)} µs an event`,
    (unsent ?? 0) > 0 && `${unsent} requests never sent`,
    Object.keys(errors).length > 0 && `errors ${JSON.stringify(errors)} ${firstError ?? ''}`,
  ];
  return `  ${parts.filter((part) => part !== false).join(', ')}`;
}
