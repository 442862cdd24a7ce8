// While a part is away, everything fails for that one reason: each connection at each of its attempts, and whatever is done over
// them. It is said once; the rest is counted; and its end is said, with the count.

import { errorCodeOf } from './errors.ts';

/** A part that may be away, by the name that its lines have, and how its errors are told from others. */
export interface Part {
  name: string;
  isAway(error: unknown): boolean;
}

/** How often an outage that lasts is said again: often enough for whoever looks at the end of a log. */
const SAID_AGAIN_MS = 60_000;

/**
 * An outage is over when the part has answered for so long and nothing has failed for it meanwhile. What was under way may fail when the
 * part is back; and a part that has no replica, or that takes no writes, still answers who only looks.
 */
const QUIET_MS = 15_000;

/**
 * What one process alone does of all that share it, such as maintenance, fails in each of them at times only. So an outage that begins
 * again soon after its end is over after twice as long, up to this: its end is not told again and again while it lasts.
 */
const QUIET_MS_MAX = 600_000;

interface Outage {
  since: number;
  saidAt: number;
  /** Lines that were left out, in all and since it was said last. */
  alike: number;
  alikeSince: number;
  reasons: Set<string>;
  /** For how long nothing has to fail until it is over. */
  quietMs: number;
  /** When it answered first since the last failure. */
  answeredAt?: number | undefined;
}

/** Knows of outages, and so which lines of a log need not be written. */
export class Outages {
  readonly #parts: readonly Part[];
  readonly #now: () => number;
  readonly #outages = new Map<string, Outage>();
  /** The last outage of each part that is over. */
  readonly #ended = new Map<string, { at: number; quietMs: number }>();

  /** An error is of the first part that says so. `now` is in milliseconds. */
  constructor(parts: readonly Part[], now: () => number = () => performance.now()) {
    this.#parts = parts;
    this.#now = now;
  }

  /** The part that an error, or one of its causes, says to be away. */
  partOf(error: unknown): string | undefined {
    for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
      const part = this.#parts.find(({ isAway }) => isAway(at));
      if (part !== undefined) return part.name;
    }
    return undefined;
  }

  /**
   * The line as it is to be written; undefined for one that is only counted. A line with the field `back` says that a part
   * answers. Whoever looks after a part tells so at each look: it is written at the end of an outage, once.
   */
  look(fields: Readonly<Record<string, unknown>>, message: string): [fields: object, message: string] | undefined {
    if (typeof fields['back'] === 'string') return this.#back(fields['back'], message);
    const part = this.partOf(fields['err']);
    if (part === undefined) return [fields, message];
    const now = this.#now();
    const reason = reasonOf(fields['err']);
    const known = this.#outages.get(part);
    if (known === undefined) {
      const counts = { since: now, saidAt: now, alike: 0, alikeSince: 0 };
      this.#outages.set(part, { ...counts, reasons: new Set([reason]), quietMs: this.#quietMs(part, now) });
      return [{ ...fields, away: part }, `${part} is away, and what fails for it is only counted now: ${message}`];
    }
    known.answeredAt = undefined;
    if (known.reasons.has(reason) && now - known.saidAt < SAID_AGAIN_MS) {
      known.alike += 1;
      known.alikeSince += 1;
      return undefined;
    }
    const seconds = Math.round((now - known.since) / 1000);
    const line: [object, string] = [
      { ...fields, away: part, seconds, alike: known.alikeSince },
      `${part} is still away: ${message}`,
    ];
    known.reasons.add(reason);
    known.saidAt = now;
    known.alikeSince = 0;
    return line;
  }

  #back(part: string, message: string): [object, string] | undefined {
    const outage = this.#outages.get(part);
    if (outage === undefined) return undefined;
    const now = this.#now();
    outage.answeredAt ??= now;
    if (now - outage.answeredAt < outage.quietMs) return undefined;
    this.#outages.delete(part);
    this.#ended.set(part, { at: now, quietMs: outage.quietMs });
    const seconds = Math.round((outage.answeredAt - outage.since) / 1000);
    return [{ back: part, seconds, alike: outage.alike }, message];
  }

  #quietMs(part: string, now: number): number {
    const ended = this.#ended.get(part);
    return ended === undefined || now - ended.at > QUIET_MS_MAX ? QUIET_MS : Math.min(QUIET_MS_MAX, 2 * ended.quietMs);
  }
}

/** What a server says of itself is news each time that it is something else. That there is no connection is told in many ways. */
function reasonOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    // Of Postgres: its SQLSTATE. Of Redis: the first word of its answer.
    const code = errorCodeOf(at) ?? '';
    if (/^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)) return code;
    const word = /^[A-Z]{4,}(?= )/.exec(at.message)?.[0];
    if (word !== undefined) return word;
  }
  return 'connection';
}
