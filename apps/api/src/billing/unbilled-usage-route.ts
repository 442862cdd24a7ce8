// Usage that no charge bills, by meter and reason, as the workers found it (@weir/db/billing/unbilled-usage).

import {
  listUnbilledUsage,
  readUnbilledMonth,
  UNBILLED_USAGE_REASONS,
  type UnbilledUsage,
} from '@weir/db/billing/usage/unbilled-usage';
import { z } from 'zod';
import { answerOf, answerPage, flag, listQuery, pageSchema } from '../http/fields.ts';
import type { App } from '../http/typed-app.ts';
import type { RouteDeps } from '../route-deps.ts';

const MONTH = /^20\d\d-(0[1-9]|1[0-2])$/;

const month = z
  .string()
  .regex(MONTH, 'must be a month such as 2026-11')
  .optional()
  .meta({
    description: 'A month in UTC. Without it, the month of the last day that is over.',
    examples: ['2026-11'],
  });

const isTold = flag.optional().meta({ description: 'What the feed tells, or only the rest: what is not_in_plan.' });

const unbilledUsage = answerOf<UnbilledUsage>()({
  meter_id: z.uuid(),
  meter_name: z.string(),
  reason: z.enum(UNBILLED_USAGE_REASONS).meta({
    description:
      'price_ended: the charge of the customer’s plan had ended when the period began, and no other was there. not_in_plan: the ' +
      'plan has no charge of the meter, or got its first one within the period. after_end: the subscription has ended, or was canceled before it began. ' +
      'no_subscription: the customer never had one.',
  }),
  events: z.int(),
  customers: z.int().meta({ description: 'How many customers they are of, on the day with the most.' }),
  since: z.iso.date().meta({ description: 'The first day of the month with such usage, in UTC.' }),
  until: z.iso.date().meta({ description: 'The last one.' }),
}).meta({ id: 'UnbilledUsage' });

export function unbilledUsageRoute(app: App, { database, guards }: RouteDeps): void {
  app.get(
    '/api/v1/billing/unbilled-usage',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listUnbilledUsage',
        tags: ['Billing'],
        summary: 'Usage of priced meters in a month that no charge bills, most events first',
        description:
          'Of days that are over, in UTC, each looked at within some hours of its end and again while events may be late. Usage in a ' +
          'trial, or before the start of a subscription, is not among it. The feed tells each meter, month and reason once ' +
          '(usage.unpriced), but for not_in_plan.',
        querystring: listQuery({ month, is_told: isTold }),
        response: { 200: pageSchema(unbilledUsage) },
      },
    },
    async (request) => {
      const { month: asked, is_told: told, ...wanted } = request.query;
      const filter = { month: asked ?? (await readUnbilledMonth(database.kysely)), isTold: told };
      return answerPage(await listUnbilledUsage(database.kysely, request.caller.organizationId, filter, wanted));
    },
  );
}
