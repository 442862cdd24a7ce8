/** SQL that writes sums as one text, for {@link WrittenSums}. To read ten thousand rows would stop the event loop for some 10 ms. */
export const WRITTEN_SUMS = `string_agg(concat_ws(' ', key, event_count, usage), ',' ORDER BY key)`;

/** What Postgres has summed up for one key, as it writes it; null where it made nothing. */
export interface WrittenSum {
  event_count: string | null;
  usage: string | null;
}

const NONE: WrittenSum = { event_count: null, usage: null };

/**
 * Sums by their key, in one text. It is taken apart as it is asked for, since to do so with ten thousand in one go would stop the
 * event loop as long: one after the other for whoever asks in the order of the keys.
 */
export class WrittenSums {
  readonly #text: string;
  /** Where the first sum begins that was not passed yet. */
  #at = 0;
  #passed = -1;

  constructor(text: string | null) {
    this.#text = text ?? '';
  }

  find(key: number): WrittenSum {
    // Whoever asks for an earlier one begins anew.
    if (key <= this.#passed) [this.#at, this.#passed] = [0, -1];
    while (this.#at < this.#text.length) {
      const comma = this.#text.indexOf(',', this.#at);
      const end = comma === -1 ? this.#text.length : comma;
      const [found, event_count = null, usage = null] = this.#text.slice(this.#at, end).split(' ');
      if (Number(found) === key) return { event_count, usage };
      if (Number(found) > key) return NONE;
      [this.#at, this.#passed] = [end + 1, Number(found)];
    }
    return NONE;
  }
}
