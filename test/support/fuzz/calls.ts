// Requests made from the OpenAPI document: for every operation valid ones and nearly valid ones, with every credential.

import fc, { type Arbitrary } from 'fast-check';
import type { Operation, Schema } from '../openapi-document.ts';
import { idOf, literal, nearlyValid, valid, type Meanings, type Value } from './values.ts';

const CREDENTIALS = ['session', 'service', 'write', 'read', 'widget', 'none'] as const;
export type Credential = (typeof CREDENTIALS)[number];

/** A request before it is sent: ids of things that exist are marks in it, so that it prints the same in every run. */
export interface Call {
  /** Such as `post /api/v1/features`. */
  operation: string;
  credential: Credential;
  /** Whether all of it is valid by the document. What is not may be valid all the same. */
  isValid: boolean;
  path: Record<string, Value>;
  query: Record<string, Value>;
  header: Record<string, Value>;
  body?: Value;
}

const index = fc.nat(5);
const ids = (kind: string) => index.map((at) => idOf(kind, at));

/** Decimals, each as a number or as a text where that can be read without an exponent. */
const decimals = (...literals: string[]) =>
  fc.constantFrom(...literals.map(literal), ...literals.filter((text) => !/e/i.test(text)));

/** Cursors as pages of an order have them, of rows with such values. */
const cursors = (order: string[], ...values: Arbitrary<string | null>[]) =>
  fc.tuple(...values).map((row) => Buffer.from(JSON.stringify([order.join(), ...row])).toString('base64url'));
const oldestFirst = { cursor: cursors(['id'], fc.uuid()) };
const ofEvents = { cursor: ids('events') };
const ofLines = { cursor: fc.constantFrom('0', '7', '123456789') };
const at = fc.constantFrom('2026-01-31T09:30:00.000Z', '2026-01-31T09:30:00.000001Z');

/** What the document says in words about fields and parameters, wherever they stand. */
const MEANINGS: Meanings = {
  meter_token: ids('meter_token'),
  feature_id: ids('features'),
  customer_id: ids('customers'),
  meter_id: ids('meters'),
  plan_id: ids('plans'),
  subscription_id: ids('subscriptions'),
  // Of invoices that are to be finalized.
  ids: fc.array(ids('invoices'), { minLength: 1, maxLength: 3 }),
  cursor: cursors(['-id'], fc.uuid()),
  timestamp: fc
    .date({ min: new Date('2000-01-01'), max: new Date('2026-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  start_date: fc.constantFrom('2026-01-01', '2026-01-31T09:30:00Z', '2026-02-01T00:00:00.5+05:45'),
  end_date: fc.constantFrom('2026-02-02', '2026-03-29', '2026-04-01T00:00:00-03:30'),
  trial_end_date: fc.constantFrom('2026-02-28', '2027-12-31T23:59:59.999999+14:00', null),
  time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia', 'Asia/Kathmandu'),
  amount: decimals('1', '0.5', '1e2', '123456789012345'),
  expires_at: fc.constantFrom('2100-01-31T09:30:00Z', '2199-12-31T23:59:59.999999+05:45', null),
  // Neither in the past nor more than two years ahead.
  effective_from: fc.constant(new Date(Date.now() + 30 * 86_400_000).toISOString()),
  feature: ids('lookup_key'),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia', 'Asia/Kathmandu'),
  // Of decimals the document tells how long they may be, and of some that one is not above another.
  unit_price: decimals('0', '1e-18', '123456789012345.123456789012345678'),
  rate: decimals('100', '2.9', '1E+2'),
  fixed_amount: decimals('0.30', '0.30000000000000004'),
  included_units: decimals('0', '1e31', '99999999999999999999999999999999.5'),
  package_size: decimals('1', '1e-18', '1000'),
  minimum_amount: decimals('0', '1.50'),
  maximum_amount: decimals('1.5', '1e3', '1e14'),
  usage_limit: fc.oneof(fc.constant(null), fc.constantFrom('0', '1E+2', '0.30000000000000004').map(literal)),
  tiers: fc
    .uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 3 })
    .map((ends): Value => [...ends.toSorted((a, b) => a - b), null].map((up_to) => ({ up_to, unit_price: '0.1' }))),
  days_in_force: fc.integer({ min: 0, max: 28 }),
  days_in_period: fc.integer({ min: 28, max: 366 }),
  // The meters that there are name this one.
  group_by_metadata: fc.constant('model'),
  // White space at the ends of a header is no part of it, and what is not ASCII has to be sent as UTF-8.
  'idempotency-key': fc.uuid(),
  'if-match': fc.constant('*'),
  'if-none-match': fc.uuid().map((tag) => `"${tag}"`),
};

/** Which invoices something can be done to, beside those that are just there. */
const draft = { id: fc.constant(idOf('draft-invoice', 0)) };
const open = { id: fc.constant(idOf('open-invoice', 0)) };
const lined = { id: fc.constant(idOf('lined-invoice', 0)), line_id: fc.constant(idOf('line', 0)) };
/** Of the customer of the widget token. */
const ownInvoice = { id: fc.constant(idOf('shown-invoice', 0)), line_id: fc.constant(idOf('shown-line', 0)) };
const ends = fc.constantFrom('2026-01-31', '2026-01-31T09:30:00Z', '2026-02-01T00:00:00.5+05:45');

const webhookUrl = fc.constantFrom('https://example.com/weir', 'https://example.com:8443/?a=b', 'https://1.1.1.1');
const rising = fc.constantFrom<Value>([100], ['0.5', '1'], ['100', '1000.5', '9'.repeat(32)]);
const replayed = fc.oneof(ends, fc.constantFrom(1, 4711));

const date = fc.constantFrom('2026-01-31', '2026-02-01');
const issued = { issued_from: date, issued_to: date };
const currency = fc.constantFrom('USD', 'JPY');

// Most plans here are by the month, and most trials of before have ended.
const subscribed = {
  billing_interval: fc.constantFrom('month', 'month', 'month', 'year'),
  trial_end_date: fc.constantFrom(null, null, '2027-12-31T23:59:59.999999+14:00', '2026-02-28'),
};

/** What a plan costs and includes, sent with it. */
const charged = fc.constantFrom<Value>([], [{ type: 'FIXED', display_name: 'Fee', unit_price: '10' }]);
const including = ids('features').map((feature_id): Value => [{ feature_id }]);

const corrected: Meanings = {
  corrections: fc.constant([{ type: 'void', event_id: idOf('counted-event', 0), reason: 'a test' }]),
};

/** What the document says in words about the fields of one operation. */
const MEANINGS_OF: Record<string, Meanings> = {
  'post /api/v1/sdk/track': { lookup_key: ids('lookup_key') },
  'post /api/v1/sdk/track/batch': { lookup_key: ids('lookup_key') },
  'post /api/v1/auth/login': { email: fc.constant(idOf('email', 0)), password: fc.constant(idOf('password', 0)) },
  'post /api/v1/auth/password': { current_password: fc.constant(idOf('current-password', 0)) },
  'post /api/v1/auth/password-reset': { token: fc.constant(idOf('reset-token', 0)) },
  'post /api/v1/auth/invitation': { token: fc.constant(idOf('invitation-token', 0)) },
  'post /api/v1/auth/invitation/accept': { token: fc.constant(idOf('invitation-token', 0)) },
  // A quantity here is no event's.
  'post /api/v1/charges/evaluate': { quantity: decimals('0', '12.5', '1e-30', '9'.repeat(64)) },
  'get /api/v1/entitlements': { quantity: fc.constantFrom('1', '0012.50', '0.000000000000000001') },
  'get /api/v1/customers/{id}/entitlements': { quantity: fc.constantFrom('1', '12.5') },
  'post /api/v1/plans': { charges: charged, features: including },
  'patch /api/v1/plans/{id}': {
    update_charges: fc.constant([]),
    add_charges: charged,
    // A feature that other calls do not put into a plan.
    remove_features: fc.constantFrom<Value>([], [idOf('planned-feature', 0)]),
    put_features: fc.constantFrom<Value>([], [{ feature_id: idOf('planned-feature', 0) }]),
  },
  'patch /api/v1/plans/{id}/charges/{charge_id}': {
    id: fc.constant(idOf('priced-plan', 0)),
    charge_id: fc.constant(idOf('priced-charge', 0)),
  },
  // Others take no limit.
  'post /api/v1/plans/{id}/features': { feature_id: ids('metered-feature') },
  'patch /api/v1/plans/{id}/features/{feature_id}': {
    id: fc.constant(idOf('planned-plan', 0)),
    feature_id: fc.constant(idOf('planned-feature', 0)),
  },
  // What is not chosen is shown to no customer, and other calls ask for it.
  'patch /api/v1/widget/settings': { meter_ids: fc.constant(null) },
  // Most customers have subscriptions by then.
  'delete /api/v1/customers/{id}': { id: fc.constant(idOf('spare-customer', 0)) },
  // Whom other calls ask for stays.
  'post /api/v1/erasures': { customer_id: fc.uuid(), customer_external_id: fc.uuid() },
  'post /api/v1/usage-moves': { from_external_id: fc.uuid(), to_external_id: fc.uuid() },
  // Most events are counted, and only a rejected one can be replayed.
  'post /api/v1/events/{id}/replay': { id: fc.constantFrom(idOf('rejected-event', 0), idOf('events', 0)) },
  // An event is void once, and most of those that others ask for are rejected.
  'post /api/v1/events/{id}/void': { id: fc.constant(idOf('counted-event', 0)) },
  'post /api/v1/events/{id}/amend': {
    id: fc.constant(idOf('counted-event', 0)),
    quantity: fc.constant(2),
    metadata: fc.constant({ user_id: 'ada' }),
  },
  'post /api/v1/corrections': corrected,
  'post /api/v1/corrections/preview': corrected,
  'get /api/v1/events': { ...ofEvents, reason: fc.constantFrom('the meter does not exist any more', 'x') },
  'get /api/v1/audit-log': ofEvents,
  'get /api/v1/billing-events': { cursor: fc.constantFrom('0', '7') },
  'get /api/v1/features': oldestFirst,
  'get /api/v1/webhook-endpoints': oldestFirst,
  'get /api/v1/credits/{id}/entries': oldestFirst,
  'get /api/v1/invoices/{id}/credits': oldestFirst,
  'get /api/v1/users': { cursor: cursors(['created_at', 'id'], at, fc.uuid()) },
  'get /api/v1/auth/sessions': { cursor: cursors(['-used_at', '-id'], at, fc.uuid()) },
  'get /api/v1/webhook-endpoints/{id}/deliveries': {
    cursor: cursors(['-created_at', '-sequence', '-id'], at, fc.constantFrom('7', null), fc.uuid()),
  },
  'get /api/v1/meters/{id}/customers': {
    cursor: cursors(['-rank', 'letters'], fc.constantFrom('0', '-1.5', '9'.repeat(64)), fc.constantFrom('acme', 'é')),
  },
  'get /api/v1/billing/unbilled-usage': {
    cursor: cursors(['-events', 'meter_id', 'reason'], fc.constantFrom('0', '7'), fc.uuid(), fc.constant('after_end')),
  },
  // A feature can only be taken out of a plan that has it.
  'delete /api/v1/plans/{id}/features/{feature_id}': {
    id: fc.constant(idOf('planned-plan', 0)),
    feature_id: fc.constant(idOf('planned-feature', 0)),
  },
  'delete /api/v1/service-accounts/{id}/tokens/{token_id}': {
    id: fc.constant(idOf('tokened-account', 0)),
    token_id: fc.constant(idOf('account-token', 0)),
  },
  'post /api/v1/subscriptions': subscribed,
  'post /api/v1/subscriptions/preview': subscribed,
  'get /api/v1/invoices': {
    from: ends,
    to: ends,
    ...issued,
    invoice_number: fc.constantFrom('INV-2026-000001', 'inv-2026-1'),
  },
  'get /api/v1/subscriptions/{id}/invoices': { from: ends, to: ends, ...issued },
  'get /api/v1/invoice-lines': {
    from: ends,
    to: ends,
    ...issued,
    cursor: fc.uuid().map((id) => `2026-02-01.${id}.3`),
  },
  'post /api/v1/alerts': { thresholds: rising, subscription_amount: fc.constant(false) },
  'patch /api/v1/alerts/{id}': { thresholds: rising },
  'post /api/v1/webhook-endpoints': { url: webhookUrl },
  'patch /api/v1/webhook-endpoints/{id}': { url: webhookUrl },
  'post /api/v1/webhook-endpoints/{id}/replay': { from: replayed, to: replayed },
  'get /api/v1/customers/{id}/credits': { as_of: ends },
  'get /api/v1/plans': { currency },
  'get /api/v1/credits': { as_of: ends, currency },
  'get /api/v1/credits/balance': { as_of: ends, currency },
  'post /api/v1/invoices/{id}/finalize': draft,
  'post /api/v1/invoices/{id}/lines': { ...draft, amount: decimals('1', '-2.5', '-1e-2', '123456789012345.67') },
  'post /api/v1/invoices/{id}/pay': {
    ...open,
    paid_at: fc.constantFrom('2024-02-29', '2025-01-01T00:00:00+14:00', null),
    amount: decimals('1', '0.01', '1e-1', '123456789012345'),
  },
  'delete /api/v1/invoices/{id}/payments/{payment_id}': {
    id: fc.constant(idOf('paid-invoice', 0)),
    payment_id: fc.constant(idOf('payment', 0)),
  },
  'post /api/v1/invoices/{id}/void': open,
  'post /api/v1/invoices/{id}/uncollectible': open,
  'post /api/v1/invoices/{id}/recompute': open,
  'get /api/v1/invoices/{id}/lines': ofLines,
  'get /api/v1/invoices/{id}/lines/{line_id}': lined,
  'get /api/v1/invoices/{id}/lines/{line_id}/usage': lined,
  'get /api/v1/invoices/{id}/lines/{line_id}/events': { ...lined, ...ofEvents },
  'get /api/v1/widget/invoices/{id}': ownInvoice,
  'get /api/v1/widget/invoices/{id}/lines': { ...ownInvoice, ...ofLines },
  'get /api/v1/widget/invoices/{id}/lines/{line_id}/events': { ...ownInvoice, ...ofEvents },
  'get /api/v1/widget/invoices/{id}/pdf': ownInvoice,
  'delete /api/v1/invoices/{id}/lines/{line_id}': {
    id: fc.constant(idOf('adjusted-invoice', 0)),
    line_id: fc.constant(idOf('adjustment', 0)),
  },
  // Of the same currency and interval.
  'post /api/v1/subscriptions/{id}/preview-change': {
    id: fc.constant(idOf('changing-subscription', 0)),
    plan_id: fc.constant(idOf('changing-plan', 0)),
  },
  'post /api/v1/subscriptions/{id}/settle': { id: fc.constant(idOf('ended-subscription', 0)) },
};

/** The credentials that open an operation, by what the document says of it. The session and the service account are an admin's. */
export function openersOf({ security }: Operation): Credential[] {
  const schemes = security.flatMap((each) => Object.entries(each));
  if (schemes.length < security.length || schemes.length === 0) return [...CREDENTIALS];
  const openers: Record<string, Credential> = { session: 'session', serviceToken: 'service', widgetToken: 'widget' };
  return schemes.map(([scheme, [scope]]) => {
    const opener = scheme === 'apiKey' ? (scope === 'usage.write' ? 'write' : 'read') : openers[scheme];
    if (opener === undefined) throw new Error(`there is no credential here for the scheme ${scheme}`);
    return opener;
  });
}

/** Calls of any of these operations. */
export function calls(operations: Operation[]): Arbitrary<Call> {
  return fc.oneof(...operations.map(callsOf));
}

function callsOf(operation: Operation): Arbitrary<Call> {
  const meanings = { ...MEANINGS, ...MEANINGS_OF[operation.name] };
  const parameters = (place: string): Arbitrary<Record<string, Value>> => {
    const declared = operation.parameters.filter((parameter) => parameter.in === place);
    const arbitraries = declared.map(
      ({ name, schema }) => [name, parameterOf(operation, name, schema, meanings)] as const,
    );
    const requiredKeys = declared.filter(({ required }) => required === true).map(({ name }) => name);
    return fc.record(Object.fromEntries(arbitraries), { requiredKeys, noNullPrototype: true });
  };
  const correct: Arbitrary<Call> = fc
    .record({
      operation: fc.constant(operation.name),
      credential: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...openersOf(operation)) },
        { weight: 1, arbitrary: fc.constantFrom(...CREDENTIALS) },
      ),
      isValid: fc.constant(true),
      path: parameters('path'),
      query: parameters('query').map(withoutContradiction).map(inBrackets),
      header: parameters('header'),
      ...(operation.body !== undefined && { body: bodiesOf(operation.body, operation, meanings) }),
    })
    .map(({ header, ...call }) => ({ ...call, header: contradicts(header, call.body) ? {} : header }));
  return fc.oneof(correct, correct.chain(spoiled));
}

function bodiesOf(schema: Schema, { path }: Operation, meanings: Meanings): Arbitrary<Value> {
  const bodies = valid(schema, meanings);
  if (path.includes('/sdk/track')) return bodies.map(withOneMeter);
  return /\/(subscriptions|subscriptions\/preview|erasures)$/.test(path) ? bodies.map(withOneCustomer) : bodies;
}

/** A customer is named by its id or by its external_id, which a test of its own says. */
function withOneCustomer(body: Value): Value {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || !('customer_id' in body)) return body;
  const { customer_external_id: _, ...rest } = body;
  return rest;
}

function parameterOf(operation: Operation, name: string, schema: Schema, meanings: Meanings): Arbitrary<Value> {
  // What stands before an id in a path says what it is the id of.
  const kind = new RegExp(`([^/]+)/\\{${name}\\}`).exec(operation.path)?.[1];
  return name === 'id' && kind !== undefined ? (meanings[name] ?? ids(kind)) : valid(schema, meanings, name);
}

/** A customer is asked for by one identifier and not by both, and a page in one way; each order has cursors of its own. */
function withoutContradiction({ customer_id, cursor, ...query }: Record<string, Value>): Record<string, Value> {
  const asked = customer_id === undefined || 'customer_external_id' in query ? query : { ...query, customer_id };
  const isNumbered = ['page', 'page_size', 'after', 'sort', 'issued_from', 'issued_to'].some((name) => name in asked);
  if (cursor !== undefined && !isNumbered) return { ...asked, cursor };
  if (!('page' in asked || 'page_size' in asked)) return asked;
  const { limit: _, ...rest } = asked;
  return rest;
}

/** An event names its meter by its token or by its feature, and not by both. */
function withOneMeter(event: Value): Value {
  const { meter_token, lookup_key, events, ...rest } = event as Record<string, Value>;
  if (Array.isArray(events)) return { events: events.map(withOneMeter) };
  if (lookup_key !== undefined && meter_token === undefined) return { ...rest, lookup_key };
  return { ...rest, meter_token: meter_token ?? idOf('meter_token', 0) };
}

/** A filter stands in a query as one parameter for each key. */
function inBrackets({ filter, ...query }: Record<string, Value>): Record<string, Value> {
  return filter === undefined ? query : { ...query, 'filter[model]': 'large' };
}

/** The key of an event stands in the header or in the body, and not another one in each. */
function contradicts(header: Record<string, Value>, body: Value | undefined): boolean {
  return 'idempotency-key' in header && typeof body === 'object' && body !== null && 'idempotency_key' in body;
}

/** The call with one thing wrong in one of its parts. */
function spoiled(call: Call): Arbitrary<Call> {
  const { body } = call;
  const ways: Arbitrary<Call>[] = (['path', 'query'] as const).flatMap((part) =>
    Object.entries(call[part]).map(([name, value]) =>
      nearlyValid(value).map((other) => ({ ...call, isValid: false, [part]: { ...call[part], [name]: other } })),
    ),
  );
  if (body !== undefined) {
    // As often as all the parameters together, since most of what can be wrong is in there.
    const bodies = nearlyValid(body).map((other) => ({ ...call, isValid: false, body: other }));
    ways.push(...Array<Arbitrary<Call>>(Math.max(1, ways.length)).fill(bodies));
  }
  const unknown = fc.constant({ ...call, isValid: false, query: { ...call.query, nmae: 'x' } });
  return ways.length === 0 ? unknown : fc.oneof(unknown, ...ways);
}
