// The report of a run, for people and for programs.

import type { Check } from './judge/check.ts';
import type { Judgement } from './judge/judge.ts';
import type { Figures } from './judge/figures.ts';

export interface ChaosReport {
  seed: number;
  seconds: number;
  checks: Check[];
  violations: number;
  figures: Figures;
}

export function chaosReport(
  { seed, seconds }: { seed: number; seconds: number },
  { checks, figures }: Judgement,
): ChaosReport {
  const violations = checks.reduce((sum, check) => sum + check.violations, 0);
  return { seed, seconds, violations, checks, figures };
}

/** The report as Markdown, also good to read in a terminal. */
export function chaosReportText({ seed, seconds, checks, violations, figures }: ChaosReport): string {
  const { requests, attempts, accepted, faults, byStatus, door, alertsMs } = figures;
  const count = faults.reduce((sum, fault) => sum + fault.count, 0);
  const idle = checks.filter(({ examined }) => examined === 0).map(({ name }) => name);
  const examples = checks.flatMap(({ name, examples }) => examples.map((example) => `- ${name}: ${example}`));
  return [
    `Seed ${seed}, ${seconds} s: ${whole(requests)} requests in ${whole(attempts)} attempts, ${whole(accepted)} events accepted, ${whole(count)} faults, ${whole(violations)} violations.`,
    '',
    markdown(
      ['check', 'examined', 'violations', 'promise'],
      checks.map(({ name, examined, violations, promise }) => [name, whole(examined), whole(violations), promise]),
    ),
    ...(idle.length === 0
      ? []
      : ['', `Nothing was there to be examined, and nothing is proved, by: ${idle.join(', ')}.`]),
    ...(examples.length === 0 ? [] : ['', ...examples]),
    '',
    markdown(
      ['fault', 'times', 'recovery, median ms', 'recovery, worst ms', 'longest pause of the door, ms'],
      faults.map(({ kind, count, recoveryMs, pauseMs }) => [
        kind,
        whole(count),
        recoveryMs === null ? '–' : whole(recoveryMs.median),
        recoveryMs === null ? '–' : whole(recoveryMs.worst),
        whole(pauseMs),
      ]),
    ),
    ...(figures.hostile === undefined ? [] : hostileLines(figures.hostile)),
    '',
    `Answers: ${Object.entries(byStatus)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, times]) => `${status} ${whole(times)}`)
      .join(', ')}.`,
    `Of ${whole(door.answered)} answers to tracking ${whole(door.refused)} were 503: ${((100 * door.refused) / Math.max(1, door.answered)).toFixed(3)} %.`,
    ...(alertsMs === null
      ? []
      : [
          `Of ${whole(alertsMs.count)} thresholds the feed told ${whole(alertsMs.median)} ms after the 201 in the median, and ${whole(alertsMs.worst)} ms at most.`,
        ]),
  ].join('\n');
}

function hostileLines({ kinds, speed, resourceUsage }: NonNullable<Figures['hostile']>): string[] {
  const ms = (value: number | undefined) => (value === undefined ? '–' : value.toFixed(1));
  const megabytes = (bytes: number | undefined) => (bytes === undefined ? '–' : whole(bytes / 1_048_576));
  const before = (process: string) => resourceUsage.find((line) => line.when === 'before' && line.process === process);
  const pair = (from: string | undefined, to: string) => `${from ?? '–'} → ${to}`;
  return [
    '',
    markdown(
      ['hostile clients', 'turns', 'acts', 'MB sent', 'events accepted', 'answers'],
      kinds.map(({ kind, turns, acts, bytes, accepted, statuses }) => [
        kind,
        whole(turns),
        whole(acts),
        megabytes(bytes),
        whole(accepted),
        Object.entries(statuses)
          .map(([status, count]) => `${status}: ${whole(count)}`)
          .join(', '),
      ]),
    ),
    '',
    markdown(
      ['tracking by the honest', 'requests', 'p50 ms', 'p99 ms'],
      [
        ['without hostile clients', whole(speed.calm?.count ?? 0), ms(speed.calm?.p50Ms), ms(speed.calm?.p99Ms)],
        [
          'beside hostile clients',
          whole(speed.hostile?.count ?? 0),
          ms(speed.hostile?.p50Ms),
          ms(speed.hostile?.p99Ms),
        ],
      ],
    ),
    '',
    markdown(
      ['before → after', 'MB in use', 'MB in all', 'open files'],
      resourceUsage
        .filter(({ when }) => when === 'after')
        .map(({ process, usedBytes, residentBytes, descriptors }) => [
          process,
          pair(megabytes(before(process)?.usedBytes), megabytes(usedBytes)),
          pair(megabytes(before(process)?.residentBytes), megabytes(residentBytes)),
          pair(before(process)?.descriptors?.toString(), descriptors?.toString() ?? '–'),
        ]),
    ),
  ];
}

function markdown(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)));
  const isNumber = (column: number) => column > 0 && rows.every((row) => /^[\d,.–]+$/.test(row[column] ?? ''));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (isNumber(column) ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
