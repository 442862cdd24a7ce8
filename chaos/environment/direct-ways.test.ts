import { expect, test } from 'vitest';
import { readDirectWays } from './direct-ways.ts';

const line = (time: number, way: string, more: object, pid = 7) =>
  JSON.stringify({ level: 40, time, pid, way, ...more, msg: 'x' });
const other = (time: number, pid: number) => JSON.stringify({ level: 30, time, pid, msg: 'another line' });
const away = { because: 'Command timed out' };
const still = { err: { message: 'there was no answer within 250 ms' } };
const back = { seconds: 2 };
const room = { memoryShare: 0.8 };

test('an API went directly from when it left Redis until it took it again, for each reason by itself', async () => {
  const lines = [
    other(1, 7),
    line(10, 'direct', away),
    line(15, 'direct', still),
    line(20, 'direct', room),
    line(30, 'direct', room),
    line(40, 'redis', room),
    line(50, 'redis', back),
    line(60, 'redis', {}),
    line(65, 'direct', { because: 'unsure' }),
    line(66, 'redis', {}),
    line(70, 'direct', {}),
    line(80, 'redis', {}),
    line(90, 'direct', away),
    line(91, 'direct', room),
    other(93, 8),
    line(94, 'direct', away, 8),
    '{"level":40,"time":95,"pid":8,"way":"redis","sec',
  ];
  expect(await readDirectWays(lines)).toEqual([
    { from: 10, until: 50 },
    { from: 20, until: 40 },
    { from: 64, until: 66 },
    { from: 70, until: 80 },
    { from: 90, until: 93 },
    { from: 91, until: 93 },
    { from: 94 },
  ]);
});

test('the clock of a process that is an hour ahead or behind is told from the line before its first', async () => {
  const hour = 3_600_000;
  const day = 24 * hour;
  const lines = [
    other(day + 1_000, 1),
    line(day + 2_000, 'direct', away, 1),
    other(day + 5_000 - hour, 2),
    line(day + 6_000 - hour, 'direct', away, 2),
    line(day + 7_000 - hour, 'redis', back, 2),
    other(day + 8_000 + hour, 3),
    line(day + 9_000 + hour, 'direct', room, 3),
    other(day + 10_000, 4),
  ];
  expect(await readDirectWays(lines)).toEqual([
    { from: day + 2_000, until: day + 5_000 },
    { from: day + 6_000, until: day + 7_000 },
    { from: day + 9_000, until: day + 10_000 },
  ]);
});
