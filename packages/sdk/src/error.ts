/**
 * A call that did not succeed. `transient` says whether the same call may succeed later. To send it again is safe with the same
 * keys: put `idempotencyKeys[i]` into the i-th event of the call.
 */
export class WeirError extends Error {
  override readonly name = 'WeirError';
  /** The HTTP status, or 0 when no answer came. */
  readonly status: number;
  /** A stable word: the service's own `code`, else `network_error`, `timeout`, `bad_response` or `http_<status>`. */
  readonly code: string;
  /** A sentence a person can act on. */
  readonly detail: string;
  /** The service's id of the request, as in its logs. */
  readonly requestId: string | undefined;
  readonly transient: boolean;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The keys that went with the events of this call, in the order of the events, generated ones included. */
  readonly idempotencyKeys: readonly string[];

  constructor(fields: {
    status: number;
    code: string;
    detail: string;
    requestId?: string | undefined;
    retryAfterMs?: number | undefined;
    idempotencyKeys: readonly string[];
    cause?: unknown;
  }) {
    super(`${fields.code}: ${fields.detail}`, { cause: fields.cause });
    this.status = fields.status;
    this.code = fields.code;
    this.detail = fields.detail;
    this.requestId = fields.requestId;
    this.transient = isTransient(fields.status);
    this.retryAfterMs = fields.retryAfterMs;
    this.idempotencyKeys = fields.idempotencyKeys;
  }
}

/** Returns whether the same request may succeed later: no answer to read, too slow, too many, or a fault of the service. */
export function isTransient(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500;
}
