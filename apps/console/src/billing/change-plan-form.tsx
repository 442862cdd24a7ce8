import '@mantine/core/styles/Radio.css';
import { Radio } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { planOnSale, PlanSelect } from '../catalog/plan-select.tsx';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { NOT_SENT, useForm } from '../components/forms/form.tsx';
import { isSeen } from '../components/forms/is-seen.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { formatAmount } from '../text/decimals.ts';
import { formatDate } from '../text/instants.ts';
import { InvoiceLines, InvoiceTotals } from './invoice-lines.tsx';
import { OF_SUBSCRIPTIONS } from './of-subscriptions.ts';

interface ChangePlanFormProps {
  subscription: Schema<'Subscription'>;
  onClose: () => void;
}

type When = 'period_end' | 'now';

interface Values {
  plan_id: string | null;
  when: When;
}

/** Puts a subscription on another plan, and shows before what a change now would bill. */
export function ChangePlanForm({ subscription, onClose }: ChangePlanFormProps) {
  const queries = useQueryClient();
  const isToCome = subscription.status === 'SCHEDULED';
  const form = useForm<Values>({
    initial: { plan_id: null, when: 'period_end' },
    async onSubmit({ plan_id, when }) {
      // What is billed at once, and for good, is not sent before it is told.
      if (isPreviewed && !(await isSeen(preview))) return NOT_SENT;
      await send(
        client.POST('/api/v1/subscriptions/{id}/change', {
          params: { path: { id: subscription.id } },
          body: { plan_id: plan_id ?? '', when },
        }),
      );
      await invalidate(queries, ...OF_SUBSCRIPTIONS);
      onClose();
    },
  });
  const { plan_id: planId, when } = form.values;
  const isPreviewed = when === 'now' && planId !== null;
  const preview = usePreview(subscription.id, planId ?? '', isPreviewed);
  const { currency, billing_interval } = subscription;
  const mayHaveOther = when === 'period_end' || subscription.cycle === null;
  return (
    <FormDialog title="Change the plan" submitLabel={labelOf(when, isToCome)} size="lg" form={form} onClose={onClose}>
      {!isToCome && (
        <Radio.Group label="When" {...form.field('when')}>
          <div className="choices">
            <Radio value="period_end" label="At the end of the period" description={whatComesOf(subscription)} />
            <Radio
              value="now"
              label="Now"
              description="What is billed in advance for later days comes back, or off its draft, and today is the new plan’s. For good."
            />
          </div>
        </Radio.Group>
      )}
      <PlanSelect
        label="New plan"
        among={{ is_active: 'true', currency, ...(!mayHaveOther && { billing_interval }) }}
        butNot={subscription.plan_id}
        labelOf={planOnSale}
        nothing="No other plan fits"
        isRequired
        {...form.field('plan_id')}
      />
      <p className="muted">{whatStays(when, subscription)}</p>
      {isPreviewed && <WhatIsBilled preview={preview} subscription={subscription} />}
    </FormDialog>
  );
}

function labelOf(when: When, isToCome: boolean): string {
  if (isToCome) return 'Change the plan';
  return when === 'now' ? 'Change now' : 'Change at the end of the period';
}

function whatComesOf({
  cancel_at_period_end: isEnding,
  current_period_end: end,
  time_zone: zone,
}: Schema<'Subscription'>) {
  if (isEnding) return 'The subscription ends then and does not change, unless somebody keeps it before.';
  return `The first day of the new plan is ${formatDate(end, zone)}. Can be taken back until then.`;
}

function whatStays(when: When, { status, cycle }: Schema<'Subscription'>): string {
  if (status === 'SCHEDULED') return 'The currency stays, and so do the start and the trial.';
  if (when === 'now' && cycle === null) return 'The currency stays, and so does the trial.';
  if (when === 'now') return 'The currency and the interval stay, and so does the day of billing.';
  return 'The currency stays; another interval begins with a new day of billing.';
}

/** The invoice of a change now, asked of the API. What it refuses is told here, before it is sent. */
function usePreview(id: string, planId: string, isEnabled: boolean) {
  return useQuery({
    queryKey: ['/api/v1/subscriptions/{id}', 'preview-change', id, planId],
    queryFn: () =>
      send(
        client.POST('/api/v1/subscriptions/{id}/preview-change', {
          params: { path: { id } },
          body: { plan_id: planId },
        }),
      ),
    enabled: isEnabled,
    retry: false,
  });
}

function WhatIsBilled({
  preview,
  subscription: { time_zone: zone, currency },
}: Pick<ChangePlanFormProps, 'subscription'> & { preview: ReturnType<typeof usePreview> }) {
  return (
    <section aria-label="Invoice of the change">
      <Loaded query={preview} rows={4}>
        {({ invoice, draft }) => (
          <>
            {invoice === null && <p role="status">No invoice is made of it.</p>}
            {invoice !== null && (
              <>
                <p className="muted">The invoice of the change, as it would be now. It is made as a draft.</p>
                <InvoiceLines invoice={invoice} zone={zone} />
                <InvoiceTotals invoice={invoice} />
              </>
            )}
            {draft !== null && (
              <p role="note">
                The draft that bills later days in advance goes down by{' '}
                {formatAmount(draft.amount.replace('-', ''), currency)}.
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
