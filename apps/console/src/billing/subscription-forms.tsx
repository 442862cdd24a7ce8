import '@mantine/core/styles/Radio.css';
import { Radio, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useForm } from '../components/forms/form.tsx';
import { formatLastDay } from '../text/instants.ts';
import { OF_SUBSCRIPTIONS } from './of-subscriptions.ts';

interface FormProps {
  subscription: Schema<'Subscription'>;
  onClose: () => void;
}

const NOW =
  'Usage counts up to now, and what is billed in advance for later days comes back, or off its draft. For good.';

export function CancelForm({ subscription, onClose }: FormProps) {
  const queries = useQueryClient();
  const isEnding = subscription.cancel_at_period_end;
  const form = useForm({
    initial: { when: isEnding ? 'now' : 'end', reason: '' },
    async onSubmit({ when, reason }) {
      await send(
        client.POST('/api/v1/subscriptions/{id}/cancel', {
          params: { path: { id: subscription.id } },
          body: { cancel_at_period_end: when === 'end', reason: reason.trim() || null },
        }),
      );
      await invalidate(queries, ...OF_SUBSCRIPTIONS);
      onClose();
    },
  });
  const lastDay = formatLastDay(subscription.current_period_end, subscription.time_zone);
  const isToCome = subscription.status === 'SCHEDULED';
  const what = isEnding ? 'Cancel the subscription now' : 'Cancel the subscription';
  return (
    <FormDialog title={`${what}?`} submitLabel={what} isDangerous form={form} onClose={onClose}>
      {isToCome && <p>It has not started, so it ends at once: nothing is billed, and its meters are free. For good.</p>}
      {!isToCome && isEnding && <p>It ends now, and not with its period. {NOW}</p>}
      {!isToCome && !isEnding && (
        <Radio.Group label="When" {...form.field('when')}>
          <div className="choices">
            <Radio
              value="end"
              label={`With its period: its last day is ${lastDay}`}
              description="Can be taken back until then."
            />
            <Radio value="now" label="Now" description={NOW} />
          </div>
        </Radio.Group>
      )}
      <Textarea label="Reason" {...form.field('reason')} />
    </FormDialog>
  );
}
