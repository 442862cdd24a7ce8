// Reading what was counted: of one meter as a chart, of its customers as a ranking, and of one customer on all meters.
// Which instants a request means is planned in @weir/shared/window; the sums are made by Postgres, in @weir/db/usage.

import { findCustomer } from '@weir/db/customers';
import type { Database } from '@weir/db/database';
import { findMetersByToken } from '@weir/db/events';
import { findMeter, type Meter } from '@weir/db/meters';
import { readMeterUsage, readUsageByCustomer, readUsageOfCustomer } from '@weir/db/usage';
import { Refusal } from '@weir/shared/errors';
import { AGGREGATION_TYPES, METER_STATUSES } from '@weir/shared/meter';
import { text } from '@weir/shared/text';
import { BUCKETS_MAX, GROUPINGS, planningWindow, type Window, type WindowQuery } from '@weir/shared/window';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Guards } from '../access/authenticate.ts';
import type { Turns } from '../http/turns.ts';
import type { App } from '../http/typed-app.ts';
import { answerPage, idInPath, oneOf, pageQuery, pageSchema, readCodes, time } from '../http/fields.ts';
import { invalidFields, NO_SUCH_THING, problemResponses } from '../http/problem.ts';

const DATES = 'ISO 8601 with an offset (write + as %2B), or a bare date in the time zone.';

export const windowQuery = {
  start_date: z
    .string()
    .optional()
    .meta({ description: `Usage counts from this instant on. ${DATES} Default: 30 days before the end.` }),
  end_date: z
    .string()
    .optional()
    .meta({
      description: `Usage counts until before this instant; a bare date includes that day. ${DATES} Default: now.`,
    }),
  timezone: z.string().default('UTC').meta({ description: 'A time zone of the IANA database, such as Europe/Berlin.' }),
};

/** A window that is divided into calendar periods. */
export const chartQuery = {
  ...windowQuery,
  group_by: oneOf(GROUPINGS).default('day').meta({ description: 'Weeks are those of ISO 8601: they begin on Monday.' }),
};

const usageQuery = z.strictObject({
  ...chartQuery,
  customer_id: z
    .guid('must be the id of a customer record')
    .toLowerCase()
    .optional()
    .meta({ description: 'The id of the record.' }),
  customer_external_id: text(1, 255).optional().meta({ description: 'Your own identifier; no record is needed.' }),
});

export const usage = z.string().nullable().meta({
  description: 'An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted.',
});

export const meterUsage = z
  .object({
    meter_id: z.uuid(),
    aggregation_type: z.enum(AGGREGATION_TYPES),
    unit: z.string().nullable(),
    total_usage: usage,
    event_count: z.int(),
    unique_customers: z.int(),
    period_start: time,
    period_end: time.meta({ description: 'The first instant that does not count any more.' }),
    grouped_data: z.array(
      z.object({
        period: z.string().meta({
          description: '2026-11, 2026-W47, 2026-11-20, or an hour with its offset from UTC: 2026-11-20T16:00+01:00.',
        }),
        period_start: time.meta({ description: 'Where the calendar period begins; the window may begin later.' }),
        usage,
        event_count: z.int(),
      }),
    ),
  })
  .meta({ id: 'MeterUsage' });

const customerOfMeter = z
  .object({
    customer_id: z.uuid().nullable().meta({ description: 'Null where the customer has no record.' }),
    customer_external_id: z.string(),
    name: z.string().nullable(),
    total_usage: usage,
    event_count: z.int(),
  })
  .meta({ id: 'CustomerOfMeter' });

const meterOfCustomer = z
  .object({
    meter_id: z.uuid(),
    name: z.string(),
    meter_token: z.string(),
    aggregation_type: z.enum(AGGREGATION_TYPES),
    unit: z.string().nullable(),
    status: z.enum(METER_STATUSES),
    total_usage: usage,
    event_count: z.int(),
  })
  .meta({ id: 'MeterOfCustomer' });

const security = [{ session: [] }, { apiKey: [] }];
const EXACT =
  'What is read is exact to the microsecond, and a recorded event is in the next read, however late it came in.';

export interface UsageParts {
  database: Database;
  guards: Guards;
  /** For windows of thousands of buckets, which take long to plan and to answer. */
  turns: Turns;
}

export function usageRoutes(app: App, parts: UsageParts): void {
  const { database, guards } = parts;
  const problems = problemResponses(...readCodes, 'not_found', 'invalid_request');

  app.get(
    '/api/v1/meters/:id/usage',
    {
      onRequest: guards.read,
      schema: {
        tags: ['Usage'],
        summary: 'The usage of a meter over a window, in all and by calendar period',
        description: `Periods without events are filled in; at most ${BUCKETS_MAX} periods. ${EXACT}`,
        security,
        params: idInPath,
        querystring: usageQuery,
        response: { 200: meterUsage, ...problems },
      },
    },
    async (request) => {
      const meter = await getMeter(database, request.caller.organizationId, request.params.id);
      return await answerMeterUsage(parts, request, meter, await questionOf(parts, request, request.query));
    },
  );

  app.get(
    '/api/v1/usage',
    {
      onRequest: guards.read,
      schema: {
        tags: ['Usage'],
        summary: 'The same as the usage of a meter, by its meter_token',
        description: `Periods without events are filled in; at most ${BUCKETS_MAX} periods. ${EXACT}`,
        security,
        querystring: usageQuery.extend({ meter_token: text(1, 255) }),
        response: {
          200: meterUsage,
          ...problemResponses(...readCodes, 'meter_not_found', 'not_found', 'invalid_request'),
        },
      },
    },
    async (request) => {
      const meter = await getMeterByToken(database, request.caller.organizationId, request.query.meter_token);
      return await answerMeterUsage(parts, request, meter, await questionOf(parts, request, request.query));
    },
  );

  app.get(
    '/api/v1/meters/:id/customers',
    {
      onRequest: guards.read,
      schema: {
        tags: ['Usage'],
        summary: 'The customers of a meter by their usage over a window, largest first',
        description: `Every customer with events in the window, also those without a record. ${EXACT}`,
        security,
        params: idInPath,
        querystring: z.strictObject({ ...windowQuery, ...pageQuery }),
        response: {
          200: pageSchema(customerOfMeter).extend({ meter_id: z.uuid(), period_start: time, period_end: time }),
          ...problems,
        },
      },
    },
    async (request) => {
      const { caller, params, query } = request;
      const { organizationId } = caller;
      const window = await windowOf(parts, request, query);
      const meter = await getMeter(database, organizationId, params.id);
      const question = { organizationId, meterId: meter.id, aggregation: meter.aggregation_type, window };
      const { rows, total } = await readUsageByCustomer(database.pool, question, query);
      return {
        meter_id: meter.id,
        period_start: window.start,
        period_end: window.end,
        ...answerPage({ rows: rows.map(asTotal), total }, query),
      };
    },
  );

  app.get(
    '/api/v1/customers/:id/usage',
    {
      onRequest: guards.read,
      schema: {
        tags: ['Usage'],
        summary: 'The usage of a customer over a window, on every meter of the organization',
        description: `Meters on which the customer has no usage are in, archived ones too. ${EXACT}`,
        security,
        params: idInPath,
        querystring: z.strictObject(windowQuery),
        response: {
          200: z.object({
            customer_id: z.uuid(),
            customer_external_id: z.string(),
            period_start: time,
            period_end: time,
            data: z.array(meterOfCustomer),
          }),
          ...problems,
        },
      },
    },
    async (request) => {
      const { caller, params, query } = request;
      const { organizationId } = caller;
      const window = await windowOf(parts, request, query);
      const customer = await findCustomer(database.kysely, organizationId, params.id);
      if (customer === undefined) throw new Refusal('not_found', NO_SUCH_THING);
      const question = { organizationId, customerExternalId: customer.external_id, window };
      const meters = await readUsageOfCustomer(database.pool, question);
      return {
        customer_id: customer.id,
        customer_external_id: customer.external_id,
        period_start: window.start,
        period_end: window.end,
        data: meters.map(asTotal),
      };
    },
  );
}

/** The usage of one meter, of all its customers or of one, as it is answered. */
export async function answerMeterUsage(
  { database, turns }: UsageParts,
  { caller: { organizationId } }: FastifyRequest,
  meter: Meter,
  { window, customerExternalId }: { window: Window; customerExternalId: string | undefined },
): Promise<z.output<typeof meterUsage>> {
  const { total, uniqueCustomers, buckets } = await readMeterUsage(database.pool, {
    organizationId,
    meterId: meter.id,
    aggregation: meter.aggregation_type,
    customerExternalId,
    window,
  });
  // What follows writes all of it as JSON, in one go.
  if (turns.isOver()) await turns.next();
  return {
    meter_id: meter.id,
    aggregation_type: meter.aggregation_type,
    unit: meter.unit,
    total_usage: total.usage,
    event_count: total.event_count,
    unique_customers: uniqueCustomers,
    period_start: window.start,
    period_end: window.end,
    grouped_data: buckets,
  };
}

/** What a query of an admin or a service means. */
async function questionOf(parts: UsageParts, request: FastifyRequest, query: z.output<typeof usageQuery>) {
  const customerExternalId = await externalIdOf(parts.database, request.caller.organizationId, query);
  return { window: await windowOf(parts, request, query), customerExternalId };
}

function asTotal<Row extends { usage: string | null; event_count: number }>({ usage, event_count, ...row }: Row) {
  return { ...row, total_usage: usage, event_count };
}

/**
 * The window that a query means, planned between the turns of others and charged to the caller; throws a Refusal for a query
 * that means none.
 */
export async function windowOf(
  { turns }: Pick<UsageParts, 'turns'>,
  request: FastifyRequest,
  query: WindowQuery,
): Promise<Window> {
  const steps = planningWindow(query, Date.now());
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      if ('problem' in step.value) throw invalidFields([step.value.problem]);
      request.pay(step.value.buckets.length);
      return step.value;
    }
    if (turns.isOver()) await turns.next();
  }
}

export async function getMeter(database: Database, organizationId: string, id: string): Promise<Meter> {
  const meter = await findMeter(database.kysely, organizationId, id);
  if (meter === undefined) throw new Refusal('not_found', NO_SUCH_THING);
  return meter;
}

async function getMeterByToken(database: Database, organizationId: string, token: string): Promise<Meter> {
  const known = (await findMetersByToken(database, [token])).get(token);
  const meter =
    known?.organizationId === organizationId ? await findMeter(database.kysely, organizationId, known.id) : undefined;
  if (meter === undefined) {
    throw new Refusal('meter_not_found', 'Your organization has no meter with this meter_token: check the token.');
  }
  return meter;
}

/** The customer that a query asks for, by the identifier that usage is recorded under; undefined for all customers. */
async function externalIdOf(
  database: Database,
  organizationId: string,
  query: { customer_id?: string | undefined; customer_external_id?: string | undefined },
): Promise<string | undefined> {
  const { customer_id: id, customer_external_id: externalId } = query;
  if (id === undefined) return externalId;
  if (externalId !== undefined) {
    throw invalidFields([
      { path: 'customer_id', message: 'must not be sent together with customer_external_id: send one of them' },
    ]);
  }
  const customer = await findCustomer(database.kysely, organizationId, id);
  if (customer === undefined) {
    throw new Refusal(
      'not_found',
      'Your organization has no customer with this customer_id: check the id, or send customer_external_id.',
    );
  }
  return customer.external_id;
}
