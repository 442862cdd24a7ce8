import { SegmentedControl, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { client, send, type Opened, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useForm } from '../components/forms/form.tsx';
import { nothingFound } from '../components/outcomes/nothing-found.ts';
import { CustomerSelect } from '../customers/customer-select.tsx';
import { plainDecimal } from '../text/typed-text.ts';
import { MeterSelect, NO_METER } from '../usage/meter-select.tsx';
import { useMeters } from '../usage/meters.ts';

type Alert = Schema<'Alert'>;

interface AlertFormProps {
  /** The one to change; without it a new one is made. */
  opened?: Opened<Alert>;
  onSaved: (alert: Alert) => void;
  onClose: () => void;
}

interface AlertValues {
  name: string;
  watched: 'usage' | 'amount';
  meter_id: string | null;
  customer_id: string | null;
  /** As they are typed. */
  thresholds: string;
}

/** What is typed, one threshold after the other; commas group thousands. */
const thresholdsOf = (typed: string): string[] => typed.split(/\s+/).filter(Boolean).map(plainDecimal);

const valuesOf = (alert: Alert | undefined): AlertValues => ({
  name: alert?.name ?? '',
  watched: 'usage',
  meter_id: null,
  customer_id: null,
  thresholds: alert?.thresholds.join(' ') ?? '',
});

export function AlertForm({ opened, onSaved, onClose }: AlertFormProps) {
  const queries = useQueryClient();
  const alert = opened?.data;
  const meters = useMeters();
  const form = useForm<AlertValues>({
    ...(alert === undefined && { name: 'alert' }),
    initial: valuesOf(alert),
    reload: opened && (async () => valuesOf(await opened.reload())),
    async onSubmit({ name, watched, meter_id, customer_id, thresholds: typed }) {
      const own = { name: name.trim(), thresholds: thresholdsOf(typed) };
      const what = watched === 'amount' ? { subscription_amount: true } : { ...(meter_id !== null && { meter_id }) };
      const whose = customer_id !== null && { customer_id };
      const saved = await (opened === undefined
        ? send(client.POST('/api/v1/alerts', { body: { ...own, ...what, ...whose } }))
        : opened.change((PATCH) =>
            PATCH('/api/v1/alerts/{id}', { params: { path: { id: opened.data.id } }, body: own }),
          ));
      await invalidate(queries, '/api/v1/alerts', '/api/v1/alerts/{id}');
      onSaved(saved);
    },
  });
  const { values } = form;
  const isUsage = values.watched === 'usage';
  return (
    <FormDialog
      title={alert === undefined ? 'New alert' : `Edit ${alert.name}`}
      submitLabel={alert === undefined ? 'Create the alert' : 'Save'}
      form={form}
      onClose={onClose}
    >
      <TextInput label="Name" placeholder="Nearly used up" data-autofocus required {...form.field('name')} />
      {alert === undefined && (
        <>
          <SegmentedControl
            aria-label="Watches"
            value={values.watched}
            onChange={(watched) => form.set('watched', watched)}
            data={[
              { value: 'usage', label: 'Usage of a meter' },
              { value: 'amount', label: 'Amount of usage' },
            ]}
            fullWidth
          />
          {isUsage ? (
            <>
              <MeterSelect
                meters={meters.data ?? []}
                value={values.meter_id}
                onChange={(id) => form.set('meter_id', id)}
                placeholder="Choose a meter"
                nothing={nothingFound(meters, NO_METER)}
              />
              {form.errorAt('meter_id') !== undefined && <p className="field-error">{form.errorAt('meter_id')}</p>}
            </>
          ) : (
            <p className="muted">
              What usage comes to in the open period of each subscription, without its fixed prices, in its own
              currency: a threshold of 1,000 is reached by 1,000 JPY as by 1,000 USD.
            </p>
          )}
          <CustomerSelect label="Customer (empty: all)" {...form.field('customer_id')} />
        </>
      )}
      <TextInput
        label="Thresholds"
        description="From low to high, with a space between them. Each is told once in a billing period."
        placeholder="8,000 10,000"
        required
        {...form.field('thresholds')}
      />
    </FormDialog>
  );
}
