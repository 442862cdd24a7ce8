import { Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { slugOf } from '../text/typed-text.ts';
import { PLAIN_CHOICES, type Aggregation } from '../usage/aggregations.ts';

const FIRST: Aggregation = 'SUM';

/** A meter is made with the feature that it belongs to; here both have one name. */
export function NewMeterForm() {
  const queries = useQueryClient();
  const form = useForm({
    name: 'first-meter',
    initial: { name: '', aggregation_type: FIRST, unit: '' },
    onSubmit: async ({ name, aggregation_type: aggregation, unit }) => {
      await send(
        client.POST('/api/v1/features', {
          body: {
            name,
            // Nobody is asked for it here; a name in other letters gives none.
            lookup_key: slugOf(name) || 'meter-1',
            type: 'meter',
            aggregation_type: aggregation,
            ...(unit.trim() !== '' && { unit: unit.trim() }),
          },
        }),
      );
      await invalidate(queries, '/api/v1/meters', '/api/v1/features');
    },
  });
  return (
    <FormBox form={form} submitLabel="Make the meter">
      <div className="form-row">
        <TextInput label="Name" placeholder="Tokens" {...form.field('name')} />
        <Select label="It counts" data={PLAIN_CHOICES} allowDeselect={false} {...form.field('aggregation_type')} />
        <TextInput label="Unit" placeholder="token" {...form.field('unit')} />
      </div>
    </FormBox>
  );
}
