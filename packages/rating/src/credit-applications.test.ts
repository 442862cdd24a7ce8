import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ApplicableGrant, applicationOrder, planCreditApplications } from './credit-applications.ts';

function grant(id: string, remaining: bigint, rest: Partial<ApplicableGrant> = {}): ApplicableGrant {
  return { id, remaining, priority: 0, expiresAt: null, createdAt: 0, ...rest };
}

function order(...grants: ApplicableGrant[]): string {
  return grants
    .sort(applicationOrder)
    .map(({ id }) => id)
    .join('');
}

describe('section 13: smaller priority first, then what expires earlier, then the older', () => {
  test.each([
    [[grant('a', 1n, { priority: 10 }), grant('b', 1n, { priority: 9 })], 'ba'],
    [[grant('a', 1n, { priority: 1, expiresAt: 5 }), grant('b', 1n, { priority: 0 })], 'ba'],
    [[grant('a', 1n), grant('b', 1n, { expiresAt: 9e15 })], 'ba'],
    [[grant('a', 1n, { expiresAt: 20 }), grant('b', 1n, { expiresAt: 10, createdAt: 7 })], 'ba'],
    [[grant('a', 1n, { createdAt: 2 }), grant('b', 1n, { createdAt: 1 })], 'ba'],
    [[grant('a', 1n, { expiresAt: 3, createdAt: 2 }), grant('b', 1n, { expiresAt: 3, createdAt: 1 })], 'ba'],
    [[grant('b', 1n), grant('a', 1n)], 'ab'],
    [[grant('a', 1n), grant('b', 1n)], 'ab'],
  ])('case %#', (grants, expected) => {
    expect(order(...grants)).toBe(expected);
    expect(order(...grants.toReversed())).toBe(expected);
  });
});

describe('section 13: credits pay what is due', () => {
  const grants = [grant('later', 500n, { priority: 2 }), grant('first', 300n), grant('empty', 0n)];

  test('from one grant after the other', () => {
    expect(planCreditApplications(250n, grants, 0)).toEqual([{ id: 'first', amount: 250n }]);
    expect(planCreditApplications(300n, grants, 0)).toEqual([{ id: 'first', amount: 300n }]);
    expect(planCreditApplications(301n, grants, 0)).toEqual([
      { id: 'first', amount: 300n },
      { id: 'later', amount: 1n },
    ]);
    expect(planCreditApplications(9000n, grants, 0)).toEqual([
      { id: 'first', amount: 300n },
      { id: 'later', amount: 500n },
    ]);
  });

  test('and leave the list of grants as it was', () => {
    const before = grants.map(({ id }) => id);
    planCreditApplications(301n, grants, 0);
    expect(grants.map(({ id }) => id)).toEqual(before);
  });

  test('nothing is drawn for a total of zero or below', () => {
    expect(planCreditApplications(0n, grants, 0)).toEqual([]);
    expect(planCreditApplications(-5n, grants, 0)).toEqual([]);
  });

  test('a grant counts up to its expires_at, exclusive', () => {
    const expiring = [grant('a', 10n, { expiresAt: 100 })];
    expect(planCreditApplications(5n, expiring, 99)).toEqual([{ id: 'a', amount: 5n }]);
    expect(planCreditApplications(5n, expiring, 100)).toEqual([]);
    expect(planCreditApplications(5n, expiring, 101)).toEqual([]);
  });

  test('whatever there is: no grant is below zero, and no more is drawn than is due or there', () => {
    const any = fc.array(
      fc.record({
        remaining: fc.bigInt({ min: 0n, max: 50n }),
        priority: fc.integer({ min: 0, max: 3 }),
        expiresAt: fc.option(fc.integer({ min: 0, max: 9 }), { nil: null }),
        createdAt: fc.integer({ min: 0, max: 3 }),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(any, fc.bigInt({ min: -10n, max: 200n }), fc.integer({ min: 0, max: 9 }), (rows, due, at) => {
        const grants = rows.map((row, index) => ({ ...row, id: String(index) }));
        const applications = planCreditApplications(due, grants, at);
        // A cent at a time, from the best of what is left.
        const left = new Map(grants.map((one) => [one.id, one.remaining]));
        for (let cent = 0n; cent < due; cent++) {
          const best = grants
            .filter(({ id, expiresAt }) => left.get(id) !== 0n && (expiresAt ?? 99) > at)
            .map((one) => ({ id: one.id, key: [one.priority, one.expiresAt ?? 99, one.createdAt, Number(one.id)] }))
            .sort((a, b) => a.key.map((part, i) => part - (b.key[i] ?? 0)).find((by) => by !== 0) ?? 0)[0];
          if (best === undefined) break;
          left.set(best.id, (left.get(best.id) ?? 0n) - 1n);
        }
        const drawn = new Map(applications.map(({ id, amount }) => [id, amount]));
        for (const { id, remaining } of grants) expect(remaining - (drawn.get(id) ?? 0n), id).toBe(left.get(id));
        for (const { amount } of applications) expect(amount).toBeGreaterThan(0n);
      }),
    );
  });
});
