// Changes of an invoice: an admin adds lines to a draft and finalizes it, and says of a finalized one what became of it.

import { Button, Checkbox, Textarea, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useOnward } from '../components/dialogs/leaving.ts';
import { useForm } from '../components/forms/form.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { formatAmount } from '../text/decimals.ts';
import { formatDate } from '../text/instants.ts';
import { plainDecimal } from '../text/typed-text.ts';
import { OF_INVOICES, type InvoiceDialogProps } from './invoice-dialogs.ts';
import { PayForm } from './invoice-payments.tsx';

type Invoice = Schema<'InvoiceWithLines'>;

/** The steps that an invoice can take from its status. */
export function InvoiceButtons({ invoice, subscription }: { invoice: Invoice; subscription: Schema<'Subscription'> }) {
  const queries = useQueryClient();
  const onward = useOnward();
  const [dialog, setDialog] = useState<'pay' | 'void' | 'uncollectible'>();
  const { id, status } = invoice;
  const { time_zone: zone } = subscription;
  const finalize = async () => {
    try {
      await send(client.POST('/api/v1/invoices/{id}/finalize', { params: { path: { id } } }));
    } catch (problem) {
      if (problemOf(problem).code !== 'not_found') throw problem;
      notify('Nothing was to be billed: the draft is gone.', 'noted');
      // Before its page asks for it again.
      await onward({ to: '/invoices' });
    }
    await invalidate(queries, ...OF_INVOICES);
  };
  const close = () => setDialog(undefined);
  const isPayable = status === 'OPEN' || status === 'UNCOLLECTIBLE';
  return (
    <>
      {status === 'DRAFT' && (
        <Confirm
          label="Finalize"
          title="Finalize this invoice now?"
          onConfirm={finalize}
          trigger={(open) => <Button onClick={open}>Finalize</Button>}
        >
          It gets its number, credits are drawn, and its amounts never change again. What comes in later for its period
          is on the next invoice.
        </Confirm>
      )}
      {isPayable && <Button onClick={() => setDialog('pay')}>Mark as paid</Button>}
      {status === 'OPEN' && (
        <Button variant="default" onClick={() => setDialog('uncollectible')}>
          Mark uncollectible
        </Button>
      )}
      {isPayable && (
        <Button variant="default" onClick={() => setDialog('void')}>
          Void
        </Button>
      )}
      {dialog === 'pay' && <PayForm invoice={invoice} zone={zone} onClose={close} />}
      {dialog === 'void' && <VoidForm invoice={invoice} subscription={subscription} onClose={close} />}
      {dialog === 'uncollectible' && <UncollectibleForm invoice={invoice} onClose={close} />}
    </>
  );
}

function VoidForm({ invoice, subscription, onClose }: InvoiceDialogProps & { subscription: Schema<'Subscription'> }) {
  const form = useEndForm({ note: '', rebill: false }, onClose, (body) =>
    send(client.POST('/api/v1/invoices/{id}/void', { params: { path: { id: invoice.id } }, body })),
  );
  return (
    <FormDialog title="Void this invoice?" submitLabel="Void the invoice" isDangerous form={form} onClose={onClose}>
      <p className="muted">
        {form.values.rebill
          ? `What it billed is billed again, ${whenBilled(subscription)}. What it took of credits goes back.`
          : 'What it billed is waived, and no later invoice bills it again. If its usage was wrong, void the events and bill it again: without that, the correction takes the amount off once more. What it took of credits goes back; what other invoices gave back of what it billed ends with it, for nobody has paid that.'}{' '}
        It keeps its number.
      </p>
      <LostCredits invoice={invoice} />
      <Textarea label="Note" {...form.field('note')} />
      <Checkbox
        label="Bill it again"
        description="Its charges are billed anew, as they are by then."
        {...form.checkbox('rebill')}
      />
    </FormDialog>
  );
}

/** By which invoice, and when there is one. */
function whenBilled({ status, current_period_end: end, time_zone: zone }: Schema<'Subscription'>): string {
  if (status === 'CANCELED') return 'by an invoice of its own, within the hour';
  return `by a draft of the subscription if there is one, else by its next invoice, which is made on ${formatDate(end, zone)}, or now by “Bill it now” on its page`;
}

function hasEnded({ credit_expires_at: end, credit_voided_at: voidedAt }: Schema<'CreditEntry'>): boolean {
  return voidedAt !== null || (end !== null && Date.parse(end) <= Date.now());
}

/** What it took of a credit that has ended since is not there any more when it goes back. */
function LostCredits({ invoice: { id } }: Pick<InvoiceDialogProps, 'invoice'>) {
  const query = { page: 1, page_size: PAGE_SIZE_MAX };
  const { data } = useQuery(read('/api/v1/invoices/{id}/credits', { path: { id }, query }));
  const lost = data?.data.filter((entry) => entry.invoice_id === id && hasEnded(entry));
  if (lost === undefined || lost.length === 0) return null;
  const amounts = lost.map(({ amount, currency }) => formatAmount(amount, currency)).join(' and ');
  return (
    <p className="muted">
      But {amounts} came of credit that has expired or was voided since: nothing of that is left. Grant it anew where
      the customer is to have it.
    </p>
  );
}

function UncollectibleForm({ invoice, onClose }: InvoiceDialogProps) {
  const form = useEndForm({ note: '' }, onClose, (body) =>
    send(client.POST('/api/v1/invoices/{id}/uncollectible', { params: { path: { id: invoice.id } }, body })),
  );
  return (
    <FormDialog title="Mark this invoice uncollectible?" submitLabel="Mark uncollectible" form={form} onClose={onClose}>
      <p className="muted">Nobody expects it to be paid any more. It can still be paid, or voided.</p>
      <Textarea label="Note" {...form.field('note')} />
    </FormDialog>
  );
}

/** A form that ends an invoice, with a note that may be left out. */
function useEndForm<Values extends { note: string }>(
  initial: Values,
  onClose: () => void,
  end: (body: Omit<Values, 'note'> & { note: string | null }) => Promise<unknown>,
) {
  const queries = useQueryClient();
  return useForm<Values>({
    initial,
    async onSubmit({ note, ...rest }) {
      await end({ ...rest, note: note.trim() || null });
      await invalidate(queries, ...OF_INVOICES);
      onClose();
    },
  });
}

export function AddLineForm({ invoice, onClose }: InvoiceDialogProps) {
  const queries = useQueryClient();
  const form = useForm({
    initial: { description: '', amount: '' },
    async onSubmit({ description, amount }) {
      const body = { description: description.trim(), amount: plainDecimal(amount) };
      await send(client.POST('/api/v1/invoices/{id}/lines', { params: { path: { id: invoice.id } }, body }));
      await invalidate(queries, ...OF_INVOICES);
      onClose();
    },
  });
  return (
    <FormDialog title="Add a line" submitLabel="Add line" form={form} onClose={onClose}>
      <TextInput label="Description" required data-autofocus {...form.field('description')} />
      <TextInput
        label={`Amount, ${invoice.currency}`}
        description="Below zero for what the customer gets back"
        inputMode="decimal"
        required
        {...form.field('amount')}
      />
    </FormDialog>
  );
}

export function useRemoveLine(id: string) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const removeLine = async (lineId: string): Promise<void> => {
    setError(null);
    try {
      const path = { id, line_id: lineId };
      await send(client.DELETE('/api/v1/invoices/{id}/lines/{line_id}', { params: { path } }));
    } catch (problem) {
      setError(problem);
    }
    await invalidate(queries, ...OF_INVOICES);
  };
  return { removeLine, error };
}
