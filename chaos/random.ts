import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Chance that can be repeated: the same seed gives the same numbers in the same order. */
export class Random {
  readonly #generator: ReturnType<typeof xoroshiro128plus>;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return uniformInt(this.#generator, min, max);
  }

  /** True with this probability, to the thousandth. */
  chance(probability: number): boolean {
    return this.int(1, 1_000) <= probability * 1_000;
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.int(0, list.length - 1)];
    if (picked === undefined) throw new RangeError('nothing can be picked from an empty list');
    return picked;
  }

  /** The list in another order; the given one stays as it is. */
  shuffle<T>(list: readonly T[]): T[] {
    const shuffled = [...list];
    for (let last = shuffled.length - 1; last > 0; last -= 1) {
      const other = this.int(0, last);
      [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
    }
    return shuffled;
  }

  /** A source of its own, so that how much one part draws does not change what another part gets. */
  fork(): Random {
    return new Random(this.int(-0x8000_0000, 0x7fff_ffff));
  }
}
