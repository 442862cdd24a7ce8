import { expect, test } from 'vitest';
import { latencyPlot, roundStep, type PlotPoint } from './svg.ts';

const point = (sharePercent: number, perSecond: number, p50: number, p99: number, p999: number): PlotPoint => ({
  sharePercent,
  perSecond,
  latencyMs: { p50, p99, 'p99.9': p999 },
});

const POINTS = [point(50, 4_500, 2, 8, 20), point(100, 9_000, 10, 40, 90), point(110, 9_900, 500, 900, 1_000)];

function linesOf(svg: string): number[][][] {
  return [...svg.matchAll(/<polyline points="([^"]+)"/g)].map(([, places]) =>
    (places ?? '').split(' ').map((place) => place.split(',').map(Number)),
  );
}

test('each line goes through all points: further right with the rate, further up with the latency', () => {
  const lines = linesOf(latencyPlot(POINTS, ''));
  expect(lines.map((places) => places.length)).toEqual([3, 3, 3]);
  for (const places of lines) {
    const [first, second, third] = places;
    expect(first?.[0]).toBeLessThan(second?.[0] ?? 0);
    expect(second?.[0]).toBeLessThan(third?.[0] ?? 0);
    expect(first?.[1]).toBeGreaterThan(second?.[1] ?? 0);
  }
});

test('ten times the latency is the same distance everywhere', () => {
  const [p50, p99, p999] = linesOf(latencyPlot([point(50, 100, 1, 10, 100)], ''));
  const height = (line: number[][] | undefined) => line?.[0]?.[1] ?? Number.NaN;
  expect(height(p50) - height(p99)).toBeCloseTo(height(p99) - height(p999), 0);
});

test('everything lies inside the picture, and both axes have a unit', () => {
  const svg = latencyPlot(POINTS, 'measured here');
  for (const [x = -1, y = -1] of linesOf(svg).flat()) {
    expect(x).toBeGreaterThanOrEqual(84);
    expect(x).toBeLessThanOrEqual(800);
    expect(y).toBeGreaterThanOrEqual(78);
    expect(y).toBeLessThanOrEqual(424);
  }
  expect(svg).toContain('latency, ms');
  expect(svg).toContain('requests a second');
  expect(svg).toContain('measured here');
});

test('each part of a note has a line of its own, in order', () => {
  const svg = latencyPlot(POINTS, '2 cores; Node, Postgres');
  const heightOf = (part: string) => Number(new RegExp(`y="(\\d+)"[^>]*>${part}</text>`).exec(svg)?.[1]);
  expect(heightOf('Node, Postgres') - heightOf('2 cores')).toBe(16);
  expect(heightOf('Node, Postgres')).toBeLessThan(530);
});

test('a note cannot break the picture', () => {
  expect(latencyPlot(POINTS, 'a < b & c')).toContain('a &lt; b &amp; c');
});

test('what cannot be drawn is refused', () => {
  expect(() => latencyPlot([], '')).toThrow('points');
  expect(() => latencyPlot([point(50, 100, 0, 1, 1)], '')).toThrow('above zero');
  expect(() => latencyPlot([point(50, Number.NaN, 1, 1, 1)], '')).toThrow('above zero');
});

test('steps of an axis are round', () => {
  expect([0.3, 1, 1.1, 3, 7, 1_237].map(roundStep)).toEqual([0.5, 1, 2, 5, 10, 2_000]);
});
