// Tries a charge out: what a quantity comes to, by the functions that bill. Nothing is kept.

import { findMeter } from '@weir/db/meters';
import { minorDigits } from '@weir/rating/currencies';
import { formatAmount } from '@weir/rating/money';
import { rate } from '@weir/rating/rate';
import { settle } from '@weir/rating/settle';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { currency } from '../http/fields.ts';
import { decimal } from '../http/decimals.ts';
import { problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, writing } from '../http/writing/writing.ts';
import { termsOf, triedCharge } from './charge-body.ts';
import { CHARGE_DECIMALS } from './charge-models.ts';
import { ratedDetail } from './invoice-shape.ts';
import { NO_SUCH_METER } from './add-charges.ts';
import type { RouteDeps } from '../route-deps.ts';

const days = (min: number) =>
  z
    .int('must be a whole number')
    .min(min, `must be ${min} or more`)
    .max(LIMITS.daysOfPeriod, `must be at most ${LIMITS.daysOfPeriod}`)
    .optional();

const evaluateBody = z
  .strictObject({
    currency,
    charge: triedCharge,
    quantity: decimal({
      whole: LIMITS.triedDigits,
      fraction: LIMITS.triedDigits,
      digits: LIMITS.triedDigits,
      description: 'What the meter reads. Default: 0.',
    }).default('0'),
    event_count: z
      .int('must be a whole number')
      .min(0, 'must be 0 or more')
      .default(0)
      .meta({ description: 'How many events the quantity is of.' }),
    days_in_force: days(0).meta({ description: 'For how many dates of its period the charge is in force.' }),
    days_in_period: days(1),
  })
  .superRefine(({ days_in_force, days_in_period }, context) => {
    const issue = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (days_in_force === undefined && days_in_period === undefined) return;
    if (days_in_force === undefined) issue('days_in_force', 'is required beside days_in_period');
    else if (days_in_period === undefined) issue('days_in_period', 'is required beside days_in_force');
    else if (days_in_force > days_in_period) issue('days_in_force', 'must be at most days_in_period');
  });

const evaluateAnswer = z.object({
  exact_amount: z.string().meta({ description: 'Before the rounding: a decimal, or n/d where it has no end.' }),
  amount: z.string(),
  detail: ratedDetail,
});

export function evaluateRoute(app: App, { database, guards }: RouteDeps): void {
  app.post(
    '/api/v1/charges/evaluate',
    {
      onRequest: guards.viewer,
      config: { decimals: new Set([...CHARGE_DECIMALS, 'quantity']) },
      schema: {
        operationId: 'evaluateCharge',
        tags: ['Billing'],
        summary: 'Try a charge out on a quantity',
        description: 'Computes what a charge comes to, by the same function that bills. Nothing is kept.',
        body: evaluateBody,
        response: { 200: evaluateAnswer, ...problemResponses('not_found') },
      },
    },
    writing(database, async (request, write) => {
      const { currency, charge, quantity, event_count, days_in_force, days_in_period } = request.body;
      if (charge.type === 'USAGE' && charge.meter_id !== undefined) {
        const meter = await findMeter(database.kysely, request.caller.organizationId, charge.meter_id);
        if (meter === undefined) throw new Refusal('not_found', NO_SUCH_METER);
      }
      const days =
        days_in_force === undefined || days_in_period === undefined
          ? null
          : { inForce: days_in_force, inPeriod: days_in_period };
      return await write.computed(async () => {
        const digits = minorDigits(currency);
        const { exact, detail } = rate(termsOf(charge), { quantity, eventCount: BigInt(event_count) }, days);
        const { exactAmount, amount } = settle(exact, 0n, digits);
        return done({ exact_amount: exactAmount, amount: formatAmount(amount, digits), detail });
      });
    }),
  );
}
