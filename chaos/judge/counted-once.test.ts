import { describe, expect, test } from 'vitest';
import { acceptedIsCountedOnce, heldIsCountedOnce, refusedLeavesNoTrace } from './counted-once.ts';
import { claimsAreHeld, recordedIsWhatWasSent } from './one-key.ts';
import { MadeUpRun, eventOf, idOf, UNIQUE_COUNT } from './made-up-run.ts';

const [a, b] = [eventOf('a'), eventOf('b')];
const held = (id: string) => ({ status: 409, body: { code: 'duplicate_event', detail: 'taken', id } });

describe('an accepted event', () => {
  test('passes when it is recorded or rejected once', () => {
    const rejected = eventOf('r', { meter: UNIQUE_COUNT });
    const run = new MadeUpRun()
      .accept(a, idOf(1))
      .record(a, idOf(1))
      .accept(rejected, idOf(2))
      .reject(rejected, idOf(2));
    expect(acceptedIsCountedOnce(run.facts, run.index)).toMatchObject({ examined: 2, violations: 0 });
  });

  test('is found when it is nowhere', () => {
    const run = new MadeUpRun().accept(a, idOf(1)).record(a, idOf(1)).accept(b, idOf(2));
    const check = acceptedIsCountedOnce(run.facts, run.index);
    expect(check).toMatchObject({ examined: 2, violations: 1 });
    expect(check.examples[0]).toMatch(/000000000002 of 0 key b .* is nowhere/);
  });

  test('is found when it is rejected for want of a user, and has one or needs none', () => {
    for (const wronged of [eventOf('u', { meter: UNIQUE_COUNT, userId: 'x' }), a]) {
      const run = () => new MadeUpRun().accept(wronged, idOf(1)).reject(wronged, idOf(1));
      expect(acceptedIsCountedOnce(run().facts, run().index).violations).toBe(1);
      // Another payload holds the key.
      const reused = run().exchange([{ ...wronged, quantity: '0.2' }], { status: 201, body: { id: idOf(2) } });
      reused.record({ ...wronged, quantity: '0.2' }, idOf(2));
      expect(acceptedIsCountedOnce(reused.facts, reused.index).violations).toBe(0);
    }
  });

  test('is found when it is recorded and rejected', () => {
    const run = new MadeUpRun().accept(a, idOf(1)).record(a, idOf(1)).reject(a, idOf(1));
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
  });

  test('is found when it is recorded twice', () => {
    const run = new MadeUpRun().accept(a, idOf(1)).record(a, idOf(1)).record(a, idOf(1));
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
  });

  test('is found when it is recorded under the key of another', () => {
    const run = new MadeUpRun().accept(a, idOf(1)).record(b, idOf(1));
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
  });

  test('may be a duplicate after Redis has lost its claims, and not otherwise', () => {
    const run = new MadeUpRun().accept(a, idOf(1)).record(a, idOf(1)).accept(a, idOf(2)).duplicate(idOf(2), idOf(1));
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
    run.fault({ at: 16, until: 18, losesClaims: true });
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(0);
  });

  test('may be a duplicate of a later one that was recorded first, after Redis has lost its claims', () => {
    const run = new MadeUpRun().accept(a, idOf(1)).accept(a, idOf(2)).record(a, idOf(2)).duplicate(idOf(1), idOf(2));
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
    run.fault({ at: 16, until: 18, losesClaims: true });
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(0);
  });

  test('may not be a duplicate because of claims that were lost after both were accepted', () => {
    const run = new MadeUpRun().accept(a, idOf(1)).accept(a, idOf(2)).record(a, idOf(2)).duplicate(idOf(1), idOf(2));
    run.fault({ at: 1_000, until: 1_001, losesClaims: true });
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
    // Nor where a later answer names it once more.
    run.exchange([a], { ...held(idOf(2)), at: 5_000 });
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
  });

  test('may not be a duplicate because of claims that were lost before it was sent', () => {
    const run = new MadeUpRun().accept(a, idOf(1)).record(a, idOf(1)).accept(a, idOf(2)).duplicate(idOf(2), idOf(1));
    run.fault({ at: -40_000, until: -30_000, losesClaims: true });
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
  });

  test('may be a duplicate of one that it crossed while an API went directly, and not before or after', () => {
    for (const [at, until, violations] of [
      [-9_000, -1_016, 1],
      [0, 900, 0],
      [5_000, 9_000, 1],
    ] as const) {
      const run = new MadeUpRun().accept(a, idOf(1)).accept(a, idOf(2)).record(a, idOf(2)).duplicate(idOf(1), idOf(2));
      // That Redis was away for it says nothing: one key accepted twice through Redis is a broken claim.
      run.fault({ at: 0, until: 900, target: 'api-1>redis' });
      run.direct(at, until);
      expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(violations);
      expect(claimsAreHeld(run.facts, run.index).violations).toBe(violations);
    }
  });

  test('may not be a duplicate of one that every process had to know of by then', () => {
    const run = (at: number) =>
      new MadeUpRun()
        .accept(a, idOf(1))
        .record(a, idOf(1))
        .exchange([a], { status: 201, body: { id: idOf(2) }, at })
        .duplicate(idOf(2), idOf(1))
        .fault({ at: 5, until: 5_000, target: 'redis' })
        .direct(5, 5_000);
    for (const [at, violations] of [
      [900, 0],
      [1_100, 1],
    ] as const) {
      const { facts, index } = run(at);
      expect(acceptedIsCountedOnce(facts, index).violations).toBe(violations);
      expect(claimsAreHeld(facts, index).violations).toBe(violations);
    }
  });

  test('may be a duplicate of one that nobody could tell of, since Postgres was away', () => {
    const run = (at: number) =>
      new MadeUpRun()
        .accept(a, idOf(1))
        .record(a, idOf(1))
        .exchange([a], { status: 201, body: { id: idOf(2) }, at })
        .duplicate(idOf(2), idOf(1))
        .fault({ at: 5, until: 5_000, target: 'redis' })
        .direct(5, 5_000)
        .fault({ at: 500, until: 3_000, target: 'api-1>postgres' });
    for (const [at, violations] of [
      [3_900, 0],
      [4_100, 1],
    ] as const) {
      const { facts, index } = run(at);
      expect(acceptedIsCountedOnce(facts, index).violations).toBe(violations);
    }
  });

  test('may be a duplicate of one that an API without Postgres could not hear of, as the other stood still', () => {
    for (const [target, violations] of [
      ['api-1', 0],
      ['client>api-1', 1],
    ] as const) {
      const { facts, index } = new MadeUpRun()
        .accept(a, idOf(1))
        .record(a, idOf(1))
        .exchange([eventOf('other')], { status: 422, api: 1, at: 100 })
        .exchange([a], { status: 201, body: { id: idOf(2) }, at: 4_700 })
        .duplicate(idOf(2), idOf(1))
        .fault({ at: 0, until: 2_000, target: 'api-0>redis' })
        .direct(0, 2_000)
        .fault({ at: 0, until: 8_000, target })
        .fault({ at: 1_600, until: 7_000, target: 'api-0>postgres' });
      expect(acceptedIsCountedOnce(facts, index).violations).toBe(violations);
    }
  });

  test('may be a duplicate of one that an API without Postgres could not hear of, until Redis is back', () => {
    const run = (sentAt: number, ...without: ['postgres'?]) => {
      const made = new MadeUpRun()
        .accept(a, idOf(1))
        .record(a, idOf(1))
        .exchange([a], { status: 201, body: { id: idOf(2) }, at: sentAt })
        .duplicate(idOf(2), idOf(1))
        .fault({ at: 5, until: 2_500, target: 'redis' })
        .direct(5, 2_500);
      return without.length === 0 ? made : made.fault({ at: 2_400, until: 2_600, target: 'api-1>postgres' });
    };
    for (const [made, violations] of [
      [run(2_700, 'postgres'), 0],
      [run(2_700), 1],
      [run(3_700, 'postgres'), 1],
    ] as const)
      expect(acceptedIsCountedOnce(made.facts, made.index).violations).toBe(violations);
  });

  test('may be a duplicate of one that nobody was told of, as long as that may have been under way', () => {
    const run = (at: number) =>
      new MadeUpRun()
        .exchange([a], { why: 'reset', at: 10 })
        .exchange([a], { status: 201, body: { id: idOf(2) }, at })
        .record(a, idOf(1))
        .duplicate(idOf(2), idOf(1))
        .direct(5, 50);
    for (const [at, violations] of [
      [5_900, 0],
      [6_100, 1],
    ] as const) {
      const { facts, index } = run(at);
      expect(acceptedIsCountedOnce(facts, index).violations).toBe(violations);
      expect(recordedIsWhatWasSent(facts, index).violations).toBe(violations);
    }
  });

  test('may be a duplicate of one that an API took which stood still, when it went on', () => {
    for (const [kind, target, violations] of [
      ['pause', 'api-0', 0],
      ['black hole', 'client>api-0', 0],
      ['pause', 'api-1', 1],
      ['kill', 'api-0', 1],
    ] as const) {
      const { facts, index } = new MadeUpRun()
        .exchange([a], { why: 'timeout', at: 10 })
        .exchange([a], { status: 201, body: { id: idOf(2) }, api: 1, at: 5_200 })
        .record(a, idOf(1))
        .duplicate(idOf(2), idOf(1))
        .fault({ at: 0, until: 8_000, kind, target })
        .direct(8_000, 9_000);
      expect(acceptedIsCountedOnce(facts, index).violations).toBe(violations);
    }
  });

  test('may not be a duplicate of what is not recorded', () => {
    const run = new MadeUpRun()
      .accept(a, idOf(2))
      .duplicate(idOf(2), idOf(1))
      .fault({ at: 16, until: 18, losesClaims: true });
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
  });

  test('may be gone when it was in the part of the log that was lost, and nothing else may', () => {
    const run = new MadeUpRun()
      .accept(a, idOf(1))
      .accept(b, idOf(2))
      .fault({ losesClaims: true, lostEvents: [idOf(1)] });
    expect(acceptedIsCountedOnce(run.facts, run.index).violations).toBe(1);
  });

  test('is known in the answer to a batch as well', () => {
    const body = {
      data: [
        { status: 201, id: idOf(1) },
        { status: 409, code: 'duplicate_event', id: idOf(9) },
      ],
    };
    const run = new MadeUpRun().exchange([a, b], { operation: 'batch', status: 207, body }).record(a, idOf(1));
    expect(acceptedIsCountedOnce(run.facts, run.index)).toMatchObject({ examined: 1, violations: 0 });
    expect(heldIsCountedOnce(run.facts, run.index)).toMatchObject({ examined: 1, violations: 1 });
  });
});

describe('an event that is said to be accepted already', () => {
  test('passes when it is recorded, with or without a 201 before it', () => {
    const run = new MadeUpRun()
      .exchange([a], { why: 'reset' })
      .exchange([a], held(idOf(1)))
      .record(a, idOf(1));
    expect(heldIsCountedOnce(run.facts, run.index)).toMatchObject({ examined: 1, violations: 0 });
  });

  test('is found when it was never there', () => {
    const run = new MadeUpRun().exchange([a], { why: 'reset' }).exchange([a], held(idOf(1)));
    expect(heldIsCountedOnce(run.facts, run.index).violations).toBe(1);
  });
});

describe('an event that was refused', () => {
  const notAccepted = { status: 503, body: { code: 'unavailable', detail: 'later', outcome: 'not_accepted' } };
  const unknown = { status: 503, body: { code: 'unavailable', detail: 'later', outcome: 'unknown' } };
  const refused = { status: 422, body: { code: 'invalid_request', detail: 'no' } };

  test('passes when nothing is left of it', () => {
    const run = new MadeUpRun().exchange([a], refused).exchange([b], notAccepted);
    expect(refusedLeavesNoTrace(run.facts, run.index)).toMatchObject({ examined: 2, violations: 0 });
  });

  test('is found when it is recorded, or among the rejected', () => {
    const run = new MadeUpRun().exchange([a], refused).exchange([b], notAccepted).record(a, idOf(1)).reject(b, idOf(2));
    expect(refusedLeavesNoTrace(run.facts, run.index).violations).toBe(2);
  });

  test('may have been taken when one attempt was not answered, or answered unknown', () => {
    const run = new MadeUpRun()
      .exchange([a], { why: 'timeout' })
      .exchange([a], refused)
      .exchange([b], unknown)
      .record(a, idOf(1))
      .record(b, idOf(2));
    expect(refusedLeavesNoTrace(run.facts, run.index)).toMatchObject({ examined: 0, violations: 0 });
  });

  test('is found when a later answer says that it holds its key, and nobody took it', () => {
    const run = new MadeUpRun()
      .exchange([a], notAccepted)
      .exchange([a], held(idOf(1)))
      .record(a, idOf(1));
    expect(refusedLeavesNoTrace(run.facts, run.index).violations).toBe(1);
    const unanswered = new MadeUpRun()
      .exchange([a], notAccepted)
      .exchange([a], { why: 'reset' })
      .exchange([a], held(idOf(1)))
      .record(a, idOf(1));
    expect(refusedLeavesNoTrace(unanswered.facts, unanswered.index).violations).toBe(0);
  });

  test('was never sent when its connection was refused', () => {
    const run = new MadeUpRun().exchange([a], { why: 'refused' }).record(a, idOf(1));
    expect(refusedLeavesNoTrace(run.facts, run.index).violations).toBe(1);
  });
});
