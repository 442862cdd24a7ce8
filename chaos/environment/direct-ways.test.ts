import { expect, test } from 'vitest';
import { readDirectWays } from './direct-ways.ts';

const line = (time: number, way: string, more: object) => JSON.stringify({ level: 40, time, way, ...more, msg: 'x' });
const away = { because: 'Command timed out' };
const still = { err: { message: 'there was no answer within 250 ms' } };
const back = { seconds: 2 };
const room = { memoryShare: 0.8 };

test('an API went directly from when it left Redis until it took it again, for each reason by itself', async () => {
  const lines = [
    JSON.stringify({ level: 30, time: 1, msg: 'listening' }),
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
    JSON.stringify({ level: 30, time: 93, msg: 'the API listens' }),
    line(94, 'direct', away),
    '{"level":40,"time":95,"way":"redis","sec',
  ];
  expect(await readDirectWays(lines)).toEqual([
    { from: 10, until: 50 },
    { from: 20, until: 40 },
    { from: 65, until: 65 },
    { from: 70, until: 80 },
    { from: 90, until: 93 },
    { from: 91, until: 93 },
    { from: 94 },
  ]);
});
