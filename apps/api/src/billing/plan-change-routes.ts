// Puts a subscription on another plan, at the end of its period or now, and says beforehand what the latter comes to.

import { amountText } from '@weir/billing/amounts';
import type { NewFeedEvent } from '@weir/billing/feed-events';
import { readInvoiceWithin, type InvoiceWithLines } from '@weir/db/billing/invoices/read-invoices';
import { withoutKeeping } from '@weir/db/billing/snapshot';
import { changeAtPeriodEnd, changeNow } from '@weir/db/billing/subscriptions/change-plan';
import { readAdvance } from '@weir/db/billing/subscriptions/cut-period';
import { isPricedLater, lockPlanToBill, type SubscriptionRow } from '@weir/db/billing/subscriptions/subscriptions';
import type { Queries } from '@weir/db/database';
import { Refusal } from '@weir/shared/errors';
import { z } from 'zod';
import type { Caller } from '../http/load/caller.ts';
import { idInPath } from '../http/fields.ts';
import { problemResponses } from '../http/problem.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import type { App } from '../http/typed-app.ts';
import { done, writing } from '../http/writing/writing.ts';
import { changeSubscription, changeUntold, type Change } from './change-subscription.ts';
import { amount, invoicePreview } from './invoice-shape.ts';
import { changeBody, previewChangeBody, subscriptionAnswer } from './subscription-body.ts';
import { METER_TAKEN, noSuchPlan, planInactive, PRICED_LATER, refuseMeterTaken } from './subscription-refusals.ts';
import type { RouteDeps } from '../route-deps.ts';

const problems = problemResponses(
  'subscription_ended',
  'subscription_behind',
  'plan_inactive',
  'currency_differs',
  'interval_differs',
  'meter_already_billed',
);

const loweredDraft = z.object({ id: z.uuid().nullable(), amount }).meta({
  description:
    'The draft that bills the open period in advance, and what the change would take off it: below zero. Its id is null ' +
    'where the period has begun and the draft is about to be made. Null where it stays as it is, or is finalized, and ' +
    'then the invoice gives that back.',
});

type When = z.output<typeof changeBody>['when'];
type LockedPlan = Awaited<ReturnType<typeof lockPlanToBill>>;

export function planChangeRoutes(app: App, { database, guards, turns }: RouteDeps & { turns: Turns }): void {
  app.post(
    '/api/v1/subscriptions/:id/change',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'changeSubscriptionPlan',
        tags: ['Billing'],
        summary: 'Change to another plan at the end of the period, or now',
        description:
          'It takes the place of a change that was asked for before. The meters of the other plan are taken at once. ' +
          'Another interval begins with a new anchor, at the end of the period only. Before its start the subscription ' +
          'changes at once, whatever the interval, and in a trial it may.',
        params: idInPath,
        body: changeBody,
        response: { 200: subscriptionAnswer, ...problems },
      },
    },
    writing(database, async ({ caller, params, body }, write) => {
      return await write.transaction(async (transaction) => {
        const change = await toPlan(transaction, caller, body);
        return done(await changeSubscription(transaction, caller, params.id, change));
      });
    }),
  );

  app.post(
    '/api/v1/subscriptions/:id/preview-change',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'previewPlanChange',
        tags: ['Billing'],
        summary: 'The invoice that a change to another plan would make now',
        description:
          'Changes nothing. The invoice has no id and no number; it is null where the change would make none, as in a ' +
          'trial. What was billed in advance for later days comes back on it, or, while that is on a draft, off the draft. ' +
          'What would be refused is refused here, too.',
        params: idInPath,
        body: previewChangeBody,
        response: {
          200: z
            .object({ invoice: invoicePreview.nullable(), draft: loweredDraft.nullable() })
            .meta({ id: 'PlanChangePreview' }),
          ...problems,
        },
      },
    },
    writing(database, async ({ caller, params, body }, write) => {
      return await write.computed(async () => {
        return await withoutKeeping(database, async (transaction) => {
          const change = await toPlan(transaction, caller, { ...body, when: 'now' });
          const lowered: { id: string; amount: string }[] = [];
          const { opened, events } = await changeUntold(transaction, caller, params.id, async (_, row, actor) => {
            const before = await readAdvance(transaction, row);
            const made = await change(transaction, row, actor);
            const after = before && (await readAdvance(transaction, row));
            if (before !== undefined && after !== undefined && after.amount !== before.amount)
              lowered.push({ id: after.draft, amount: amountText(after.amount - before.amount, row.currency) });
            return made;
          });
          const [of] = lowered;
          // What was opened here alone is opened again later, under another id.
          const isKept = !opened.some(({ type, data }) => type === 'invoice.created' && data['id'] === of?.id);
          const draft = of === undefined ? null : { ...of, id: isKept ? of.id : null };
          const made = events.find(({ type }) => type === 'invoice.created');
          if (made === undefined) return done({ invoice: null, draft });
          const { organizationId } = caller;
          const id = String(made.data['id']);
          const invoice = await readInvoiceWithin(transaction, organizationId, id, (work) => inTurns(turns, work));
          return done({ invoice: invoice === undefined ? null : withoutIds(invoice), draft });
        });
      });
    }),
  );
}

/** Locks the plan (5 of decision 94), before the subscription: whoever adds a charge holds the plan while it reserves the meter. */
async function toPlan(
  transaction: Queries,
  { organizationId }: Caller,
  { plan_id, when }: { plan_id: string; when: When },
): Promise<Change> {
  const plan = await lockPlanToBill(transaction, organizationId, plan_id);
  return async (transaction, row, actor): Promise<NewFeedEvent[]> => {
    const checked = checkPlan(plan, row, when);
    const opens = when === 'now' && row.cycle !== null && checked.id !== row.plan_id;
    if (opens && (await isPricedLater(transaction, organizationId, checked.id)))
      throw new Refusal('subscription_behind', PRICED_LATER);
    const change = when === 'now' ? changeNow : changeAtPeriodEnd;
    const events = await change(transaction, row, { actor, plan: checked }).catch(refuseMeterTaken);
    if (events === undefined) throw new Refusal('meter_already_billed', METER_TAKEN);
    return events;
  };
}

function checkPlan(plan: LockedPlan, row: SubscriptionRow, when: When): NonNullable<LockedPlan> {
  if (plan === undefined) throw noSuchPlan();
  if (!plan.is_active && plan.id !== row.plan_id) throw planInactive();
  if (plan.currency !== row.currency) {
    const detail = `This plan is in ${plan.currency}, and the subscription in ${row.currency}: make a new subscription.`;
    throw new Refusal('currency_differs', detail);
  }
  if (when === 'now' && row.cycle !== null && plan.billing_interval !== row.billing_interval) {
    const detail = `This plan is billed by the ${plan.billing_interval}, and the subscription by the ${row.billing_interval}: change at the end of the period.`;
    throw new Refusal('interval_differs', detail);
  }
  return plan;
}

function withoutIds(made: InvoiceWithLines) {
  const { id: _, invoice_number: __, payments: ____, lines_next_cursor: ___, lines, ...invoice } = made;
  return {
    ...invoice,
    lines: lines.map((line) => {
      const { id: _____, ...rest } = line;
      return rest;
    }),
  };
}
