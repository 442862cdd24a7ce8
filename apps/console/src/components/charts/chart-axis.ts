// The axis of values of every chart: how far it reaches, and its ticks. Pure.

/** Above the highest value, so that it does not touch the edge. */
const HEADROOM = 1.08;

/** As many as are read at a glance. */
const STEPS_MAX = 5;

/** What an axis reaches from and to, for values between these: 0 is always on it. */
export function axisRange(min: number, max: number): [from: number, to: number] {
  return [min < 0 ? min * HEADROOM : 0, max > 0 ? max * HEADROOM : min < 0 ? 0 : 1];
}

/** Round values within a range, at most six of them, steps of 1, 2 or 5 apart. Of what is counted, `smallest` is 1. */
export function axisTicks(from: number, to: number, smallest = 0): number[] {
  const raw = Math.max((to - from) / STEPS_MAX, smallest);
  if (!(raw > 0) || !Number.isFinite(raw)) return [];
  const power = Math.floor(Math.log10(raw));
  // A step of 0.1 is 1 / 10: as 1 * 10 ** -1 its multiples would not be what is written.
  const scale = 10 ** Math.abs(power);
  const times = [1, 2, 5, 10].find((each) => (power < 0 ? each / scale : each * scale) >= raw) ?? 10;
  const valueOf = (count: number): number => (power < 0 ? (count * times) / scale : count * times * scale);
  const first = Math.ceil(from / valueOf(1));
  const last = Math.floor(to / valueOf(1));
  return Array.from({ length: last - first + 1 }, (_, index) => valueOf(first + index));
}
