/**
 * What a warning is of: an outage (`away`), what is kept although a proxy or Weir refuses it (`kept`), events refused for good
 * (`refused`) or not sent at the end of the process (`unsent`), and a folder, file or line of an outbox.
 */
export type WarningKind = 'away' | 'kept' | 'refused' | 'unsent' | 'folder' | 'file' | 'line';

/** After the first of many alike, the next one is said so much later, with how many there were. */
const INTERVAL_MS = 60_000;

/** Says the first warning of a kind at once, and counts those that follow: a flood of them is a line a minute. */
export class Warnings {
  readonly #say: (message: string, kind: WarningKind) => void;
  readonly #intervalMs: number;
  readonly #counted = new Map<WarningKind, { count: number; last: string; timer: NodeJS.Timeout }>();

  constructor(say: (message: string, kind: WarningKind) => void, intervalMs = INTERVAL_MS) {
    this.#say = say;
    this.#intervalMs = intervalMs;
  }

  /** Warnings of one kind are alike. */
  warn(kind: WarningKind, message: string): void {
    const counted = this.#counted.get(kind);
    if (counted !== undefined) {
      counted.count += 1;
      counted.last = message;
      return;
    }
    this.#say(message, kind);
    this.#count(kind);
  }

  /** Says what was counted and not said, and begins anew. */
  flush(): void {
    for (const [kind, { timer }] of this.#counted) {
      clearTimeout(timer);
      this.#sayCounted(kind);
    }
  }

  #count(kind: WarningKind): void {
    const timer = setTimeout(() => {
      if (this.#sayCounted(kind)) this.#count(kind);
    }, this.#intervalMs).unref();
    this.#counted.set(kind, { count: 0, last: '', timer });
  }

  /** Returns whether there were any. */
  #sayCounted(kind: WarningKind): boolean {
    const { count = 0, last = '' } = this.#counted.get(kind) ?? {};
    this.#counted.delete(kind);
    if (count > 0)
      this.#say(count === 1 ? last : `${last} (and ${count - 1} more like it since the last warning)`, kind);
    return count > 0;
  }
}
