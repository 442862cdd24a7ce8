import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { plainDecimal, slugOf } from '../text/typed-text.ts';
import type { Meter } from '../usage/meters.ts';

/** A plan of one price. It includes the feature of the meter, as the editor of plans does. */
export function FirstPlanForm({ meter }: { meter: Meter }) {
  const queries = useQueryClient();
  const form = useForm({
    name: 'first-plan',
    initial: { name: 'Pay as you go', unit_price: '', currency: 'USD' },
    onSubmit: async ({ name, unit_price, currency }) => {
      await send(
        client.POST('/api/v1/plans', {
          body: {
            name,
            lookup_id: slugOf(name) || 'plan-1',
            type: 'USAGE',
            billing_interval: 'month',
            currency: currency.trim().toUpperCase(),
            charges: [
              {
                type: 'USAGE',
                model: 'per_unit',
                display_name: meter.name,
                meter_id: meter.id,
                unit_price: plainDecimal(unit_price),
              },
            ],
            features: meter.feature_id === null ? [] : [{ feature_id: meter.feature_id }],
          },
        }),
      );
      await invalidate(queries, '/api/v1/plans');
    },
  });
  return (
    <FormBox form={form} submitLabel="Make the plan">
      <div className="form-row">
        <TextInput label="Name of the plan" autoComplete="off" required {...form.field('name')} />
        <TextInput
          label="Price of a unit"
          inputMode="decimal"
          autoComplete="off"
          placeholder="0.01"
          required
          {...form.field('unit_price', 'charges[0].unit_price')}
        />
        <TextInput label="Currency" autoComplete="off" required {...form.field('currency')} />
      </div>
    </FormBox>
  );
}
