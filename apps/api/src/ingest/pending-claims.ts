// Tells Redis the idempotency keys of events that were recorded directly, by this process or by another one, before events go through
// Redis again: who sends one of them once more is answered 409 then, as if its event had come through Redis (pending-claims.ts of
// packages/db).

import type { KeyClaim } from '@weir/shared/event';
import { SparseLog } from '@weir/shared/sparse-log';
import type { FastifyBaseLogger } from 'fastify';

/** How many are told at once: a few milliseconds of Redis and of Postgres. */
const CHUNK = 1_000;

/** How often it is looked whether a process that cannot reach Redis has left some. */
const INTERVAL_MS = 250;

export interface PendingClaimsDeps {
  /** The next ones after one of them; the first ones where none is given. */
  list(page: { after: KeyClaim | undefined; limit: number }): Promise<KeyClaim[]>;
  /** Resolves once what was listed is on the synchronous standby too. */
  awaitStandby(): Promise<void>;
  /** Rejects where Redis does not take them, or is another database's. */
  write(claims: readonly KeyClaim[]): Promise<void>;
  forget(claims: readonly KeyClaim[]): Promise<void>;
  /** Whether Redis and Postgres are there, as far as is known. */
  isWorthIt(): boolean;
  log: FastifyBaseLogger;
}

export class PendingClaims {
  readonly #deps: PendingClaimsDeps;
  readonly #sparseLog = new SparseLog();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deps: PendingClaimsDeps) {
    this.#deps = deps;
    this.#lookLater();
  }

  /** Tells Redis of these, whose commit was waited for. Throws what Redis or Postgres says; they are told later then. */
  async tell(claims: readonly KeyClaim[]): Promise<void> {
    if (claims.length === 0) return;
    await this.#deps.write(claims);
    await this.#deps.forget(claims);
  }

  /** Tells Redis of all that were there when it was called. Throws what Redis or Postgres says. */
  async tellAll(): Promise<void> {
    let after: KeyClaim | undefined;
    do {
      const claims = await this.#deps.list({ after, limit: CHUNK });
      // Whoever is answered by a claim takes its event for accepted, and Redis never had that event.
      if (claims.length > 0) await this.#deps.awaitStandby();
      await this.tell(claims);
      after = claims[CHUNK - 1];
    } while (after !== undefined && !this.#isClosed);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => void this.#look(), INTERVAL_MS);
  }

  async #look(): Promise<void> {
    try {
      if (this.#deps.isWorthIt()) await this.tellAll();
    } catch (error) {
      const message = 'claims could not be told; the next look tries again';
      if (!this.#isClosed) this.#sparseLog.warn(this.#deps.log, 'look', { err: error }, message);
    }
    if (!this.#isClosed) this.#lookLater();
  }
}
