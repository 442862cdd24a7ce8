// Every answer that is not a success is made here, as application/problem+json (RFC 9457), and nowhere else is an error
// status known. What a person reads is `detail`; what a client switches on is `code`.

import { violatedConstraint, isUnavailable } from '@weir/db/database';
import { MonthTakenOut } from '@weir/db/months-taken-out';
import { isRedisAway } from '@weir/queue/redis-away';
import { Refusal, errorCodeOf, type ErrorCode, type FieldError } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { SparseLog } from '@weir/shared/sparse-log';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { challenge } from './challenge.ts';
import { isHungUp } from './connection/connections.ts';
import { KEY_CHARACTERS_MAX, NO_FIELD, fieldErrors } from './field-errors.ts';
import { logDefect } from './log-defect.ts';
import { withOutcome } from './writing/with-outcome.ts';

const PROBLEMS = {
  malformed_json: { status: 400, title: 'The body is not JSON' },
  malformed_request: { status: 400, title: 'The request is not valid HTTP' },
  two_credentials: { status: 400, title: 'The request has two credentials' },
  unauthenticated: { status: 401, title: 'No valid credentials' },
  missing_scope: { status: 403, title: 'The API key does not have this scope' },
  missing_role: { status: 403, title: 'The service account does not have this role' },
  person_only: { status: 403, title: 'Only a person who is signed in may do this' },
  admin_only: { status: 403, title: 'Only admins may do this' },
  cross_origin: { status: 403, title: 'The request comes from another origin' },
  signup_closed: { status: 403, title: 'Sign-up is closed' },
  not_found: { status: 404, title: 'Not found' },
  meter_not_found: { status: 404, title: 'No such meter' },
  link_not_valid: { status: 404, title: 'The link is not valid' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  email_taken: { status: 409, title: 'The email address is taken' },
  last_admin: { status: 409, title: 'The organization would have no admin' },
  mail_not_set_up: { status: 409, title: 'No mail is sent here' },
  lookup_key_taken: { status: 409, title: 'The lookup_key is taken' },
  lookup_id_taken: { status: 409, title: 'The lookup_id is taken' },
  external_id_taken: { status: 409, title: 'The external_id is taken' },
  feature_in_use: { status: 409, title: 'A plan uses or prices the feature' },
  feature_already_in_plan: { status: 409, title: 'The plan already has the feature' },
  plan_inactive: { status: 409, title: 'The plan takes no new subscriptions' },
  plan_in_use: { status: 409, title: 'The plan is in use' },
  customer_in_use: { status: 409, title: 'The customer is in use' },
  customer_erased: { status: 409, title: 'The customer is erased' },
  external_id_billed: { status: 409, title: 'The external_id is billed' },
  grouped_by_customer: { status: 409, title: 'Usage is grouped by what names the customer' },
  usage_moving: { status: 409, title: 'The usage is being moved' },
  meter_already_billed: { status: 409, title: 'Another subscription bills the meter' },
  meter_already_priced: { status: 409, title: 'The plan already has a price for the meter' },
  currency_differs: { status: 409, title: 'The currencies differ' },
  interval_differs: { status: 409, title: 'The billing intervals differ' },
  charge_inactive: { status: 409, title: 'The charge is inactive' },
  subscription_behind: { status: 409, title: 'What the subscription needs first is still under way' },
  subscription_ended: { status: 409, title: 'The subscription has ended' },
  subscription_not_ended: { status: 409, title: 'The subscription has not ended' },
  earlier_draft: { status: 409, title: 'An earlier invoice is still a draft' },
  invoice_not_draft: { status: 409, title: 'The invoice is no draft' },
  invoice_not_open: { status: 409, title: 'The invoice is not open' },
  invoice_not_finalized: { status: 409, title: 'The invoice is still a draft' },
  invoice_partly_paid: { status: 409, title: 'The invoice is paid in part' },
  invoice_given_back: { status: 409, title: 'A part of the invoice was given back' },
  payment_recorded: { status: 409, title: 'The payment is recorded already' },
  payment_above_due: { status: 409, title: 'The payment is above what is due' },
  payment_taken_back: { status: 409, title: 'The payment is taken back already' },
  groups_not_ready: { status: 409, title: 'Usage is still being grouped' },
  replay_under_way: { status: 409, title: 'A replay is under way' },
  webhook_endpoint_disabled: { status: 409, title: 'The endpoint is turned off' },
  request_under_way: { status: 409, title: 'The same request is under way' },
  duplicate_event: { status: 409, title: 'The event is already accepted' },
  not_replayable: { status: 409, title: 'The event is not rejected' },
  not_correctable: { status: 409, title: 'The event cannot be corrected now' },
  already_voided: { status: 409, title: 'The event is void already' },
  month_taken_out: { status: 409, title: 'Some of its events are not available now' },
  precondition_failed: { status: 412, title: 'It was changed since' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body must be JSON' },
  expectation_failed: { status: 417, title: 'The expectation cannot be met' },
  invalid_request: { status: 422, title: 'The request is not valid' },
  charge_not_of_plan_type: { status: 422, title: 'The plan does not take charges of this type' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key belongs to something else' },
  meter_archived: { status: 422, title: 'The meter is archived' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Something broke' },
  unavailable: { status: 503, title: 'Cannot do this now' },
  shutting_down: { status: 503, title: 'Shutting down' },
} as const satisfies Record<ErrorCode, { status: number; title: string }>;

/** The form of every error answer, for the OpenAPI document. */
const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What went wrong and what to do about it, for a person.' }),
    code: z.enum(Object.keys(PROBLEMS) as [ErrorCode, ...ErrorCode[]]),
    request_id: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    id: z.uuid().optional().meta({
      description:
        'The id of what is there already: the event that was accepted, the payment, what has the external_id, the correction of an event, or the erasure or move that is under way.',
    }),
    reference: z.string().nullable().optional().meta({ description: 'What paid the invoice that is paid already.' }),
    amount_due: z.string().optional().meta({ description: 'What is due of the invoice.' }),
    outcome: z.enum(['not_accepted', 'unknown']).optional().meta({
      description:
        'Of an attempt that cannot be done now (503). not_accepted: nothing of it was kept. unknown: it may have been done; sent again with its key it is done once, and where it takes none, look first whether it was.',
    }),
  })
  .meta({ id: 'Problem' });

/**
 * The answers a route may give beside its success, for its OpenAPI entry: one per status, by code. Those that follow from who may call it,
 * from its method or from its path are added to the document (openapi-access.ts).
 */
export function problemResponses(...codes: ErrorCode[]) {
  const byStatus = new Map<number, string[]>();
  for (const code of new Set(codes)) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.join(', '), content: { 'application/problem+json': { schema: problemSchema } } },
    ]),
  );
}

export function statusOf(code: ErrorCode): number {
  return PROBLEMS[code].status;
}

/** The problem document of a refusal. */
export function problemOf(refusal: Refusal, requestId: string) {
  const { status, title } = PROBLEMS[refusal.code];
  const { errors, id, reference, amountDue, outcome } = refusal.fields;
  return {
    type: `urn:weir:problem:${refusal.code}`,
    title,
    status,
    detail: refusal.message,
    code: refusal.code,
    request_id: requestId,
    ...(errors !== undefined && { errors }),
    ...(id !== undefined && { id }),
    ...(reference !== undefined && { reference }),
    ...(amountDue !== undefined && { amount_due: amountDue }),
    ...(outcome !== undefined && { outcome }),
  };
}

function sendProblem(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const problem = problemOf(refusal, reply.request.id);
  const retryAfter = refusal.fields.retryAfterSeconds ?? (problem.status === 503 ? 1 : undefined);
  if (retryAfter !== undefined) void reply.header('retry-after', String(retryAfter));
  if (problem.status === 401) challenge(reply);
  const path = reply.request.routeOptions.url;
  reply.request.log.debug({ status: problem.status, code: problem.code, path }, 'a request was refused');
  return reply
    .code(problem.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(problem);
}

export const PLAN_IN_USE =
  'The plan has, or had, subscriptions, and what they are billed goes by it: set is_active to false to sell it no more.';

export const CUSTOMER_IN_USE =
  'The customer has, or had, subscriptions, invoices or credits, which name it: keep the customer.';

// Constraint → what a person is told. A violation that is not listed here is a defect of Weir, and a 500.
const CONSTRAINTS: Record<string, { code: ErrorCode; detail: string }> = {
  users_email_key: {
    code: 'email_taken',
    detail: 'An account with this email address exists: sign in, or use another address.',
  },
  features_organization_id_lookup_key_key: {
    code: 'lookup_key_taken',
    detail: 'Another feature of your organization has this lookup_key: choose another one.',
  },
  plans_organization_id_lookup_id_key: {
    code: 'lookup_id_taken',
    detail: 'Another plan of your organization has this lookup_id: choose another one.',
  },
  customers_organization_id_external_id_key: {
    code: 'external_id_taken',
    detail: 'Another customer of your organization has this external_id: choose another one, or change that customer.',
  },
  widget_tokens_organization_id_api_key_id_fkey: {
    code: 'unauthenticated',
    detail: 'The API key was deleted: use another one.',
  },
  webhook_deliveries_organization_id_endpoint_id_fkey: {
    code: 'not_found',
    detail: 'The webhook endpoint was deleted.',
  },
  plan_features_pkey: {
    code: 'feature_already_in_plan',
    detail: 'The plan already has this feature: change it with PATCH, or take it out of the plan.',
  },
  plan_features_organization_id_feature_id_fkey: {
    code: 'feature_in_use',
    detail: 'A plan uses this feature: take it out of every plan first.',
  },
  charges_organization_id_plan_id_meter_id_key: {
    code: 'meter_already_priced',
    detail: 'The plan has an ACTIVE charge for this meter: name it in replaces to put this one in its place.',
  },
  billed_meters_pkey: {
    code: 'meter_already_billed',
    detail:
      'Another subscription bills this meter for the customer: events name no subscription, so one can bill them.',
  },
  subscriptions_organization_id_external_id_key: {
    code: 'external_id_taken',
    detail: 'Another subscription of your organization has this external_id.',
  },
  credit_grants_organization_id_external_id_key: {
    code: 'external_id_taken',
    detail: 'Another credit of your organization has this external_id.',
  },
  subscriptions_organization_id_plan_id_fkey: { code: 'plan_in_use', detail: PLAN_IN_USE },
  subscriptions_organization_id_pending_plan_id_fkey: { code: 'plan_in_use', detail: PLAN_IN_USE },
  dues_organization_id_charge_id_fkey: { code: 'plan_in_use', detail: PLAN_IN_USE },
  subscriptions_organization_id_customer_id_fkey: { code: 'customer_in_use', detail: CUSTOMER_IN_USE },
  invoices_organization_id_customer_id_fkey: { code: 'customer_in_use', detail: CUSTOMER_IN_USE },
  credit_grants_organization_id_customer_id_fkey: { code: 'customer_in_use', detail: CUSTOMER_IN_USE },
};

// Refusals of the framework, by the code of its error.
const FRAMEWORK: Record<string, { code: ErrorCode; detail: string }> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    detail: 'Send the body as JSON in UTF-8, with the header Content-Type: application/json.',
  },
  // Only QUERY has to have a type, whatever it is sent to.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: {
    code: 'unsupported_media_type',
    detail: 'A request with this method must have the header Content-Type: see /docs for the methods that there are.',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'payload_too_large', detail: 'The body is too large: send less in one request.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'malformed_request',
    detail: 'The body does not have the length that Content-Length says: send the request again.',
  },
  FST_ERR_BAD_URL: { code: 'malformed_request', detail: 'The path is not a valid URL: check its percent-encoding.' },
  // A file of /docs by another name than its own: with `..` in it, say.
  FST_STATIC_FORBIDDEN_PATH: {
    code: 'not_found',
    detail: 'There is nothing at this path: see /docs for what there is.',
  },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'not_found', detail: 'There is nothing at this path: check the id in it.' },
};

/** Returns what a client is told of an error; undefined when it is a defect of Weir. */
export function refusalOfError(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof MonthTakenOut) return new Refusal('month_taken_out', error.message);
  const constraint = CONSTRAINTS[violatedConstraint(error) ?? ''];
  if (constraint !== undefined) return new Refusal(constraint.code, constraint.detail);
  const framework = FRAMEWORK[errorCodeOf(error) ?? ''];
  if (framework !== undefined) return new Refusal(framework.code, framework.detail);
  if (isAboutTheRequest(error)) {
    const detail = `The headers ask for what cannot be done (${error.message}): leave Range and what begins with If- out.`;
    return new Refusal('malformed_request', detail);
  }
  if (isRedisAway(error)) return notNow('The queue cannot be asked now: try again in a moment.');
  if (isUnavailable(error)) return notNow('The database cannot answer now: try again in a moment.');
  return undefined;
}

const NOT_ALL_THERE = 'Some of the usage that this tells is not available now: ask for another time or other periods.';

const notNow = (detail: string): Refusal => new Refusal('unavailable', detail, { retryAfterSeconds: 2 });

/** Whether a part of the framework says that the request is to blame, and not Weir: what serves files checks ranges and conditions. */
function isAboutTheRequest(error: unknown): error is Error {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 0;
  return status >= 400 && status < 500;
}

export const BROKEN =
  'Something broke on our side, and has been logged. Try again, and if it stays tell us when that was, with this request_id.';

/** Refusals of which a client may hear before it has sent its whole body. */
const BEFORE_THE_BODY = new Set<ErrorCode>(['payload_too_large', 'unavailable', 'unauthenticated']);

/** Warnings of one kind: the same answer on the same path. */
const sparseLog = new SparseLog();

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = refusalOfError(error);
  // Who reads with a widget token is a customer, and has no database.
  const isToCustomer = known?.code === 'month_taken_out' && request.caller?.customerExternalId !== undefined;
  const told = isToCustomer ? new Refusal(known.code, NOT_ALL_THERE) : known;
  const refusal = told && withOutcome(told, error, request);
  const path = request.routeOptions.url;
  if (isHungUp(request)) {
    // Nobody reads it, and what a client breaks off by itself is not worth a warning.
    request.log.debug({ err: error, path }, 'a client hung up');
    sendProblem(reply, refusal ?? new Refusal('internal_error', BROKEN));
    return;
  }
  if (refusal === undefined) logDefect(request, error, 'a request failed');
  else if (statusOf(refusal.code) >= 500 && refusal.code !== 'shutting_down') {
    const kind = `${path} ${refusal.code} ${refusal.message}`;
    sparseLog.warn(request.log, kind, { err: error, path }, 'a request could not be taken');
  }
  // Many clients send all of their body before they read. Closing now would reset them, and they would never see why.
  if (refusal !== undefined && BEFORE_THE_BODY.has(refusal.code)) void reply.removeHeader('connection');
  sendProblem(reply, refusal ?? new Refusal('internal_error', BROKEN));
}

/** An id in the path that is no id names nothing: 404, like an id of another organization. */
export const NO_SUCH_THING = 'There is no such thing in your organization: check the id in the path.';

/** What was found by the id in the path, or that something was done with it. Throws the Refusal `not_found` where nothing was. */
export function found<Thing>(thing: Thing | false | undefined): Thing {
  if (thing === undefined || thing === false) throw new Refusal('not_found', NO_SUCH_THING);
  return thing;
}

/** Checks a part of a request against its zod schema, and turns what zod says into a refusal. */
export function validatorCompiler({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) {
  return (data: unknown) => {
    const result = schema.safeParse(data);
    if (result.success) return { value: result.data };
    return { error: httpPart === 'params' ? new Refusal('not_found', NO_SUCH_THING) : invalidRequest(result.error) };
  };
}

/** The refusal for a value that zod does not take; `at` is put before every path. */
export function invalidRequest({ issues }: z.ZodError, at = ''): Refusal {
  const { errors, count } = fieldErrors(issues, at);
  return invalidFields(errors, count);
}

/** As many as one reads in a sentence. */
const ERRORS_TOLD_MAX = 3;

/** `count` is how many there are, where `errors` are only the first ones. */
export function invalidFields(errors: FieldError[], count = errors.length): Refusal {
  const first = errors[0];
  const detail =
    first === undefined
      ? 'The request is not valid.'
      : `${first.path === '' ? 'The body' : first.path} ${first.message}.`;
  const listed = count > LIMITS.problems ? `The first ${LIMITS.problems} of ${count}` : `${count}`;
  const more = count > 1 ? ` ${listed} problems are listed in errors.` : '';
  return new Refusal('invalid_request', detail + more, { errors: errors.slice(0, LIMITS.problems) });
}

/** Does something for what stands at `path` of the body, so that its refusal names the whole path of a field. */
export async function refusedAt<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (path === '' || !(error instanceof Refusal)) throw error;
    const { code, message, fields } = error;
    const errors = (fields.errors ?? [{ path: '', message }]).map((each) => ({
      ...each,
      path: each.path === '' ? path : `${path}.${each.path}`,
    }));
    throw code === 'invalid_request' ? invalidFields(errors) : new Refusal(code, message, { ...fields, errors });
  }
}

/** The detail of a refusal that stands alone, where there is no list of errors beside it. */
export function detailAlone(refusal: Refusal): string {
  const errors = refusal.fields.errors ?? [];
  if (errors.length < 2) return refusal.message;
  const told = errors
    .slice(0, ERRORS_TOLD_MAX)
    .map(({ path, message }) => `${path === '' ? 'The event' : path} ${message}`);
  const more = errors.length > told.length ? `; and ${errors.length - told.length} more` : '';
  return `${told.join('; ')}${more}.`;
}

/** The refusal of fields where none is taken. */
export function unknownFields(names: readonly string[]): Refusal {
  return invalidFields(names.map((name) => ({ path: name.slice(0, KEY_CHARACTERS_MAX), message: NO_FIELD })));
}

/**
 * Routes everything that is thrown, and every path that leads nowhere, to a problem document. `answerPage` is asked first about
 * such a path, and returns undefined for what is no page.
 */
export function useProblems(
  app: FastifyInstance,
  answerPage: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined,
): void {
  const known: { pattern: RegExp; methods: Set<string> }[] = [];
  app.addHook('onRoute', (route) => {
    const pattern = new RegExp(
      `^${route.url
        .replace(/[.]/g, '\\.')
        .replace(/:[^/]+/g, '[^/]+')
        .replace(/\*$/, '.*')}$`,
    );
    const entry = known.find((each) => each.pattern.source === pattern.source) ?? {
      pattern,
      methods: new Set<string>(),
    };
    if (!known.includes(entry)) known.push(entry);
    for (const method of [route.method].flat()) entry.methods.add(method);
  });
  app.decorateRequest('isNotAccepted', false);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => {
    const page = answerPage(request, reply);
    if (page !== undefined) return page;
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = known.filter((each) => each.pattern.test(path)).flatMap((each) => [...each.methods]);
    // A route with a wildcard takes any path, and finds out for itself what is there.
    if (methods.length === 0 || methods.includes(request.method)) {
      return sendProblem(
        reply,
        new Refusal('not_found', 'There is nothing at this path: see /docs for what there is.'),
      );
    }
    const allow = [...new Set(methods)].join(', ');
    void reply.header('allow', allow);
    return sendProblem(
      reply,
      new Refusal('method_not_allowed', `This path takes ${allow}, and not ${request.method}.`),
    );
  });
}

/** Sends the problem of a request that the framework refused before it had a route. */
export function answerFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  // No hook has run.
  void reply.headers({ ...request.server.securityHeaders, 'x-request-id': request.id });
  answerError(error, request, reply);
}
