// A token for one customer, and that customer's usage, for the pages of an app. These routes have no parameter
// that names a customer; the token does, so there is no way to ask for anybody else.

import { keepExternalId } from '@weir/db/customers';
import { isMeterUsedBy, readUsageOfCustomer } from '@weir/db/usage/read-usage';
import { findBillingPeriod, getWidgetSettings, listShownMeters, type ShownMeter } from '@weir/db/widget-settings';
import { Refusal } from '@weir/shared/errors';
import { isoOf } from '@weir/shared/instant';
import { insertWidgetToken } from '@weir/db/widget-tokens';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { readEntitlements, type Entitlement, type EntitlementDeps } from '../billing/entitlement-answer.ts';
import { hashSecret, newWidgetToken } from '../access/secrets.ts';
import { idInPath, nullInRepeats, time } from '../http/fields.ts';
import { NO_SUCH_THING, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { made, writing } from '../http/writing/writing.ts';
import { meterUsage, usage } from '../usage/usage-answer.ts';
import { chartQuery, getMeter, refuseMoving, windowOf, windowQuery } from '../usage/usage-query.ts';
import { sendMeterUsage, type UsageDeps } from '../usage/usage-routes.ts';
import { customerOf, OPEN_TO_PAGES, tokenExpiresIn } from './widget-customer.ts';

const tokenAnswer = z
  .object({
    token: z
      .string()
      .nullable()
      .meta({ description: `The secret. Give it to the browser of this one customer. ${nullInRepeats()}` }),
    expires_at: time.meta({ description: 'One hour after it was made.' }),
  })
  .meta({ id: 'WidgetToken' });

const usageAnswer = z
  .object({
    customer_external_id: z.string(),
    token_expires_in: tokenExpiresIn,
    period_start: time,
    period_end: time.meta({ description: 'The first instant that does not count any more.' }),
    data: z.array(
      z.object({
        meter_id: z.uuid(),
        name: z.string(),
        aggregation_type: z.enum(AGGREGATION_TYPES),
        unit: z.string().nullable(),
        total_usage: usage,
        event_count: z.int(),
      }),
    ),
  })
  .meta({ id: 'WidgetUsage' });

const limit = z
  .object({
    meter_id: z.uuid(),
    name: z.string(),
    aggregation_type: z.enum(AGGREGATION_TYPES),
    unit: z.string().nullable(),
    limit: z.string().nullable().meta({ description: 'Null: there is none.' }),
    usage: z.string().meta({ description: 'What is recorded in the window of the limit.' }),
    remaining: z.string().nullable(),
    overage: z.string().nullable(),
    is_soft_limit: z.boolean().meta({ description: 'Whether more than the limit may be used.' }),
    period_start: time.meta({ description: 'Since when usage counts towards the limit.' }),
    resets_at: time.nullable().meta({ description: 'When it begins at 0 again; null: never.' }),
  })
  .meta({ id: 'WidgetLimit' });

const billingPeriodAnswer = z
  .object({
    customer_external_id: z.string(),
    billing_period: z
      .object({ period_start: time, period_end: time, time_zone: z.string() })
      .nullable()
      .meta({ description: 'That of the newest subscription; null: the customer has none.' }),
    data: z.array(limit),
  })
  .meta({ id: 'WidgetBillingPeriod' });

const config = OPEN_TO_PAGES;

export function widgetRoutes(app: App, deps: UsageDeps & EntitlementDeps): void {
  const { database, guards, turns } = deps;
  app.post(
    '/api/v1/widget/token',
    {
      // Not the guard of the track path, whose keys may be from memory: a token outlives the request.
      onRequest: guards.writeNow,
      schema: {
        operationId: 'createWidgetToken',
        tags: ['Widget'],
        summary: 'Make a token that opens what one customer may see: usage, what it owes, invoices and prices',
        description:
          'No customer record is needed. Give it to the page /embed, or read the paths below with it, which the pages of every ' +
          'origin may do. It ends after an hour, with the API key that asked for it, and when the record of its customer is ' +
          'deleted, erased or gets another external_id. What /embed shows is chosen by its parameter show; the token opens all of it.',
        body: z.strictObject({ customer_external_id: text(1, LIMITS.key) }),
        response: { 201: tokenAnswer, ...problemResponses('usage_moving') },
      },
    },
    writing(database, async ({ caller, body }, write) => {
      const { organizationId: organization_id, apiKeyId: api_key_id } = caller;
      if (api_key_id === undefined) throw new Error('the guard lets API keys through and nothing else');
      const token = newWidgetToken();
      const { customer_external_id } = body;
      return write.transaction(async (transaction) => {
        await keepExternalId(transaction, organization_id, customer_external_id);
        await refuseMoving(transaction, organization_id, customer_external_id);
        const shown = { token_hash: hashSecret(token), organization_id, api_key_id, customer_external_id };
        const { expires_at } = await insertWidgetToken(transaction, shown);
        return made({ token, expires_at }, ['token']);
      });
    }),
  );

  app.get(
    '/api/v1/widget/usage',
    {
      onRequest: guards.widget,
      config,
      schema: {
        operationId: 'getWidgetUsage',
        tags: ['Widget'],
        summary: 'The usage of the customer of the token, on every meter where there is some in the window',
        description:
          'In the order that the organization chose, else newest meter first. Meters that it did not choose, or that the ' +
          'customer does not use, are not shown to it.',
        querystring: z.strictObject(windowQuery),
        response: { 200: usageAnswer, ...problemResponses('month_taken_out') },
      },
    },
    async (request) => {
      const { caller, query } = request;
      const window = await windowOf(turns, request, query);
      const customer = customerOf(caller);
      const { meter_ids: meterIds } = await getWidgetSettings(database.kysely, customer.organizationId);
      const read = await readUsageOfCustomer(database.pool, { ...customer, meterIds, window });
      const byId = new Map(read.flatMap((meter) => (meter.event_count > 0 ? [[meter.meter_id, meter] as const] : [])));
      const shown = await listShownMeters(database.kysely, customer.organizationId, { ids: byId.keys() });
      return {
        customer_external_id: customer.customerExternalId,
        token_expires_in: caller.secondsLeft ?? 0,
        period_start: isoOf(window.start),
        period_end: isoOf(window.end),
        data: shown
          .flatMap(({ id }) => byId.get(id) ?? [])
          .map(({ meter_id, name, aggregation_type, unit, usage, event_count }) => {
            return { meter_id, name, aggregation_type, unit, total_usage: usage, event_count };
          }),
      };
    },
  );

  app.get(
    '/api/v1/widget/meters/:id/usage',
    {
      onRequest: guards.widget,
      config,
      schema: {
        operationId: 'getWidgetMeterUsage',
        tags: ['Widget'],
        summary: 'The usage of the customer of the token on one meter, in all and by calendar period',
        description:
          'A meter that the customer has never used, or that the organization shows to nobody, does not exist for it.',
        params: idInPath,
        querystring: z.strictObject(chartQuery),
        response: { 200: meterUsage, ...problemResponses('month_taken_out') },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request;
      const window = await windowOf(turns, request, query);
      const { organizationId, customerExternalId } = customerOf(caller);
      const { id: meterId } = params;
      const shown = await listShownMeters(database.kysely, organizationId, { ids: [meterId] });
      if (shown.length === 0 || !(await isMeterUsedBy(database.pool, { organizationId, meterId, customerExternalId })))
        throw new Refusal('not_found', NO_SUCH_THING);
      const meter = await getMeter(database, organizationId, meterId);
      const chart = { organizationId, meter, customerExternalId, window, grouping: query.group_by };
      return await sendMeterUsage(deps, reply, chart);
    },
  );

  app.get(
    '/api/v1/widget/billing-period',
    {
      onRequest: guards.widget,
      config,
      schema: {
        operationId: 'getWidgetBillingPeriod',
        tags: ['Widget'],
        summary: 'The billing period of the customer of the token, and what its plan lets it use',
        description:
          'A limit for each meter that a subscription of the customer gives and that the organization shows, in the order of ' +
          'the meters. Read from what is recorded, without a cache.',
        response: { 200: billingPeriodAnswer },
      },
    },
    async ({ caller }) => {
      const { organizationId, customerExternalId } = customerOf(caller);
      const entitled = { customerExternalId };
      const period = await findBillingPeriod(database.kysely, { organizationId, customerExternalId });
      const byFeature = new Map(
        (await readEntitlements(deps, { organizationId, entitled })).map((each) => [each.feature, each]),
      );
      const shown = await listShownMeters(database.kysely, organizationId, { features: byFeature.keys() });
      return {
        customer_external_id: customerExternalId,
        billing_period: period ?? null,
        data: shown.flatMap((meter) => limitOf(meter, byFeature.get(meter.feature ?? '')) ?? []),
      };
    },
  );
}

/** Undefined for what gives no usage: it is not in the plan, or not switched on there. */
function limitOf({ id, name, aggregation_type, unit }: ShownMeter, given: Entitlement | undefined) {
  if (given?.usage == null || given.period_start === null || given.reason === 'disabled') return undefined;
  const { limit: max, usage: used, remaining, overage, is_soft_limit, period_start, resets_at } = given;
  const meter = { meter_id: id, name, aggregation_type, unit };
  return { ...meter, limit: max, usage: used, remaining, overage, is_soft_limit, period_start, resets_at };
}
