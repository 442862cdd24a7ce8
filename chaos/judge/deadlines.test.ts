import { describe, expect, test } from 'vitest';
import { answersAreInTime, rollingRestartsDropNothing } from './deadlines.ts';
import { MadeUpRun, eventOf, type Exchange } from './made-up-run.ts';

const event = eventOf('a');
const late = { status: 503, at: 10_000, tookMs: 2_600, body: { code: 'unavailable', detail: 'late' } };

function violationsOf(run: MadeUpRun): number {
  return answersAreInTime(run.facts).violations;
}

describe('an answer to tracking', () => {
  test('in time passes', () => {
    expect(answersAreInTime(new MadeUpRun().exchange([event], { status: 201 }).facts)).toMatchObject({
      examined: 1,
      violations: 0,
    });
  });

  test('that comes late is found, also while one of Redis and Postgres is in trouble', () => {
    expect(violationsOf(new MadeUpRun().exchange([event], late))).toBe(1);
    for (const target of ['redis', 'api-0>redis', 'postgres'])
      expect(violationsOf(new MadeUpRun().exchange([event], late).fault({ at: 9_000, until: 20_000, target }))).toBe(1);
  });

  test('may take as long as clients wait while Redis and Postgres are both in trouble, and no longer', () => {
    const run = (tookMs: number, target: string) =>
      new MadeUpRun()
        .exchange([event], { ...late, tookMs })
        .fault({ at: 9_000, until: 20_000, target })
        .fault({ at: 9_000, until: 20_000, target: 'api-0>postgres' });
    expect(violationsOf(run(4_900, 'api-0>redis'))).toBe(0);
    expect(violationsOf(run(5_100, 'api-0>redis'))).toBe(1);
    expect(violationsOf(run(4_900, 'api-1>redis'))).toBe(1);
  });

  test('may come late while its process or the way to it is disturbed, and not when it is another', () => {
    const run = () => new MadeUpRun().exchange([event], late);
    expect(violationsOf(run().fault({ at: 9_000, until: 10_500, target: 'api-0' }))).toBe(0);
    expect(violationsOf(run().fault({ at: 9_000, until: 10_500, target: 'client>api-0' }))).toBe(0);
    expect(violationsOf(run().fault({ at: 9_000, until: 10_500, target: 'redis,api-0' }))).toBe(0);
    expect(violationsOf(run().fault({ at: 9_000, until: 10_500, target: 'api-1' }))).toBe(1);
    expect(violationsOf(run().fault({ at: 1_000, until: 2_000, target: 'api-0' }))).toBe(1);
  });

  test('that never comes is found: the client ran into its time-out, or was cut off', () => {
    const timeout = { why: 'timeout', at: 10_000, tookMs: 5_000 } as const;
    expect(violationsOf(new MadeUpRun().exchange([event], timeout))).toBe(1);
    expect(violationsOf(new MadeUpRun().exchange([event], { why: 'reset' }))).toBe(1);
  });
});

describe('an answer to a read', () => {
  const read: Exchange = { operation: 'usage', subject: '0', expect: [200], status: 503, body: {}, at: 10_000 };

  test('may take longer than one to tracking, and not longer than 5 s', () => {
    expect(violationsOf(new MadeUpRun().exchange([], { ...read, tookMs: 4_000 }))).toBe(0);
    expect(violationsOf(new MadeUpRun().exchange([], { ...read, tookMs: 6_000 }))).toBe(1);
  });

  const inTrouble = (target: string) => new MadeUpRun().fault({ at: 9_000, until: 15_000, target });

  test.for(['postgres', 'api-0>postgres'])(
    'may take until Postgres gives up while it, or the way to it, is in trouble (%s)',
    (target) => {
      expect(violationsOf(inTrouble(target).exchange([], { ...read, tookMs: 15_000 }))).toBe(0);
      expect(violationsOf(inTrouble(target).exchange([], { ...read, tookMs: 17_000 }))).toBe(1);
    },
  );

  test.for(['api-1>postgres', 'worker-0,worker-1,worker-0>postgres,worker-1>postgres'])(
    'may not while somebody else is in trouble, which holds up changes alone (%s)',
    (target) => {
      const change: Exchange = { ...read, operation: 'correct', subject: 'x', expect: [201] };
      expect(violationsOf(inTrouble(target).exchange([], { ...read, tookMs: 15_000 }))).toBe(1);
      expect(violationsOf(inTrouble(target).exchange([], { ...change, tookMs: 15_000 }))).toBe(0);
      expect(violationsOf(inTrouble(target).exchange([], { ...change, tookMs: 17_000 }))).toBe(1);
    },
  );

  const beside = (others: Exchange[], tookMs: number) => {
    const run = new MadeUpRun();
    for (const other of others) run.exchange([], { ...read, status: 200, ...other });
    return violationsOf(run.exchange([], { ...read, tookMs }));
  };

  test('may take longer by as long as two others of its organization were under way at once, and 5 s at most', () => {
    const [other, elsewhere] = [
      { at: 9_900, tookMs: 4_100 },
      { at: 9_900, tookMs: 4_100, organization: 1 },
    ];
    expect(beside([other, other], 8_900)).toBe(0);
    expect(beside([other, other], 9_100)).toBe(1);
    expect(beside([other], 8_900)).toBe(1);
    expect(beside([elsewhere, elsewhere], 8_900)).toBe(1);
    const long: Exchange = { operation: 'billing', at: 9_900, tookMs: 15_500 };
    expect(beside([long, long], 9_900)).toBe(0);
    expect(beside([long, long], 10_100)).toBe(1);
  });

  test('may not where the two others came one after the other', () => {
    const [first, then] = [
      { at: 11_000, tookMs: 1_000 },
      { at: 13_000, tookMs: 1_000 },
    ];
    expect(beside([first, then], 9_000)).toBe(1);
    expect(beside([{ ...first, tookMs: 2_500 }, then], 5_400)).toBe(0);
    expect(beside([{ ...first, tookMs: 2_500 }, then], 5_600)).toBe(1);
  });

  test('may not for two others that were refused, and so had no place', () => {
    const refused = { at: 9_900, tookMs: 5_000, status: 429, body: {}, retryAfter: '1' };
    expect(beside([refused, refused], 9_000)).toBe(1);
  });

  test('may wait until its organization has paid for corrections', () => {
    // 105,300 buckets, of which 55,300 were not saved: 2.8 s.
    const correction: Exchange = {
      operation: 'correct',
      at: 8_000,
      tookMs: 2_000,
      subject: 'x',
      expect: [201],
      status: 201,
    };
    expect(beside([correction], 7_700)).toBe(0);
    expect(beside([correction], 7_900)).toBe(1);
    expect(beside([{ ...correction, at: 5_000 }], 5_100)).toBe(1);
  });
});

describe('a rolling restart', () => {
  const restart = { kind: 'rolling restart', target: 'api-0,api-1', at: 1_000, until: 5_000 };

  test('that answers every request passes', () => {
    const run = new MadeUpRun().fault(restart).exchange([event], { status: 201, at: 2_000 });
    expect(rollingRestartsDropNothing(run.facts)).toMatchObject({ examined: 1, violations: 0 });
  });

  test('is not blamed for the fault that comes after it', () => {
    const next = { kind: 'refuse', target: 'client>api-0', at: 5_001, until: 6_000 };
    const run = new MadeUpRun().fault(restart).fault(next).exchange([event], { why: 'reset', at: 4_999 });
    expect(rollingRestartsDropNothing(run.facts)).toMatchObject({ examined: 0, violations: 0 });
  });

  test.for([
    ['a connection that is reset', { why: 'reset' }],
    ['a connection that is refused', { why: 'refused' }],
    ['a server error', { status: 503, body: {} }],
  ] as const)('with %s is found', ([, outcome]) => {
    const run = new MadeUpRun().fault(restart).exchange([event], { ...outcome, at: 2_000 });
    expect(rollingRestartsDropNothing(run.facts).violations).toBe(1);
  });
});
