/** Found on every WeirError, also on one of another copy of this package: a process may have loaded both of its builds. */
const mark = Symbol.for('@weir/sdk/WeirError');

/** One field that the service refused. */
export interface FieldProblem {
  path: string;
  message: string;
}

export interface WeirErrorFields {
  status: number;
  code: string;
  detail: string;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  outcome?: 'not_accepted' | 'unknown' | undefined;
  errors?: readonly FieldProblem[] | undefined;
  /** Default: what the status says. */
  transient?: boolean;
  isFromWeir?: boolean;
  idempotencyKeys?: readonly string[];
  cause?: unknown;
}

/**
 * A call that did not succeed. `transient` says whether the same call may succeed later. To send events again is safe with the
 * same keys: put `idempotencyKeys[i]` into the i-th event of the call.
 */
export class WeirError extends Error {
  override readonly name = 'WeirError';
  /** The HTTP status, or 0 when no answer came. */
  readonly status: number;
  /**
   * A stable word: the service's own `code`, else `network_error`, `timeout`, `bad_response`, `secret_lost`, `answer_withheld` or
   * `http_<status>`; of the queue `queue_full`, `queue_closed` or `outbox_failed`; of `verifyWebhook` `webhook_not_verified`.
   */
  readonly code: string;
  /** A sentence a person can act on. */
  readonly detail: string;
  /** The service's id of the request, as in its logs. */
  readonly requestId: string | undefined;
  readonly transient: boolean;
  /**
   * Whether Weir itself said it. False for what a proxy before it answers, or whatever else is at that address: that says nothing about
   * an event.
   */
  readonly isFromWeir: boolean;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /**
   * What became of the call, or of an event of it, where a 503 or 429 of the service ended it: `not_accepted` left no trace, at none of the
   * attempts; `unknown` is settled by the same keys.
   */
  readonly outcome: 'not_accepted' | 'unknown' | undefined;
  /** The fields that the service refused, where it says which. */
  readonly errors: readonly FieldProblem[];
  /** The keys that went with the events of this call, in the order of the events, or the one of a write. Generated ones included. */
  readonly idempotencyKeys: readonly string[];

  constructor(fields: WeirErrorFields) {
    super(`${fields.code}: ${fields.detail}`, { cause: fields.cause });
    this.status = fields.status;
    this.code = fields.code;
    this.detail = fields.detail;
    this.requestId = fields.requestId;
    this.transient = fields.transient ?? isTransient(fields.status, fields.code);
    this.isFromWeir = fields.isFromWeir ?? false;
    this.retryAfterMs = fields.retryAfterMs;
    this.outcome = fields.outcome;
    this.errors = fields.errors ?? [];
    this.idempotencyKeys = fields.idempotencyKeys ?? [];
  }

  /** True for the errors of both builds of this package, ES module and CommonJS. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== WeirError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && mark in value;
  }

  get [mark](): true {
    return true;
  }
}

/** Returns the same error, told of the events with these keys. */
export function withKeys(error: WeirError, idempotencyKeys: readonly string[], transient = error.transient): WeirError {
  const fields: WeirErrorFields = error;
  return new WeirError({ ...fields, transient, idempotencyKeys, cause: error.cause });
}

/** Returns the same error, told of all attempts of a call. */
export function withOutcome(error: WeirError, outcome: 'unknown'): WeirError {
  const fields: WeirErrorFields = error;
  return new WeirError({ ...fields, outcome, cause: error.cause });
}

/** Returns whether the attempt that ended so may have done what was asked. What asks for too much is refused before. */
export function mayBeAccepted({ status, outcome }: WeirError): boolean {
  return outcome !== 'not_accepted' && status !== 429;
}

/**
 * Returns whether the same request may succeed later: no answer to read, too slow, too many, a fault of the service, or the same
 * request is under way already.
 */
function isTransient(status: number, code: string): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500 || code === 'request_under_way';
}
