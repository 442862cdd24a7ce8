// Which bucket of a chart is meant: by where one points, and by the key that one presses. Pure.

const DAY_SECONDS = 86_400;

type Kind = 'bars' | 'line';

/** The times that a chart shows. A bar begins with its bucket and needs room for as long as that lasts. */
export function extent(times: readonly number[], kind: Kind): [first: number, last: number] {
  const [first = 0, second = first + DAY_SECONDS] = times;
  const last = times.at(-1) ?? first;
  return [first, kind === 'bars' || last === first ? last + (second - first) : last];
}

/** The bucket at a time: that which it is in, for bars; the nearest point, for a line. Undefined where there is none. */
export function bucketAt(times: readonly number[], time: number, kind: Kind): number | undefined {
  if (times.length === 0) return undefined;
  const next = times.findIndex((each) => each > time);
  const before = Math.max(next === -1 ? times.length - 1 : next - 1, 0);
  const after = Math.min(before + 1, times.length - 1);
  const isNearer = Math.abs((times[after] ?? 0) - time) < Math.abs((times[before] ?? 0) - time);
  return kind === 'line' && isNearer ? after : before;
}

/** Where a bucket is pointed at: in the middle of its bar, or at its point. */
export function middleOf(times: readonly number[], index: number, kind: Kind): number {
  const start = times[index] ?? 0;
  if (kind === 'line') return start;
  const end = times[index + 1] ?? extent(times, kind)[1];
  return (start + end) / 2;
}

/** Where a key leads to from a bucket, of so many; undefined for a key that leads nowhere. Without one, the last is next. */
export function indexByKey(key: string, index: number | undefined, last: number): number | undefined {
  if (last < 0) return undefined;
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return index === undefined ? last : Math.max(index - 1, 0);
    case 'ArrowRight':
    case 'ArrowUp':
      return index === undefined ? last : Math.min(index + 1, last);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}
