import { Command } from 'commander';
import { expect, test } from 'vitest';
import { parseChaosOptions } from './chaos-options.ts';

const parse = (...args: string[]) =>
  parseChaosOptions(args, new Command().exitOverride().configureOutput({ writeErr() {} }), () => 1);

test('a report that could not be written in the end is refused before anything runs', () => {
  expect(() => parse('--json', '/nowhere/report.json')).toThrow(/'--json <file>'.*It cannot be written: ENOENT/);
  expect(() => parse('--json', '.')).toThrow(/It cannot be written: it is a folder/);
  expect(() => parse('--json', 'package.json/report.json')).toThrow(/It cannot be written: ENOTDIR/);
  expect(parse('--json', 'report.json').json).toBe('report.json');
});
