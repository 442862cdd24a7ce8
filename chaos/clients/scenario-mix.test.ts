import { expect, test } from 'vitest';
import { Random } from '../random.ts';
import { pickScenario } from './scenario-mix.ts';

const DRAWS = 100_000;

function countsAt(perSecond: number): Map<string, number> {
  const random = new Random(1);
  const counts = new Map<string, number>();
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const { name } = pickScenario(random, perSecond);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

test('tracking alone grows beyond 150 scenarios a second, so that no caller asks for more than it may', () => {
  const [some, many] = [countsAt(150), countsAt(1_500)];
  for (const name of ['correctEvent', 'readReceipt', 'readAcross']) {
    const share = (some.get(name) ?? 0) / DRAWS;
    expect(share).toBeGreaterThan(0.012);
    expect((many.get(name) ?? 0) / DRAWS / share).toBeCloseTo(0.1, 1);
  }
  const [kept, grown] = [some.get('trackBatch') ?? 0, many.get('trackBatch') ?? 0];
  expect(Math.abs(grown - kept) / kept).toBeLessThan(0.15);
  expect(many.get('trackKeyed')).toBeGreaterThan(some.get('trackKeyed') ?? Infinity);
});
