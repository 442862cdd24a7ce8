import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ApplicableGrant, applicationOrder, type CreditApplication, Pocket } from './credit-applications.ts';

function grant(id: string, remaining: bigint, rest: Partial<ApplicableGrant> = {}): ApplicableGrant {
  return { id, remaining, priority: 0, expiresAt: null, createdAt: 0, ...rest };
}

/** What one invoice takes of grants that others of these tests have as well. */
function take(amountDue: bigint, grants: readonly ApplicableGrant[], at: number): CreditApplication[] {
  return new Pocket(
    grants.map((one) => ({ ...one })),
    at,
  ).take(amountDue);
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
    expect(take(250n, grants, 0)).toEqual([{ id: 'first', amount: 250n }]);
    expect(take(300n, grants, 0)).toEqual([{ id: 'first', amount: 300n }]);
    expect(take(301n, grants, 0)).toEqual([
      { id: 'first', amount: 300n },
      { id: 'later', amount: 1n },
    ]);
    expect(take(9000n, grants, 0)).toEqual([
      { id: 'first', amount: 300n },
      { id: 'later', amount: 500n },
    ]);
  });

  test('and what one invoice takes is gone for the next one', () => {
    const pocket = new Pocket([grant('later', 500n, { priority: 2 }), grant('first', 300n)], 0);
    expect(pocket.take(250n)).toEqual([{ id: 'first', amount: 250n }]);
    expect(pocket.take(60n)).toEqual([
      { id: 'first', amount: 50n },
      { id: 'later', amount: 10n },
    ]);
    expect(pocket.take(9000n)).toEqual([{ id: 'later', amount: 490n }]);
    expect(pocket.take(1n)).toEqual([]);
  });

  test('and one that is added is taken in its turn', () => {
    const pocket = new Pocket([grant('first', 1n), grant('last', 9n, { priority: 5 })], 0);
    expect(pocket.take(1n)).toEqual([{ id: 'first', amount: 1n }]);
    pocket.add(grant('second', 2n, { priority: 3 }));
    pocket.add(grant('third', 2n, { priority: 4 }));
    // It would have been before the one that is used up.
    pocket.add(grant('now', 1n, { expiresAt: 7 }));
    expect(pocket.take(6n).map(({ id, amount }) => `${id} ${amount}`)).toEqual([
      'now 1',
      'second 2',
      'third 2',
      'last 1',
    ]);
  });

  test('of thousands for hundreds of invoices, and each is looked at a few times', () => {
    let looks = 0;
    const many = Array.from({ length: 2_000 }, (_, index) => ({
      ...grant(String(index), 10n),
      get priority() {
        looks += 1;
        return (index * 7_919) % 101;
      },
    }));
    const pocket = new Pocket(many, 0);
    for (let invoice = 0; invoice < 500; invoice += 1) expect(pocket.take(35n).length).toBeGreaterThan(3);
    // To sort 2,000 takes some 2,000 x 11 comparisons, each of which reads up to four of them. Sorted for each invoice it is hundreds of times that.
    expect(looks).toBeLessThan(2_000 * 11 * 4);
  });

  test('nothing is drawn for a total of zero or below', () => {
    expect(take(0n, grants, 0)).toEqual([]);
    expect(take(-5n, grants, 0)).toEqual([]);
  });

  test('a grant counts up to its expires_at, exclusive', () => {
    const expiring = [grant('a', 10n, { expiresAt: 100 })];
    expect(take(5n, expiring, 99)).toEqual([{ id: 'a', amount: 5n }]);
    expect(take(5n, expiring, 100)).toEqual([]);
    expect(take(5n, expiring, 101)).toEqual([]);
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
        const applications = take(due, grants, at);
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
