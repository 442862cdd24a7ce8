import { expect, test } from 'vitest';
import { Progress } from './progress.ts';

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) };
}

test('on a terminal a line replaces the one before, and a line that stays replaces it too', () => {
  const terminal = screen(true);
  const progress = new Progress(terminal);
  progress.show('one');
  progress.show('two');
  progress.log('done');
  progress.log('next');
  expect(terminal.written.join('')).toBe('one\r\u001B[2Ktwo\r\u001B[2Kdone\nnext\n');
});

test('elsewhere a plain line comes every five seconds', () => {
  const file = screen(false);
  let now = 0;
  const progress = new Progress(file, () => now);
  for (now = 0; now <= 12_000; now += 1_000) progress.show(`${now} ms`);
  expect(file.written).toEqual(['0 ms\n', '5000 ms\n', '10000 ms\n']);
});
