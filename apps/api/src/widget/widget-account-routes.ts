// What the customer of a widget token owes, and what its plan costs.

import { listChargesOfPlan } from '@weir/db/billing/plans/charges';
import { readBalance } from '@weir/db/billing/credits/credit-ledger';
import { readOwed } from '@weir/db/billing/invoices/owed';
import { findCustomerId } from '@weir/db/customers';
import { findShownPlan } from '@weir/db/widget-settings';
import { minorDigits } from '@weir/rating/currencies';
import { formatAmount } from '@weir/rating/money';
import { INTERVALS } from '@weir/rating/periods';
import { z } from 'zod';
import { copiedCharge } from '../billing/invoice-shape.ts';
import type { App } from '../http/typed-app.ts';
import type { RouteDeps } from '../route-deps.ts';
import { customerOf, OPEN_TO_PAGES, tokenExpiresIn } from './widget-customer.ts';

const amount = (description: string) => z.string().meta({ description, examples: ['12.30'] });

const balanceAnswer = z
  .object({
    token_expires_in: tokenExpiresIn,
    data: z.array(
      z.object({
        currency: z.string(),
        amount_due: amount('What is due of all open invoices.'),
        past_due: amount('The part of it whose due date has ended.'),
        credit: amount('What is left of credits: the next invoices draw it.'),
      }),
    ),
  })
  .meta({ id: 'WidgetBalance' });

const planAnswer = z
  .object({
    plan: z
      .object({
        name: z.string(),
        billing_interval: z.enum(INTERVALS),
        currency: z.string(),
        charges: z
          .array(copiedCharge)
          .meta({ description: 'What the open period is billed by; in a trial, what the period after it is.' }),
      })
      .nullable()
      .meta({
        description:
          'That of the newest subscription, in a trial the one that bills after it; null: the customer has none.',
      }),
  })
  .meta({ id: 'WidgetPlan' });

export function widgetAccountRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.get(
    '/api/v1/widget/balance',
    {
      onRequest: guards.widget,
      config: OPEN_TO_PAGES,
      schema: {
        operationId: 'getWidgetBalance',
        tags: ['Widget'],
        summary: 'What the customer of the token owes, and its credit, by currency',
        description: 'A currency in which nothing is open and there never was a credit is not there.',
        response: { 200: balanceAnswer },
      },
    },
    async ({ caller }) => {
      const { organizationId, customerExternalId } = customerOf(caller);
      const customerId = await findCustomerId(db, organizationId, customerExternalId);
      const token_expires_in = caller.secondsLeft ?? 0;
      if (customerId === undefined) return { token_expires_in, data: [] };
      const owed = new Map((await readOwed(db, organizationId, customerId)).map((each) => [each.currency, each]));
      const credits = await readBalance(db, organizationId, { customerId });
      const currencies = [...new Set([...owed.keys(), ...Object.keys(credits)])].sort();
      return {
        token_expires_in,
        data: currencies.map((currency) => {
          const none = formatAmount(0n, minorDigits(currency));
          const { amount_due = none, past_due = none } = owed.get(currency) ?? {};
          return { currency, amount_due, past_due, credit: credits[currency] ?? none };
        }),
      };
    },
  );

  app.get(
    '/api/v1/widget/plan',
    {
      onRequest: guards.widget,
      config: OPEN_TO_PAGES,
      schema: {
        operationId: 'getWidgetPlan',
        tags: ['Widget'],
        summary: 'The plan of the customer of the token, and its prices',
        response: { 200: planAnswer },
      },
    },
    async ({ caller }) => {
      const customer = customerOf(caller);
      const plan = await findShownPlan(db, customer);
      if (plan === undefined) return { plan: null };
      const { id, name, billing_interval, currency, priced_at } = plan;
      const charges = await listChargesOfPlan(db, customer.organizationId, id, priced_at);
      return {
        plan: {
          name,
          billing_interval,
          currency,
          charges: charges.map(({ display_name, meter_id, terms }) => ({ display_name, meter_id, ...terms })),
        },
      };
    },
  );
}
