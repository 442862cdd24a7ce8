import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Refusal } from './errors.ts';
import { createLog, type Logger } from './log.ts';
import { Outages } from './outages.ts';
import { SparseLog } from './sparse-log.ts';

class Gone extends Error {}
const PARTS = [{ name: 'Redis', isAway: (error: unknown) => error instanceof Gone }];

const clock = { ms: 0 };
let outages: Outages;
beforeEach(() => {
  clock.ms = 0;
  outages = new Outages(PARTS, () => clock.ms);
});
afterEach(() => void vi.useRealTimers());
const told = (err: unknown, message = 'lost'): string | undefined => outages.look({ err }, message)?.[1];
const back = () => outages.look({ back: 'Redis' }, 'Redis answers again');

test('an outage is said once, with its end and how many lines were left out', () => {
  const refused = new Gone('connect ECONNREFUSED');
  expect(told(refused)).toBe('Redis is away, and what fails for it is only counted now: lost');
  for (clock.ms = 1_000; clock.ms < 20_000; clock.ms += 1_000) expect(told(refused)).toBeUndefined();
  const because = new Refusal('unavailable', 'The queue cannot take events now', {}, refused);
  expect(told(because)).toBeUndefined();
  expect(back()).toBeUndefined();
  // Of a command that was under way.
  clock.ms = 21_000;
  expect(told(refused)).toBeUndefined();
  for (clock.ms = 22_000; clock.ms < 37_000; clock.ms += 1_000) expect(back()).toBeUndefined();
  expect(back()).toEqual([{ back: 'Redis', seconds: 22, alike: 21 }, 'Redis answers again']);
  expect(back()).toBeUndefined();
  expect(told(refused)).toContain('Redis is away');
});

test('what still fails while the part answers who only looks is one outage', () => {
  const lines: unknown[] = [];
  for (clock.ms = 0; clock.ms <= 80_000; clock.ms += 1_000) {
    if (clock.ms <= 60_000 && clock.ms % 10_000 === 0) lines.push(told(new Gone('no replica acknowledged it')));
    lines.push(back()?.[0]);
  }
  expect(lines.filter((line) => line !== undefined)).toEqual([
    'Redis is away, and what fails for it is only counted now: lost',
    'Redis is still away: lost',
    { back: 'Redis', seconds: 60, alike: 5 },
  ]);
});

test('what fails in one process at times only does not have its end told again and again', () => {
  const lines: unknown[] = [];
  // Seven others take their turn meanwhile: an hour and a half of it.
  for (clock.ms = 0; clock.ms <= 5_400_000; clock.ms += 1_000) {
    if (clock.ms % 80_000 === 0) told(new Gone('no replica acknowledged it'));
    lines.push(back()?.[0]);
  }
  expect(lines.filter((line) => line !== undefined)).toHaveLength(3);
  // Once it has been over for long, the next one is over as soon as any.
  for (; back() === undefined;) clock.ms += 1_000;
  clock.ms += 601_000;
  told(new Gone('connect ECONNREFUSED'));
  back();
  clock.ms += 15_000;
  expect(back()).toBeDefined();
});

test('one that lasts is said again once a minute, and at once where its reason changes', () => {
  told(new Gone('connect ECONNREFUSED'));
  expect(told(new Gone('read ECONNRESET'))).toBeUndefined();
  expect(told(new Gone('LOADING Redis is loading the dataset in memory'))).toBe('Redis is still away: lost');
  expect(told(new Gone('LOADING Redis is loading the dataset in memory'))).toBeUndefined();
  clock.ms = 60_000;
  expect(outages.look({ err: new Gone('x') }, 'lost')?.[0]).toMatchObject({ away: 'Redis', seconds: 60, alike: 1 });
});

test('what is no outage is written as it is, whatever is away', () => {
  told(new Gone('connect ECONNREFUSED'));
  for (const err of [new TypeError('a defect'), new Error('connect ECONNREFUSED'), undefined])
    expect(outages.look({ err }, 'failed')).toEqual([{ err }, 'failed']);
});

test.each(['warn', 'error'])(
  'with the level %s an outage ends, though the line that says so is not written',
  (level) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const lines: Record<string, unknown>[] = [];
    const log = createLog('weir', level, PARTS, { write: (line) => void lines.push(JSON.parse(line)) });
    const fail = () => log.error({ err: new Gone('connect ECONNREFUSED') }, 'maintenance failed');
    fail();
    log.child({ request_id: 'r' }).info({ back: 'Redis' }, 'Redis answers again');
    vi.advanceTimersByTime(15_000);
    log.info({ back: 'Redis' }, 'Redis answers again');
    log.info({ err: new Gone('connect ECONNREFUSED') }, 'a line that is not written begins no outage');
    log.info('a line without fields');
    fail();
    const away = 'Redis is away, and what fails for it is only counted now: maintenance failed';
    expect(lines.map(({ msg }) => msg)).toEqual([away, away]);
  },
);

test('of an outage that is over nothing is written later, though it failed alike many times', () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const lines: Record<string, unknown>[] = [];
  const log = createLog('weir', 'info', PARTS, { write: (line) => void lines.push(JSON.parse(line)) });
  const sparse = new SparseLog();
  const error = new Gone('connect ECONNREFUSED');
  for (let second = 0; second < 125; second += 1) {
    const to = log.child({ second });
    if (second < 35) sparse.write(to, 'error', error.message, { err: error }, 'maintenance failed');
    else log.info({ back: 'Redis' }, 'Redis answers again');
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toMatchObject([
    { away: 'Redis', second: 0 },
    { back: 'Redis', seconds: 35, alike: 34 },
  ]);
});

test('a logger and its children leave out the same lines, and the stack of the one that they write', () => {
  const lines: Record<string, unknown>[] = [];
  const log: Logger = createLog('weir', 'info', PARTS, { write: (line) => void lines.push(JSON.parse(line)) });
  const child = log.child({ request_id: 'r' });
  child.warn({ err: new Gone('connect ECONNREFUSED') }, 'a request failed');
  log.error({ err: new Gone('connect ECONNREFUSED') }, 'maintenance failed');
  log.error({ err: new TypeError('a defect') }, 'a request failed');
  log.info('a line without fields');
  expect(lines.map(({ msg }) => msg)).toEqual([
    'Redis is away, and what fails for it is only counted now: a request failed',
    'a request failed',
    'a line without fields',
  ]);
  expect(lines[0]).toMatchObject({ away: 'Redis', request_id: 'r', err: { message: 'connect ECONNREFUSED' } });
  expect(lines[0]?.['err']).not.toHaveProperty('stack');
  expect(lines[1]?.['err']).toHaveProperty('stack');
});
