// Requests whose moments are fixed before, so that it can be measured how long tracking takes for those who do not wait until
// the system has time for them.

import type { History } from '../history.ts';
import type { Random } from '../random.ts';
import { trackRequest } from './client-context.ts';
import { makeEvent } from './made-events.ts';
import type { Organization } from './made-organizations.ts';
import type { Sender } from './sender.ts';

export class OpenLoop {
  readonly #sender: Sender;
  readonly #organizations: readonly Organization[];
  readonly #history: History;
  readonly #stepMs: number;
  readonly #random: Random;
  #count = 0;
  #due = 0;

  constructor(
    sender: Sender,
    organizations: readonly Organization[],
    { history, random, perSecond }: { history: History; random: Random; perSecond: number },
  ) {
    this.#sender = sender;
    this.#organizations = organizations;
    this.#history = history;
    this.#random = random;
    this.#stepMs = 1_000 / perSecond;
    this.begin();
  }

  /** The next one is due now; those since the last are left out. */
  begin(): void {
    this.#due = this.#history.now();
  }

  /** Sends each event that is due, however late this comes. Each is sent until it is accepted, to one API after the other. */
  *next(signal: AbortSignal): Generator<Promise<unknown>> {
    for (const now = this.#history.now(); this.#due <= now; this.#due += this.#stepMs) {
      const organization = this.#random.pick(this.#organizations);
      this.#count += 1;
      const event = makeEvent(this.#random, organization, { key: `measured-${this.#count}` });
      const request = trackRequest(organization, event);
      yield this.#sender.send({ ...request, due: this.#due, api: this.#count % this.#sender.apis }, signal);
    }
  }
}
