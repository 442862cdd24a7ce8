import { HttpClient, type Answer, type Message } from '../clients/http-client.ts';
import type { SystemUnderTest } from '../environment/system.ts';
import { isForNow } from '../history.ts';
import { setTimeout as delay } from 'node:timers/promises';

const TIMEOUT_MS = 60_000;

/** Requests of the judge that are under way at once. */
const AT_ONCE_MAX = 4;

/** The judge makes as much load as it can, and comes back when it is told to, like any client. It does not do so for ever. */
const ATTEMPTS_MAX = 10;

/** What the judge asks the APIs, in turn. They are whole by now, so that an answer that does not come is not waited for again. */
export class Questions {
  readonly #clients: HttpClient[];
  #next = 0;

  constructor(system: SystemUnderTest) {
    this.#clients = system.apis.map(({ url }) => new HttpClient(url));
  }

  /** Status 0 when there was no answer. */
  async ask(message: Message): Promise<Pick<Answer, 'status' | 'text'>> {
    this.#next += 1;
    const client = this.#clients[this.#next % this.#clients.length];
    if (client === undefined) throw new RangeError('there is no API to ask');
    for (let attempt = 1; ; attempt += 1) {
      const answer = await client.attempt(message, TIMEOUT_MS);
      if (!('status' in answer)) return { status: 0, text: answer.why };
      if (!isForNow(answer.status) || attempt === ATTEMPTS_MAX) return answer;
      await delay(Number(answer.retryAfter ?? 1) * 1_000);
    }
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }
}

/** Does something with each of a list, a few at a time. */
export async function eachOf<T>(list: readonly T[], act: (each: T) => Promise<void>): Promise<void> {
  let next = 0;
  const walk = async () => {
    for (let each = list[next++]; each !== undefined; each = list[next++]) await act(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE_MAX }, walk));
}
