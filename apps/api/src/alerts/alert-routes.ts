// Alerts: thresholds of usage or of what open periods come to, and which were crossed. Who crosses them is found by workers
// (packages/db/src/alerts/perform-alerts.ts).

import {
  countAlerts,
  deleteAlert,
  findAlert,
  insertAlert,
  listAlerts,
  listCrossings,
  updateAlert,
  type Alert,
  type Crossing,
} from '@weir/db/alerts/alerts';
import { findCustomer } from '@weir/db/customers';
import { holdOrganization, holdRow } from '@weir/db/hold-row';
import { findMeter } from '@weir/db/meters';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { NO_SUCH_METER } from '../billing/add-charges.ts';
import { noSuchCustomer } from '../catalog/no-such-customer.ts';
import { refuseErased } from '../catalog/refuse-erased.ts';
import { decimal } from '../http/decimals.ts';
import {
  answerOf,
  answerPage,
  changesOf,
  displayName,
  idInPath,
  idOf,
  nothing,
  listQuery,
  oneOf,
  pageSchema,
  time,
} from '../http/fields.ts';
import { found, invalidFields, problemResponses } from '../http/problem.ts';
import { RECORDING_STOP_COST } from '../http/load/read-budget.ts';
import type { App } from '../http/typed-app.ts';
import { changing, reading, type Versioned } from '../http/writing/versions.ts';
import { done, gone, made, writing } from '../http/writing/writing.ts';
import type { RouteDeps } from '../route-deps.ts';

const STATUSES = ['ACTIVE', 'DISABLED'] as const;

const DECIMALS = { decimals: new Set(['thresholds']) };

const thresholds = z
  .array(decimal({ whole: LIMITS.unitDigits, fraction: LIMITS.fraction, isAbove0: true }))
  .min(1, 'must hold at least one threshold')
  .max(LIMITS.thresholds, `must hold at most ${LIMITS.thresholds} thresholds`)
  .refine(isRising, 'must rise: each one above the one before it')
  .meta({ description: 'Each above the one before it, as numbers or as texts, taken exactly as sent.' });

/** Plain decimals of at most so many digits after the point are in the order of these whole numbers. */
const scaled = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(LIMITS.fraction, '0'));
};

function isRising(list: readonly string[]): boolean {
  return list.every((each, index) => index === 0 || scaled(each) > scaled(list[index - 1] ?? ''));
}

const newAlert = z
  .strictObject({
    name: displayName,
    meter_id: idOf()
      .optional()
      .meta({ description: 'Its usage in the billing period of the customer, or in the month where there is none.' }),
    subscription_amount: z
      .boolean()
      .default(false)
      .meta({
        description:
          'In place of meter_id: what the metered charges of the open period of each subscription come to, without fixed prices, in its ' +
          'own currency. Thresholds are compared as numbers, whatever that is.',
      }),
    customer_id: idOf().optional().meta({ description: 'Missing: all customers, also those to come.' }),
    thresholds,
  })
  .superRefine(({ meter_id, subscription_amount }, { addIssue }) => {
    if ((meter_id === undefined) === subscription_amount) return;
    const message = subscription_amount
      ? 'must not be sent together with subscription_amount: send one of them'
      : 'is required, or subscription_amount: true in its place';
    addIssue({ code: 'custom', path: ['meter_id'], message });
  });

const alertAnswer = answerOf<Alert>()({
  id: z.uuid(),
  name: z.string(),
  meter_id: z.uuid().nullable().meta({ description: 'Null: it watches what usage comes to in open periods.' }),
  subscription_amount: z.boolean(),
  customer_id: z.uuid().nullable().meta({ description: 'Null: all customers.' }),
  thresholds: z.array(z.string()),
  status: z.enum(STATUSES),
  created_at: time,
}).meta({ id: 'Alert' });

const crossingAnswer = answerOf<Crossing>()({
  id: z.uuid(),
  customer_external_id: z.string(),
  customer_id: z
    .uuid()
    .nullable()
    .meta({ description: 'Null, like the name, where usage came in for a customer that has no record.' }),
  customer_name: z.string().nullable(),
  subscription_id: z.uuid().nullable().meta({ description: 'Whose period it is. Null: a month of the calendar.' }),
  currency: z.string().nullable().meta({ description: 'Of an amount. Null: usage.' }),
  period_start: time,
  period_end: time,
  time_zone: z.string().meta({ description: 'The zone whose midnights the period begins and ends at.' }),
  threshold: z.string(),
  value: z.string().meta({ description: 'What it had come to when it was seen, which is a moment later.' }),
  crossed_at: time,
}).meta({ id: 'AlertCrossing' });

const TOO_MANY = `would be more than ${LIMITS.alerts} alerts of an organization: delete one`;

const alerts: Versioned<Alert> = {
  read: async (...which) => found(await findAlert(...which)),
  hold: holdRow('alerts'),
};

/**
 * Its external id stays, and nobody erases it. Others may refer to it meanwhile: whoever finalizes an invoice of it, or gives it something, has the
 * organization already, which is waited for next.
 */
const holdCustomer = holdRow('customers');

export function alertRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.post(
    '/api/v1/alerts',
    {
      onRequest: guards.biller,
      config: DECIMALS,
      schema: {
        operationId: 'createAlert',
        tags: ['Alerts'],
        summary: 'Be told when usage, or what it comes to, reaches a threshold',
        description:
          'Each threshold is crossed once for each customer (for an amount: each subscription) and period, and told as ' +
          'usage.threshold_reached by the feed and webhooks, within seconds of the 201 of the event. What is there already counts: ' +
          'a threshold that is passed when the alert is made is crossed in this period, and in none that is over. Usage that is taken ' +
          `back and comes again crosses nothing twice. An organization has at most ${LIMITS.alerts} alerts.`,
        body: newAlert,
        response: { 201: alertAnswer, ...problemResponses('not_found', 'customer_erased') },
      },
    },
    writing(database, (request, write) =>
      write.transaction(async (transaction) => {
        const { organizationId } = request.caller;
        const { name, meter_id = null, customer_id = null, thresholds: asked } = request.body;
        if (meter_id !== null && (await findMeter(transaction, organizationId, meter_id)) === undefined)
          throw new Refusal('not_found', NO_SUCH_METER);
        if (customer_id !== null) {
          await holdCustomer(transaction, organizationId, customer_id);
          if ((await findCustomer(transaction, organizationId, customer_id)) === undefined) throw noSuchCustomer();
          await refuseErased(transaction, organizationId, customer_id);
        }
        await holdOrganization(transaction, organizationId);
        if ((await countAlerts(transaction, organizationId)) >= LIMITS.alerts)
          throw invalidFields([{ path: '', message: TOO_MANY }]);
        request.pay(RECORDING_STOP_COST);
        return made(await insertAlert(transaction, organizationId, { name, meter_id, customer_id, thresholds: asked }));
      }),
    ),
  );

  app.get(
    '/api/v1/alerts',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listAlerts',
        tags: ['Alerts'],
        summary: 'List the alerts, newest first',
        querystring: listQuery({}),
        response: { 200: pageSchema(alertAnswer) },
      },
    },
    async ({ caller, query }) => answerPage(await listAlerts(db, caller.organizationId, query)),
  );

  app.get(
    '/api/v1/alerts/:id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getAlert',
        tags: ['Alerts'],
        summary: 'Get an alert',
        params: idInPath,
        response: { 200: alertAnswer },
      },
    },
    reading(database, alerts),
  );

  app.patch(
    '/api/v1/alerts/:id',
    {
      onRequest: guards.biller,
      config: DECIMALS,
      schema: {
        operationId: 'updateAlert',
        tags: ['Alerts'],
        summary: 'Change the name or the thresholds of an alert, or turn it off or on',
        description:
          'thresholds take the place of those that it has. What was crossed in a period stays crossed in it; one that is new and ' +
          'passed already is crossed now, and so is what was passed while the alert was off. What it watches stays: make another ' +
          'one for something else.',
        params: idInPath,
        body: changesOf({ name: displayName, thresholds, status: oneOf(STATUSES) }),
        response: { 200: alertAnswer },
      },
    },
    changing(database, alerts, (request, write) =>
      write.transaction(async (transaction) => {
        const { caller, params, body } = request;
        if (body.status === 'ACTIVE') request.pay(RECORDING_STOP_COST);
        return done(found(await updateAlert(transaction, caller.organizationId, params.id, body)));
      }),
    ),
  );

  app.delete(
    '/api/v1/alerts/:id',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'deleteAlert',
        tags: ['Alerts'],
        summary: 'Delete an alert',
        description: 'With what it crossed. What the feed has told stays there.',
        params: idInPath,
        response: { 204: nothing },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.single(async (transaction) => {
        found(await deleteAlert(transaction, caller.organizationId, params.id));
        return gone();
      }),
    ),
  );

  app.get(
    '/api/v1/alerts/:id/crossings',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listAlertCrossings',
        tags: ['Alerts'],
        summary: 'Which thresholds of an alert were crossed, newest first',
        params: idInPath,
        querystring: listQuery({}),
        response: { 200: pageSchema(crossingAnswer) },
      },
    },
    async ({ caller, params, query }) => {
      const page = found(await listCrossings(db, caller.organizationId, params.id, query));
      return answerPage(page);
    },
  );
}
