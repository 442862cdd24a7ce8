import { Command } from 'commander';
import { expect, test } from 'vitest';
import { parseChaosOptions } from './chaos-options.ts';

const parse = (...args: string[]) =>
  parseChaosOptions(args, new Command().exitOverride().configureOutput({ writeErr() {} }), () => 1);

test('faults that this run does not make are refused, and so are broken builds that it does not show', () => {
  expect(() => parse('--faults', 'machine lost')).toThrow(/'machine lost'.*needs --machines 3/);
  expect(() => parse('--machines', '3', '--faults', 'receiver away')).toThrow(
    /'receiver away'.*not made with --machines/,
  );
  expect(() => parse('--minutes', '2', '--faults', 'kill', 'pause')).toThrow(/'pause'.*three minutes of faults/);
  // With hostile clients faults are made in three fifths of the time.
  expect(() => parse('--minutes', '4', '--hostile', '--faults', 'pause')).toThrow(/'pause'/);
  expect(parse('--minutes', '5', '--hostile', '--faults', 'pause').faultKinds).toEqual(['pause']);
  expect(parse('--machines', '3', '--faults', 'machine lost').faultKinds).toEqual(['machine lost']);
  expect(() => parse('--broken', 'no-wait')).toThrow(/'no-wait'.*--machines/);
  expect(() => parse('--broken', 'claim-first', 'leaking-slots')).toThrow(/'leaking-slots'.*--hostile/);
  expect(parse('--hostile', '--broken', 'leaking-slots', 'claim-first').broken).toHaveLength(2);
});

test('a report that could not be written in the end is refused before anything runs', () => {
  expect(() => parse('--json', '/nowhere/report.json')).toThrow(/'--json <file>'.*It cannot be written: ENOENT/);
  expect(() => parse('--json', '.')).toThrow(/It cannot be written: it is a folder/);
  expect(() => parse('--json', 'package.json/report.json')).toThrow(/It cannot be written: ENOTDIR/);
  expect(parse('--json', 'report.json').json).toBe('report.json');
});
