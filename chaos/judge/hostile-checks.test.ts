import { describe, expect, test } from 'vitest';
import type { HostileLine } from '../history.ts';
import {
  hostileIsCounted,
  readersAreServed,
  speedIn,
  trackingStaysQuick,
  type HostileCount,
} from './hostile-checks.ts';
import { MadeUpRun, eventOf, idOf } from './made-up-run.ts';

const ACCOUNT = {
  type: 'hostile-account',
  at: 0,
  index: 0,
  id: 'strangers',
  email: 'stranger@example.net',
  password: '',
  session: '',
  apiKey: '',
  meterId: '',
  meterToken: '',
  widgetToken: '',
} as const;

function turnOf(turn: Partial<HostileLine>): HostileLine {
  const nothing = { acts: 0, leftOut: 0, bytes: 0, statuses: {}, accepted: {}, unsettled: {} };
  return { type: 'hostile', at: 0, until: 0, kind: 'flood of keys', ...nothing, ...turn };
}

describe('what hostile clients got accepted', () => {
  const run = () =>
    new MadeUpRun()
      .line(ACCOUNT)
      .line(turnOf({ accepted: { 0: 900 } }))
      .line(turnOf({ accepted: { 0: 100 }, unsettled: { 0: 10 } }));
  const violationsOf = (made: MadeUpRun, count: Partial<HostileCount>) => {
    const { recorded = 0 } = count;
    const counts = [{ organization: 'strangers', rejected: 0, duplicates: 0, recorded, ...count }];
    return hostileIsCounted(made.facts, counts).violations;
  };

  test('is there, and of what was not answered some or all', () => {
    expect(violationsOf(run(), { recorded: 1_000 })).toBe(0);
    expect(violationsOf(run(), { recorded: 990, rejected: 15, duplicates: 5 })).toBe(0);
  });

  test('is found missing, and what nobody can have sent is found', () => {
    expect(violationsOf(run(), { recorded: 999 })).toBe(1);
    expect(violationsOf(run(), { recorded: 1_011 })).toBe(1);
  });

  test('may be gone with what was cut off the log of Redis, but for what that held of the honest', () => {
    const cut = () => run().fault({ lostEvents: [idOf(1), idOf(2)] });
    expect(violationsOf(cut(), { recorded: 998 })).toBe(0);
    expect(violationsOf(cut().accept(eventOf('a'), idOf(1)), { recorded: 998 })).toBe(1);
  });
});

/** So many requests of each phase take so long, and one in fifty of them so much longer. */
function runOf(calmMs: number, hostileMs: number): MadeUpRun {
  const run = new MadeUpRun()
    .line({ type: 'phase', at: 0, time: 0, phase: 'calm' })
    .line({ type: 'phase', at: 10_000, time: 10_000, phase: 'hostile' })
    .line({ type: 'phase', at: 20_000, time: 20_000, phase: 'load' });
  for (const [from, slowMs] of [
    [0, calmMs],
    [10_000, hostileMs],
  ] as const) {
    for (let index = 0; index < 100; index += 1) {
      const due = from + index;
      const tookMs = index % 50 === 0 ? slowMs : 1;
      run.exchange([eventOf(`${due}`)], { status: 201, body: { id: idOf(due) }, at: due, due, tookMs });
    }
  }
  return run;
}

describe('p99 of tracking', () => {
  test('may be five times as long beside hostile clients, and no longer', () => {
    expect(trackingStaysQuick(runOf(10, 50).facts)).toMatchObject({ examined: 100, violations: 0 });
    expect(trackingStaysQuick(runOf(10, 51).facts).violations).toBe(1);
  });

  test('may be 25 ms in any case', () => {
    expect(trackingStaysQuick(runOf(1, 25).facts).violations).toBe(0);
    expect(trackingStaysQuick(runOf(1, 26).facts).violations).toBe(1);
  });

  test('counts from the moment that a request was due, whenever it was sent', () => {
    const late = new MadeUpRun()
      .line({ type: 'phase', at: 0, time: 0, phase: 'calm' })
      .exchange([eventOf('a')], { status: 201, body: { id: idOf(1) }, at: 900, due: 100, tookMs: 10 });
    expect(speedIn(late.facts, 'calm')).toEqual({ count: 1, p50Ms: 810, p99Ms: 810 });
  });

  test('of a run that measured nothing proves nothing', () => {
    expect(trackingStaysQuick(new MadeUpRun().facts)).toMatchObject({ examined: 0, violations: 0 });
  });
});

describe('readers beside hostile clients', () => {
  const runWith = (statuses: number[]) => {
    const run = new MadeUpRun().line({ type: 'phase', at: 0, time: 0, phase: 'hostile' });
    statuses.forEach((status, index) =>
      run.exchange([], { operation: 'usage', subject: '0', expect: [200], status, body: {}, at: index * 100 }),
    );
    return run;
  };

  test('may be refused now and then', () => {
    const check = readersAreServed(runWith([503, 503, 503, 503, 200]).facts);
    expect(check).toMatchObject({ examined: 1, violations: 0 });
  });

  test('that are all refused are found', () => {
    expect(readersAreServed(runWith([503, 503, 503, 503, 503]).facts).violations).toBe(1);
  });

  test('that are too few say nothing', () => {
    expect(readersAreServed(runWith([503, 503]).facts)).toMatchObject({ examined: 0, violations: 0 });
  });
});
