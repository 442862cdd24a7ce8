/** Every way in which Weir says no, as a stable word. Clients may switch on it; `http/problem.ts` gives each its status. */
export type ErrorCode =
  | 'malformed_json'
  | 'malformed_request'
  | 'unauthenticated'
  | 'two_credentials'
  | 'missing_scope'
  | 'missing_role'
  | 'person_only'
  | 'admin_only'
  | 'cross_origin'
  | 'signup_closed'
  | 'not_found'
  | 'meter_not_found'
  | 'link_not_valid'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'email_taken'
  | 'last_admin'
  | 'mail_not_set_up'
  | 'lookup_key_taken'
  | 'lookup_id_taken'
  | 'external_id_taken'
  | 'feature_in_use'
  | 'feature_already_in_plan'
  | 'plan_inactive'
  | 'plan_in_use'
  | 'customer_in_use'
  | 'customer_erased'
  | 'external_id_billed'
  | 'grouped_by_customer'
  | 'usage_moving'
  | 'meter_already_billed'
  | 'meter_already_priced'
  | 'currency_differs'
  | 'interval_differs'
  | 'charge_inactive'
  | 'subscription_behind'
  | 'subscription_ended'
  | 'subscription_not_ended'
  | 'earlier_draft'
  | 'invoice_not_draft'
  | 'invoice_not_open'
  | 'invoice_not_finalized'
  | 'invoice_partly_paid'
  | 'invoice_given_back'
  | 'payment_recorded'
  | 'payment_above_due'
  | 'payment_taken_back'
  | 'groups_not_ready'
  | 'replay_under_way'
  | 'webhook_endpoint_disabled'
  | 'request_under_way'
  | 'duplicate_event'
  | 'not_replayable'
  | 'not_correctable'
  | 'already_voided'
  | 'month_taken_out'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'headers_too_large'
  | 'invalid_request'
  | 'charge_not_of_plan_type'
  | 'idempotency_key_reused'
  | 'meter_archived'
  | 'rate_limited'
  | 'unavailable'
  | 'shutting_down'
  | 'internal_error';

/** One field that is not valid: where it is (`customer.email`, `events[3].quantity`) and what to do about it. */
export interface FieldError {
  path: string;
  message: string;
}

/**
 * Why events cannot be taken while Redis or Postgres answers. Redis has no room (`memory`, `batches`, or of one organization its `share`)
 * or may not be used (`policy`, `ownership`); more events come than are taken (`crowd`); or Postgres is to take them, and somebody holds a
 * lock of their organization (`locked`).
 */
export type Shortage = 'memory' | 'batches' | 'share' | 'policy' | 'ownership' | 'crowd' | 'locked';

/** Fields of a refusal beside its code and detail. */
export interface RefusalFields {
  errors?: FieldError[];
  /** The id of what is there already: the event that was accepted, the payment, or what has the external_id. */
  id?: string;
  /** Of a payment that is there: its reference, null where it has none. */
  reference?: string | null;
  /** Of an invoice of which more is to be paid than is due: what is due. */
  amountDue?: string;
  /** The outcome of a request that could not be taken now. */
  outcome?: 'not_accepted' | 'unknown';
  retryAfterSeconds?: number;
  /** For the metric, and never told to who sent the request. */
  because?: Shortage;
}

/**
 * A request that Weir refuses on purpose. `detail` is read by the person who sent it, and says what to do next.
 * Anything else that is thrown is a defect or a broken dependency.
 */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly fields: RefusalFields;

  /** `cause` is for the log, and never told to who sent the request. */
  constructor(code: ErrorCode, detail: string, fields: RefusalFields = {}, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.name = 'Refusal';
    this.code = code;
    this.fields = fields;
  }
}

/** Node's and Postgres's word for what went wrong (`ECONNREFUSED`, `23505`), where the error has one. */
export function errorCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
