import { expect, test } from 'vitest';
import { eventsOnlyIn } from './lost-data.ts';
import { readUnits } from './redis-log.ts';

const encode = (...command: string[]) =>
  `*${command.length}\r\n${command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;

test('a log is read up to the first command or transaction that is not whole', () => {
  const first = encode('SET', 'a', 'ü\r\n');
  const transaction = encode('MULTI') + encode('HSET', 'b', 'x', '1') + encode('ZADD', 'c', '1', 'b') + encode('EXEC');
  const log = Buffer.from(first + transaction);
  expect(readUnits(log)).toEqual([
    { end: Buffer.byteLength(first), commands: [['SET', 'a', 'ü\r\n']] },
    {
      end: log.length,
      commands: [
        ['HSET', 'b', 'x', '1'],
        ['ZADD', 'c', '1', 'b'],
      ],
    },
  ]);
  for (let cut = Buffer.byteLength(first); cut < log.length; cut += 1) {
    expect(readUnits(log.subarray(0, cut))).toHaveLength(1);
  }
  expect(() => readUnits(Buffer.from('what is no command\r\n'))).toThrow('byte 0');
});

test('events are lost that were staged in what is gone, save those that a worker had recorded by then', () => {
  const lost = eventsOnlyIn(
    [
      ['RPUSH', '{weir}:batch:one', '["id-1"],\n["id-2"]'],
      ['RPUSH', '{weir}:batch:two', '["id-3"]'],
      ['RPUSH', '{weir}:record:wait', 'one'],
      ['HSET', '{weir}:record:one', 'name', 'record'],
      ['UNLINK', '{weir}:batch:two'],
      ['UNLINK', '{weir}:batch:staged-long-before'],
    ],
    '{weir}',
  );
  expect(lost).toEqual(['id-1', 'id-2']);
});
