/** After the first of many alike, the next one is said so much later, with how many there were. */
const INTERVAL_MS = 60_000;

/** Says the first warning of a kind at once, and counts those that follow: a flood of them is a line a minute. */
export class Warnings {
  readonly #say: (message: string) => void;
  readonly #intervalMs: number;
  readonly #counted = new Map<string, { count: number; last: string; timer: NodeJS.Timeout }>();

  constructor(say: (message: string) => void, intervalMs = INTERVAL_MS) {
    this.#say = say;
    this.#intervalMs = intervalMs;
  }

  /** `kind` says which warnings are alike; there must not be many kinds. */
  warn(kind: string, message: string): void {
    const counted = this.#counted.get(kind);
    if (counted !== undefined) {
      counted.count += 1;
      counted.last = message;
      return;
    }
    this.#say(message);
    this.#count(kind);
  }

  /** Says what was counted and not said, and begins anew. */
  flush(): void {
    for (const [kind, { timer }] of this.#counted) {
      clearTimeout(timer);
      this.#sayCounted(kind);
    }
  }

  #count(kind: string): void {
    const timer = setTimeout(() => {
      if (this.#sayCounted(kind)) this.#count(kind);
    }, this.#intervalMs).unref();
    this.#counted.set(kind, { count: 0, last: '', timer });
  }

  /** Returns whether there were any. */
  #sayCounted(kind: string): boolean {
    const { count = 0, last = '' } = this.#counted.get(kind) ?? {};
    this.#counted.delete(kind);
    if (count > 0) this.#say(count === 1 ? last : `${last} (and ${count - 1} more like it since the last warning)`);
    return count > 0;
  }
}
