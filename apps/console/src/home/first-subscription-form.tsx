import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Schema } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { FormBox, useForm } from '../components/forms/form.tsx';
import type { EventReceipt } from '../events/event-log.ts';
import { firstStart } from './first-start.ts';

interface FirstSubscriptionFormProps {
  plan: Schema<'Plan'>;
  /** What is counted already. */
  event: EventReceipt | undefined;
}

export function FirstSubscriptionForm({ plan, event }: FirstSubscriptionFormProps) {
  const queries = useQueryClient();
  const form = useForm({
    name: 'first-subscription',
    initial: { external_id: event?.customer_external_id ?? '' },
    onSubmit: async ({ external_id: typed }, known) => {
      // That of the event is taken to the letter: what is trimmed would be another customer, without that event.
      const external_id = typed === known.external_id ? typed : typed.trim();
      await send(client.POST('/api/v1/customers', { body: { external_id } })).catch((error: unknown) => {
        // Whoever has a record already is subscribed by it.
        if (problemOf(error).code !== 'external_id_taken') throw error;
      });
      const { time_zone: zone } = await send(client.GET('/api/v1/billing/settings'));
      const body = {
        customer_external_id: external_id,
        plan_id: plan.id,
        ...(event !== undefined && { start_date: firstStart(new Date(event.timestamp), zone) }),
      };
      await send(client.POST('/api/v1/subscriptions', { body }));
      await invalidate(queries, '/api/v1/subscriptions', '/api/v1/customers', '/api/v1/invoices', '/api/v1/overview');
    },
  });
  return (
    <FormBox form={form} submitLabel={`Subscribe to ${plan.name}`}>
      <TextInput
        label="Customer"
        description="What your services call it"
        autoComplete="off"
        required
        {...form.field('external_id')}
      />
    </FormBox>
  );
}
