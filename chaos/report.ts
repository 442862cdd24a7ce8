// What a run came to, for people and for programs.

import type { Check } from './judge/check.ts';
import type { Judgement } from './judge/judge.ts';
import type { Figures } from './judge/figures.ts';

export interface Report {
  seed: number;
  seconds: number;
  checks: Check[];
  violations: number;
  figures: Figures;
}

export function reportOf({ seed, seconds }: { seed: number; seconds: number }, { checks, figures }: Judgement): Report {
  const violations = checks.reduce((sum, check) => sum + check.violations, 0);
  return { seed, seconds, violations, checks, figures };
}

/** The report as Markdown, also good to read in a terminal. */
export function textOf({ seed, seconds, checks, violations, figures }: Report): string {
  const { requests, attempts, accepted, faults, byStatus } = figures;
  const count = faults.reduce((sum, fault) => sum + fault.count, 0);
  const examples = checks.flatMap(({ name, examples }) => examples.map((example) => `- ${name}: ${example}`));
  return [
    `Seed ${seed}, ${seconds} s: ${whole(requests)} requests in ${whole(attempts)} attempts, ${whole(accepted)} events accepted, ${whole(count)} faults, ${whole(violations)} violations.`,
    '',
    markdown(
      ['check', 'examined', 'violations', 'promise'],
      checks.map(({ name, examined, violations, promise }) => [name, whole(examined), whole(violations), promise]),
    ),
    ...(examples.length === 0 ? [] : ['', ...examples]),
    '',
    markdown(
      ['fault', 'times', 'recovery, median ms', 'recovery, worst ms'],
      faults.map(({ kind, count, recoveryMs }) => [
        kind,
        whole(count),
        recoveryMs === null ? '–' : whole(recoveryMs.median),
        recoveryMs === null ? '–' : whole(recoveryMs.worst),
      ]),
    ),
    '',
    `Answers: ${Object.entries(byStatus)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, times]) => `${status} ${whole(times)}`)
      .join(', ')}.`,
  ].join('\n');
}

function markdown(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)));
  const isNumber = (column: number) => column > 0 && rows.every((row) => /^[\d,–]+$/.test(row[column] ?? ''));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (isNumber(column) ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
