import { expect, test } from 'vitest';
import { ProgressLine } from './progress-line.ts';

function outputOf(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) };
}

test('on a terminal a line replaces the one before, and a line that stays replaces it too', () => {
  const terminal = outputOf(true);
  let now = 0;
  const progress = new ProgressLine(terminal, () => now);
  for (const line of ['one', 'two']) {
    now += 100;
    progress.show(() => line);
  }
  progress.log('done');
  progress.log('next');
  progress.clear();
  expect(terminal.written.join('')).toBe('\r\u001B[Kone\r\u001B[Ktwo\r\u001B[Kdone\nnext\n');
});

test('elsewhere a plain line comes every five seconds', () => {
  const file = outputOf(false);
  let now = 0;
  const progress = new ProgressLine(file, () => now);
  for (; now <= 12_000; now += 1_000) progress.show(() => `${now} ms`);
  progress.clear();
  expect(file.written).toEqual(['5000 ms\n', '10000 ms\n']);
});

test('a line that is not shown is not made', () => {
  const progress = new ProgressLine(outputOf(true), () => 0);
  expect(() =>
    progress.show(() => {
      throw new Error('made');
    }),
  ).not.toThrow();
});
