import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client, send } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { slugOf } from '../text/typed-text.ts';

/** The simplest meter: it counts events. It is made with the feature that it belongs to; here both have one name. */
export function NewMeterForm() {
  const queries = useQueryClient();
  const form = useForm({
    name: 'first-meter',
    initial: { name: 'API calls' },
    onSubmit: async ({ name }) => {
      await send(
        client.POST('/api/v1/features', {
          body: {
            name,
            // Nobody is asked for it here; a name in other letters gives none.
            lookup_key: slugOf(name) || 'meter-1',
            type: 'meter',
            aggregation_type: 'COUNT',
          },
        }),
      );
      await invalidate(queries, '/api/v1/meters', '/api/v1/features');
    },
  });
  return (
    <FormBox form={form} submitLabel="Make the meter">
      <TextInput label="Name of the meter" autoComplete="off" required {...form.field('name')} />
      <p className="muted">
        It counts how many events there are. Meters that add up quantities or count users are made among{' '}
        <Link to="/features">features and meters</Link>.
      </p>
    </FormBox>
  );
}
