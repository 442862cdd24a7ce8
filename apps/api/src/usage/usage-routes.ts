// Reading what was counted: of one meter as a chart, of its customers as a ranking, and of one customer on all meters. A read is
// a window of time (usage-query.ts), its rows (@weir/db/usage/read-usage), and an answer (usage-answer.ts).

import { findCustomer } from '@weir/db/customers';
import type { Meter } from '@weir/db/meters';
import { readGroupedUsage, type GroupQuestion } from '@weir/db/usage/read-groups';
import {
  CUSTOMER_USAGE_SORTS,
  readMeterUsage,
  readUsageByCustomer,
  readUsageOfCustomer,
  type CustomerUsage,
  type Usage,
  type UsageOfMeter,
} from '@weir/db/usage/read-usage';
import { mapPage } from '@weir/db/page';
import { Refusal } from '@weir/shared/errors';
import { isoOf } from '@weir/shared/instant';
import { AGGREGATION_TYPES, METER_STATUSES } from '@weir/shared/meter';
import { text } from '@weir/shared/text';
import type { Grouping, Window } from '@weir/shared/window';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sendJson } from '../http/body/send-json.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import type { App } from '../http/typed-app.ts';
import { answerOf, answerPage, idInPath, listQuery, pageSchema, sortOf, time } from '../http/fields.ts';
import { found, problemResponses } from '../http/problem.ts';
import { gatherFilters, groupsOf } from './group-query.ts';
import { meterUsage, usage, writingUsage } from './usage-answer.ts';
import {
  externalIdOf,
  getMeter,
  getMeterByToken,
  refuseMoving,
  usageQuery,
  windowOf,
  windowQuery,
} from './usage-query.ts';
import type { RouteDeps } from '../route-deps.ts';

/** A row, with its usage under the name that a total has. */
type Total<Row extends Usage> = Omit<Row, 'usage'> & { total_usage: Usage['usage'] };

const customerOfMeter = answerOf<Total<CustomerUsage>>()({
  customer_id: z.uuid().nullable().meta({ description: 'Null where the customer has no record.' }),
  customer_external_id: z.string(),
  name: z.string().nullable(),
  total_usage: usage,
  event_count: z.int(),
}).meta({ id: 'CustomerOfMeter' });

const meterOfCustomer = answerOf<Total<UsageOfMeter>>()({
  meter_id: z.uuid(),
  name: z.string(),
  meter_token: z.string(),
  aggregation_type: z.enum(AGGREGATION_TYPES),
  unit: z.string().nullable(),
  status: z.enum(METER_STATUSES),
  total_usage: usage,
  event_count: z.int(),
}).meta({ id: 'MeterOfCustomer' });

/** Characters of JSON. */
const LONG_ANSWER = 100_000;

const EXACT =
  'What is read is exact to the microsecond, and a recorded event is in the next read of its time, however late it came in. Where an hour ' +
  'of a customer is cut of which events are in a month that was taken out of the database, it is 409 month_taken_out.';

export interface UsageDeps extends RouteDeps {
  /** For windows of thousands of buckets, which take long to plan and to answer. */
  turns: Turns;
}

export function usageRoutes(app: App, deps: UsageDeps): void {
  const { database, guards, turns } = deps;

  const sendChart = async (
    request: FastifyRequest & { query: z.output<typeof usageQuery> },
    reply: FastifyReply,
    find: (organizationId: string) => Promise<Meter>,
  ): Promise<FastifyReply> => {
    const { query, caller } = request;
    const { organizationId } = caller;
    const window = await windowOf(turns, request, query);
    const meter = await find(organizationId);
    const customerExternalId = await externalIdOf(database, organizationId, query);
    const groups = groupsOf(request, meter, query, window);
    const chart = { organizationId, meter, customerExternalId, window, grouping: query.group_by, groups };
    return await sendMeterUsage(deps, reply, chart);
  };

  app.get(
    '/api/v1/meters/:id/usage',
    {
      onRequest: guards.read,
      preValidation: gatherFilters,
      schema: {
        operationId: 'getMeterUsage',
        tags: ['Usage'],
        summary: 'The usage of a meter over a window, in all and by calendar period',
        description: `Periods without events are filled in; at most ${LIMITS.buckets} periods. ${EXACT}`,
        params: idInPath,
        querystring: usageQuery,
        response: { 200: meterUsage, ...problemResponses('groups_not_ready', 'usage_moving', 'month_taken_out') },
      },
    },
    async (request, reply) =>
      await sendChart(request, reply, (organizationId) => getMeter(database, organizationId, request.params.id)),
  );

  app.get(
    '/api/v1/usage',
    {
      onRequest: guards.read,
      preValidation: gatherFilters,
      schema: {
        operationId: 'getUsage',
        tags: ['Usage'],
        summary: 'The same as the usage of a meter, by its meter_token',
        description: `Periods without events are filled in; at most ${LIMITS.buckets} periods. ${EXACT}`,
        querystring: usageQuery.extend({ meter_token: text(1, LIMITS.key) }),
        response: {
          200: meterUsage,
          ...problemResponses('meter_not_found', 'not_found', 'groups_not_ready', 'usage_moving', 'month_taken_out'),
        },
      },
    },
    async (request, reply) =>
      await sendChart(request, reply, (organizationId) =>
        getMeterByToken(database, organizationId, request.query.meter_token),
      ),
  );

  app.get(
    '/api/v1/meters/:id/customers',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'listMeterCustomers',
        tags: ['Usage'],
        summary: 'The customers of a meter by their usage over a window, largest first',
        description: `Every customer with events in the window, also those without a record. ${EXACT}`,
        params: idInPath,
        querystring: listQuery({
          ...windowQuery,
          ...sortOf(
            CUSTOMER_USAGE_SORTS,
            '-total_usage',
            'By customer_external_id (its bytes) each is met once, also while usage changes between two pages.',
          ),
        }),
        response: {
          200: pageSchema(customerOfMeter).extend({ meter_id: z.uuid(), period_start: time, period_end: time }),
        },
      },
    },
    async (request) => {
      const { caller, params, query } = request;
      const { organizationId } = caller;
      const window = await windowOf(turns, request, query);
      const meter = await getMeter(database, organizationId, params.id);
      const { sort } = query;
      const question = { organizationId, meterId: meter.id, aggregation: meter.aggregation_type, window, sort };
      const found = await readUsageByCustomer(database.pool, question, query);
      return {
        meter_id: meter.id,
        period_start: isoOf(window.start),
        period_end: isoOf(window.end),
        ...answerPage(mapPage(found, asTotal)),
      };
    },
  );

  app.get(
    '/api/v1/customers/:id/usage',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'getCustomerUsage',
        tags: ['Usage'],
        summary: 'The usage of a customer over a window, on every meter of the organization',
        description: `Meters on which the customer has no usage are in, archived ones too. ${EXACT}`,
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
          ...problemResponses('usage_moving', 'month_taken_out'),
        },
      },
    },
    async (request) => {
      const { caller, params, query } = request;
      const { organizationId } = caller;
      const window = await windowOf(turns, request, query);
      const customer = found(await findCustomer(database.kysely, organizationId, params.id));
      await refuseMoving(database.kysely, organizationId, customer.external_id);
      const question = { organizationId, customerExternalId: customer.external_id, window };
      const meters = await readUsageOfCustomer(database.pool, question);
      return {
        customer_id: customer.id,
        customer_external_id: customer.external_id,
        period_start: isoOf(window.start),
        period_end: isoOf(window.end),
        data: meters.map(asTotal),
      };
    },
  );
}

/** A chart: of all customers of a meter, or of one. */
interface Chart {
  organizationId: string;
  meter: Meter;
  customerExternalId: string | undefined;
  window: Window;
  grouping: Grouping;
  groups?: Pick<GroupQuestion, 'keys' | 'filters' | 'groupBy'> | undefined;
}

/** Reads the usage of one meter by the period, and sends it. */
export async function sendMeterUsage(
  { database, turns }: UsageDeps,
  reply: FastifyReply,
  { organizationId, meter, customerExternalId, window, grouping, groups }: Chart,
): Promise<FastifyReply> {
  const aggregation = meter.aggregation_type;
  const question = { organizationId, meterId: meter.id, aggregation, customerExternalId, window };
  const read =
    groups === undefined
      ? await readMeterUsage(database.pool, question)
      : await readGroupedUsage(database.pool, { ...question, ...groups });
  if (read === undefined) {
    throw new Refusal(
      'groups_not_ready',
      'The metadata_keys of the meter were changed, and what it has counted is still being grouped by them, which takes moments, or minutes where it is millions of events: try again.',
      { retryAfterSeconds: 2 },
    );
  }
  const json = await inTurns(turns, writingUsage(meter, { window, grouping }, read));
  // To join and send a megabyte takes some milliseconds more.
  if (json.length > LONG_ANSWER) await turns.next();
  return sendJson(reply, json);
}

function asTotal<Row extends Usage>({ usage, event_count, ...row }: Row) {
  return { ...row, total_usage: usage, event_count };
}
