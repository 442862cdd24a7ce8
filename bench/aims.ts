// What Weir is to reach, and whether it does. A benchmark is no test: below a target is a line to read, and no failure.

import type { OpenLoopPoint } from './fixed-rates.ts';
import { CEILING } from './patterns.ts';
import type { RoundResult } from './round.ts';
import { ratioOf, spreadOf, spreadOfAll, spreadText, twoDigits, whole, oneDigit, type Spread } from './spread.ts';

export interface TargetLine {
  title: string;
  figure: Spread;
  unit: string;
  target: number;
  /** Whether the figure has to be as high as the target; else as low. */
  isLeast: boolean;
  isReached: boolean;
}

/** Rounds of each pattern, by its name. Those of the same number were run beside each other. */
export type Rounds = ReadonlyMap<string, readonly RoundResult[]>;

/** Rows that are there already, by the pattern and then in rising order. */
export interface RowsPoint {
  pattern: string;
  rows: number;
  rounds: readonly RoundResult[];
}

/** One line for each target of which the figures were measured. */
export function targetsOf(rounds: Rounds, openLoop: readonly OpenLoopPoint[]): TargetLine[] {
  const requests = (name: string) => (rounds.get(name) ?? []).map(({ requestsPerSecond }) => requestsPerSecond);
  const recorded = (name: string) => (rounds.get(name) ?? []).map(({ recordedPerSecond }) => recordedPerSecond);
  const half = openLoop.find(({ sharePercent }) => sharePercent === 50);
  const ceiling = bestCeiling(rounds);
  const lines = [
    atLeast('single, recorded ÷ requests of the bare route', ratioOf(recorded('weir-single'), requests('floor')), 0.3),
    atLeast(
      'single, recorded ÷ requests of the bare route, two processes each',
      ratioOf(recorded('weir-single-2'), requests('floor-2')),
      0.3,
    ),
    atLeast('single ÷ one job a request, recorded', ratioOf(recorded('weir-single'), recorded('job-per-request')), 4),
    atLeast(`batch ÷ ${ceiling ?? CEILING}, recorded`, ratioOf(recorded('weir-batch'), recorded(ceiling ?? '')), 0.6),
    atMost(
      'single, p99 at half of its top rate',
      half && spreadOf(half.rounds.map(({ latencyMs }) => latencyMs.p99)),
      10,
      'ms',
    ),
    atMost(
      'single, disk in Postgres for each event',
      spreadOfAll(rounds.get('weir-single') ?? [], ({ postgresBytesPerEvent }) => postgresBytesPerEvent),
      400,
      'bytes',
    ),
  ];
  return lines.filter((line) => line !== null);
}

/** Whether a table that is full slows Weir down. Needs rounds without any rows. */
export function growthTargetsOf(points: readonly RowsPoint[]): TargetLine[] {
  const patterns = [...new Set(points.map(({ pattern }) => pattern))];
  const lines = patterns.map((pattern) => {
    const ofPattern = points.filter((point) => point.pattern === pattern).toSorted((a, b) => a.rows - b.rows);
    const [none, most] = [ofPattern[0], ofPattern.at(-1)];
    if (none?.rows !== 0 || most === undefined || most.rows === 0) return null;
    const recorded = ({ rounds }: RowsPoint) => rounds.map(({ recordedPerSecond }) => recordedPerSecond);
    return atLeast(
      `${pattern}, recorded at ${whole(most.rows)} rows ÷ at none`,
      ratioOf(recorded(most), recorded(none)),
      0.8,
    );
  });
  return lines.filter((line) => line !== null);
}

/** The name of the ceiling that recorded most, by its median; undefined when none was run. */
export function bestCeiling(rounds: Rounds): string | undefined {
  const medianOf = (name: string) =>
    spreadOf((rounds.get(name) ?? []).map(({ recordedPerSecond }) => recordedPerSecond ?? 0)).median;
  return [...rounds.keys()]
    .filter((name) => name.startsWith(CEILING))
    .toSorted((a, b) => medianOf(b) - medianOf(a))
    .at(0);
}

function atLeast(title: string, figure: Spread | null | undefined, target: number, unit = ''): TargetLine | null {
  if (figure === null || figure === undefined) return null;
  return { title, figure, unit, target, isLeast: true, isReached: figure.median >= target };
}

function atMost(title: string, figure: Spread | null | undefined, target: number, unit: string): TargetLine | null {
  if (figure === null || figure === undefined) return null;
  return { title, figure, unit, target, isLeast: false, isReached: figure.median <= target };
}

/** `ok` or `below`, the figure with its spread, and the target; one target a line. Empty without any. */
export function targetText(lines: readonly TargetLine[]): string {
  const width = Math.max(...lines.map(({ title }) => title.length));
  return lines
    .map(({ title, figure, unit, target, isLeast, isReached }) => {
      const number = { '': twoDigits, ms: oneDigit }[unit] ?? whole;
      const ofTarget = `${isLeast ? '≥' : '≤'} ${target} ${unit}`.trim();
      const ofFigure = `${spreadText(figure, number)} ${unit}`.trim();
      return `${isReached ? 'ok   ' : 'below'}  ${title.padEnd(width)}  ${ofFigure}, target ${ofTarget}`;
    })
    .join('\n');
}
