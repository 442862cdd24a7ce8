import { SegmentedControl, Select, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client, send, type Schema } from '../api/client.ts';
import { isOfWhatWasSent, problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { planOnSale, PlanSelect, useChosenPlan } from '../catalog/plan-select.tsx';
import { CustomerSelect } from '../customers/customer-select.tsx';
import { DateField } from '../components/forms/date-field.tsx';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { NOT_SENT, useForm } from '../components/forms/form.tsx';
import { isSeen } from '../components/forms/is-seen.ts';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { Time } from '../components/page/time.tsx';
import { formatDays } from '../text/instants.ts';

type Subscription = Schema<'Subscription'>;

interface Values {
  customer_id: string | null;
  plan_id: string | null;
  external_id: string;
  start_date: string;
  billing_alignment: Subscription['billing_alignment'];
  trial: 'plan' | 'none' | 'until';
  trial_end_date: string;
}

interface SubscribeFormProps {
  customerId?: string;
  onDone: (subscription: Subscription) => void;
  onClose: () => void;
}

export function SubscribeForm({ customerId, onDone, onClose }: SubscribeFormProps) {
  const queries = useQueryClient();
  const form = useForm<Values>({
    name: `subscribe-${customerId ?? ''}`,
    initial: {
      customer_id: customerId ?? null,
      plan_id: null,
      external_id: '',
      start_date: '',
      billing_alignment: 'anniversary',
      trial: 'plan',
      trial_end_date: '',
    },
    async onSubmit(typed) {
      // A start in the past is not sent before it is told what comes of it.
      if (preview.isEnabled && !(await isSeen(preview))) return NOT_SENT;
      const made = await send(client.POST('/api/v1/subscriptions', { body: bodyOf(typed) }));
      await invalidate(queries, '/api/v1/subscriptions', '/api/v1/invoices');
      onClose();
      onDone(made);
    },
  });
  const { values } = form;
  const preview = usePreview(values);
  const plan = useChosenPlan(values.plan_id);
  return (
    <FormDialog
      title="New subscription"
      submitLabel={labelOf(preview.data?.invoices)}
      size="lg"
      form={form}
      onClose={onClose}
    >
      {customerId === undefined && <CustomerSelect isRequired {...form.field('customer_id')} />}
      <PlanSelect
        label="Plan"
        among={{ is_active: 'true' }}
        labelOf={planOnSale}
        nothing="No plan takes new subscriptions"
        isRequired
        {...form.field('plan_id')}
      />
      <div className="form-row is-wide">
        <DateField label="Start date" description="Empty: now. Up to two years ahead" {...form.field('start_date')} />
        <Select
          label="Periods begin"
          data={[
            { value: 'anniversary', label: 'on the day of the start' },
            { value: 'calendar', label: firstOf(plan?.billing_interval) },
          ]}
          allowDeselect={false}
          {...form.field('billing_alignment')}
        />
        <div>
          <p className="field-label" id="trial-label">
            Trial
          </p>
          <SegmentedControl
            aria-labelledby="trial-label"
            value={values.trial}
            onChange={(trial) => form.set('trial', trial)}
            data={[
              { value: 'plan', label: plan === undefined ? 'As the plan' : `${plan.trial_days} days` },
              { value: 'none', label: 'None' },
              { value: 'until', label: 'Until …' },
            ]}
            fullWidth
          />
          {values.trial === 'until' && (
            <DateField label="End of the trial" isLabelHidden {...form.field('trial_end_date')} />
          )}
        </div>
        <TextInput
          label="External ID"
          placeholder="optional; makes it safe to send twice"
          {...form.field('external_id')}
        />
      </div>
      {preview.isEnabled && preview.data !== undefined && <WhatIsIssued preview={preview.data} />}
      {preview.isEnabled && !isToldAtFields(preview.error) && <ProblemBox error={preview.error} />}
    </FormDialog>
  );
}

function bodyOf({ customer_id, plan_id, external_id, start_date, billing_alignment, trial, trial_end_date }: Values) {
  return {
    billing_alignment,
    plan_id: plan_id ?? '',
    ...(customer_id !== null && { customer_id }),
    ...(external_id.trim() !== '' && { external_id: external_id.trim() }),
    ...(start_date !== '' && { start_date }),
    ...(trial === 'none' && { trial_end_date: null }),
    ...(trial === 'until' && { trial_end_date }),
  };
}

/** What a start at a date would make, asked of the API. What it refuses of the fields is told when the form is sent. */
function usePreview(values: Values) {
  const { external_id: _, ...body } = bodyOf(values);
  const isEnabled = values.start_date !== '' && values.plan_id !== null && values.customer_id !== null;
  const query = useQuery({
    queryKey: ['/api/v1/subscriptions/preview', body],
    queryFn: ({ signal }) => send(client.POST('/api/v1/subscriptions/preview', { body, signal })),
    enabled: isEnabled,
    retry: false,
  });
  return { ...query, isEnabled };
}

/** What passes is told where it is, since what it asks for is right. */
function isToldAtFields(error: unknown): boolean {
  return isOfWhatWasSent(error) && problemOf(error).code !== 'usage_moving';
}

function labelOf(invoices: number | undefined): string {
  if (invoices === undefined || invoices < 2) return 'Subscribe';
  return `Subscribe and make ${invoices} invoices`;
}

function WhatIsIssued({ preview }: { preview: Schema<'SubscriptionPreview'> }) {
  const {
    periods,
    invoices,
    first_period_start: first,
    last_period_end: last,
    finalizes_at,
    time_zone: zone,
  } = preview;
  if (preview.status === 'SCHEDULED')
    return (
      <p role="status">
        It is scheduled until <Time at={preview.current_period_start} zone={zone} />. Nothing is billed before, and no
        other subscription of the customer can bill its meters.
      </p>
    );
  if (first === null || last === null) return <p role="status">No invoice is made of it yet.</p>;
  return (
    <div className="callout" role="status">
      <p>
        {periods === 1 ? '1 period has' : `${periods} periods have`} begun by now.{' '}
        {invoices === 1
          ? 'One invoice is made at once, as a draft'
          : `${invoices} invoices are made at once, as drafts`}
        , for {formatDays(first, last, zone)}.{' '}
        {finalizes_at === null ? (
          'A draft stays one until somebody finalizes it.'
        ) : (
          <>
            A draft is finalized and numbered by itself on <Time at={finalizes_at} zone={zone} />.
          </>
        )}
      </p>
    </div>
  );
}

function firstOf(interval: Subscription['billing_interval'] | undefined): string {
  if (interval === 'day') return 'at midnight';
  if (interval === 'week') return 'on Monday';
  return interval === 'year' ? 'on 1 January' : 'on the first of the month';
}
