import { Select, Switch, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useForm } from '../components/forms/form.tsx';
import { slugOf, wholeNumber } from '../text/typed-text.ts';

type Plan = Schema<'Plan'>;

type Values = Pick<Plan, 'name' | 'lookup_id' | 'type' | 'billing_interval' | 'currency' | 'is_active'> & {
  trial_days: string;
  description: string;
};

interface PlanFormProps {
  /** The plan to change; without it, a new one is made. */
  plan?: Plan;
  /** Its type, interval and currency are fixed once it has a charge or a subscription. */
  isPriced?: boolean;
  onDone?: (plan: Plan) => void;
  onClose: () => void;
}

const CURRENCIES = ['USD', 'EUR', 'GBP', 'JPY', 'CHF', 'CAD', 'AUD', 'INR', 'BRL', 'SEK', 'NOK', 'DKK', 'PLN', 'SGD'];

const TYPES = [
  { value: 'HYBRID', label: 'Fixed and usage' },
  { value: 'USAGE', label: 'Usage only' },
  { value: 'FIXED', label: 'Fixed only' },
];

export function PlanForm({ plan, isPriced = false, onDone, onClose }: PlanFormProps) {
  const queries = useQueryClient();
  const [hasOwnId, setHasOwnId] = useState(plan !== undefined);
  const form = useForm<Values>({
    ...(plan === undefined && { name: 'plan' }),
    initial: {
      name: plan?.name ?? '',
      lookup_id: plan?.lookup_id ?? '',
      type: plan?.type ?? 'HYBRID',
      billing_interval: plan?.billing_interval ?? 'month',
      currency: plan?.currency ?? 'USD',
      trial_days: String(plan?.trial_days ?? 0),
      description: plan?.description ?? '',
      is_active: plan?.is_active ?? true,
    },
    async onSubmit({ type, billing_interval, currency, ...values }) {
      const body = {
        ...values,
        trial_days: wholeNumber(values.trial_days),
        description: values.description.trim() || null,
      };
      const terms = { type, billing_interval, currency: currency.trim().toUpperCase() };
      const saved = await (plan === undefined
        ? send(client.POST('/api/v1/plans', { body: { ...body, ...terms } }))
        : send(
            client.PATCH('/api/v1/plans/{id}', {
              params: { path: { id: plan.id } },
              body: isPriced ? body : { ...body, ...terms },
            }),
          ));
      await invalidate(queries, '/api/v1/plans', '/api/v1/plans/{id}');
      onClose();
      onDone?.(saved);
    },
  });
  return (
    <FormDialog
      title={plan === undefined ? 'New plan' : `Edit ${plan.name}`}
      submitLabel={plan === undefined ? 'Create plan' : 'Save'}
      size="lg"
      form={form}
      onClose={onClose}
    >
      <div className="form-row is-wide">
        <TextInput
          label="Name"
          {...form.field('name')}
          onChange={({ currentTarget: { value } }) => {
            form.set('name', value);
            if (!hasOwnId) form.set('lookup_id', slugOf(value));
          }}
          required
          data-autofocus
        />
        <TextInput
          label="Lookup id"
          {...form.field('lookup_id')}
          onChange={({ currentTarget: { value } }) => {
            setHasOwnId(true);
            form.set('lookup_id', value);
          }}
          required
        />
        <Select label="Charges" data={TYPES} disabled={isPriced} allowDeselect={false} {...form.field('type')} />
        <Select
          label="Billed every"
          data={['day', 'week', 'month', 'year']}
          disabled={isPriced}
          allowDeselect={false}
          {...form.field('billing_interval')}
        />
        <TextInput label="Currency" list="currencies" disabled={isPriced} required {...form.field('currency')} />
        <TextInput label="Days of trial" inputMode="numeric" {...form.field('trial_days')} />
      </div>
      <datalist id="currencies">
        {CURRENCIES.map((code) => (
          <option key={code} value={code}>
            {code}
          </option>
        ))}
      </datalist>
      <Textarea label="Description" {...form.field('description')} />
      <Switch label="Takes new subscriptions" {...form.checkbox('is_active')} />
    </FormDialog>
  );
}
