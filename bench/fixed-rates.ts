// Latency at fixed rates: requests are due by a schedule, whether or not earlier ones were answered.

import type { RoundResult } from './round.ts';
import { markdownTable } from './markdown-table.ts';
import { spreadOf, oneDigit, spreadText, whole, type Spread } from './spread.ts';
import type { PlotPoint } from './svg.ts';

/** The rounds at one share of the top rate, which each round has of its own. */
export interface OpenLoopPoint {
  sharePercent: number;
  rounds: RoundResult[];
}

/** The rate of a share, to the request; at least 1. */
export function rateOf(topRate: number, sharePercent: number): number {
  return Math.max(1, Math.round((topRate * sharePercent) / 100));
}

const of = (point: OpenLoopPoint, figure: (round: RoundResult) => number): Spread => spreadOf(point.rounds.map(figure));
const errorsOf = ({ rounds }: OpenLoopPoint) =>
  rounds.flatMap(({ errors }) => Object.values(errors)).reduce((sum, count) => sum + count, 0);

/** A row for each rate. */
export function openLoopTable(points: readonly OpenLoopPoint[]): string {
  return markdownTable(
    ['share of the top rate', 'due/s', 'answered/s', 'recorded/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'not 201', 'unsent'],
    points.map((point) => [
      `${point.sharePercent} %`,
      spreadText(
        of(point, ({ duePerSecond }) => duePerSecond ?? Number.NaN),
        whole,
      ),
      spreadText(
        of(point, ({ requestsPerSecond }) => requestsPerSecond),
        whole,
      ),
      spreadText(
        of(point, ({ recordedPerSecond }) => recordedPerSecond ?? Number.NaN),
        whole,
      ),
      spreadText(
        of(point, ({ latencyMs }) => latencyMs.p50),
        oneDigit,
      ),
      spreadText(
        of(point, ({ latencyMs }) => latencyMs.p99),
        oneDigit,
      ),
      spreadText(
        of(point, ({ latencyMs }) => latencyMs.p999),
        oneDigit,
      ),
      whole(errorsOf(point)),
      whole(point.rounds.reduce((sum, { unsent }) => sum + (unsent ?? 0), 0)),
    ]),
  );
}

/** The medians, for the plot. */
export function plotPointsOf(points: readonly OpenLoopPoint[]): PlotPoint[] {
  return points.map((point) => ({
    sharePercent: point.sharePercent,
    perSecond: of(point, ({ duePerSecond }) => duePerSecond ?? Number.NaN).median,
    latencyMs: {
      p50: of(point, ({ latencyMs }) => latencyMs.p50).median,
      p99: of(point, ({ latencyMs }) => latencyMs.p99).median,
      'p99.9': of(point, ({ latencyMs }) => latencyMs.p999).median,
    },
  }));
}
