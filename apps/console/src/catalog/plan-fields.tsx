// What a plan is called, how often it is billed and in which currency.

import { Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { Form } from '../components/forms/form.tsx';
import { slugOf } from '../text/typed-text.ts';
import type { PlanDraft } from './plan-draft.ts';

interface PlanFieldsProps {
  form: Form<PlanDraft>;
  isNew: boolean;
  /** Its type, interval and currency are fixed once it has a charge or a subscription. */
  isPriced: boolean;
}

const CURRENCIES = ['USD', 'EUR', 'GBP', 'JPY', 'CHF', 'CAD', 'AUD', 'INR', 'BRL', 'SEK', 'NOK', 'DKK', 'PLN', 'SGD'];

const TYPES = [
  { value: 'HYBRID', label: 'Fixed and usage' },
  { value: 'USAGE', label: 'Usage only' },
  { value: 'FIXED', label: 'Fixed only' },
];

export function PlanFields({ form, isNew, isPriced }: PlanFieldsProps) {
  const { name, lookup_id: id } = form.values;
  return (
    <>
      <div className="form-row plan-fields">
        <TextInput
          label="Name"
          {...form.field('name')}
          onChange={({ currentTarget: { value } }) => {
            form.set('name', value);
            // The id of a new plan goes with its name, unless somebody has given it one.
            if (isNew && id === slugOf(name)) form.set('lookup_id', slugOf(value));
          }}
          autoComplete="off"
          required
        />
        <TextInput label="Lookup ID" {...form.field('lookup_id')} autoComplete="off" required />
        <Select
          label="Kinds of charges"
          data={TYPES}
          disabled={isPriced}
          allowDeselect={false}
          {...form.field('type')}
        />
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
      <Textarea label="Description" minRows={1} {...form.field('description')} />
      <Switch label="Takes new subscriptions" {...form.checkbox('is_active')} />
    </>
  );
}
