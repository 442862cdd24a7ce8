// The forms of an invoice: what was paid of it, how it ended, and a line that is added to a draft.

import { Checkbox, Textarea, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client, read, send, type Schema } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { invalidate } from '../api/queries.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { DateField } from '../components/forms/date-field.tsx';
import { useForm } from '../components/forms/form.tsx';
import { formatAmount } from '../text/decimals.ts';
import { formatDate } from '../text/instants.ts';
import { plainDecimal } from '../text/typed-text.ts';
import { OF_INVOICES, type InvoiceDialogProps } from './invoice-dialogs.ts';

export function PayForm({ invoice, zone, onClose }: InvoiceDialogProps & { zone: string }) {
  const queries = useQueryClient();
  const { id, amount_due: due, currency, status } = invoice;
  const isGivenUp = status === 'UNCOLLECTIBLE';
  const form = useForm({
    initial: { amount: due, reference: '', paid_at: '' },
    async onSubmit({ amount, reference, paid_at }) {
      const body = {
        // An empty one is refused: null would be all of it.
        amount: plainDecimal(amount),
        reference: reference.trim() || null,
        paid_at: paid_at || null,
      };
      await send(client.POST('/api/v1/invoices/{id}/pay', { params: { path: { id } }, body }));
      await invalidate(queries, ...OF_INVOICES);
      onClose();
    },
  });
  return (
    <FormDialog title="Mark as paid" submitLabel="Mark as paid" form={form} onClose={onClose}>
      <TextInput
        label={`Amount, ${currency}`}
        description={`${formatAmount(due, currency)} is ${isGivenUp ? 'unpaid' : 'due'}; with less it stays ${status.toLowerCase()}`}
        inputMode="decimal"
        {...form.field('amount')}
      />
      <TextInput
        label="Reference"
        description="What paid it, such as the id at the processor"
        data-autofocus
        {...form.field('reference')}
      />
      <DateField label="Paid on" description={`In ${zone}; empty: now`} {...form.field('paid_at')} />
    </FormDialog>
  );
}

export function TakeBackForm({ invoice, payment, onClose }: InvoiceDialogProps & { payment: Schema<'Payment'> }) {
  const queries = useQueryClient();
  const amount = formatAmount(payment.amount, invoice.currency);
  const form = useForm({
    initial: { note: '' },
    async onSubmit({ note }) {
      const path = { id: invoice.id, payment_id: payment.id };
      const body = { note: note.trim() || null };
      await send(client.DELETE('/api/v1/invoices/{id}/payments/{payment_id}', { params: { path }, body }));
      await invalidate(queries, ...OF_INVOICES);
      onClose();
    },
  });
  return (
    <FormDialog
      title={`Take the payment of ${amount} back?`}
      submitLabel="Take back"
      isDangerous
      form={form}
      onClose={onClose}
    >
      <p className="muted">
        It was recorded by mistake: {amount} is unpaid again. It stays in the list, with the note. No money moves by
        this.
      </p>
      <Textarea label="Note" data-autofocus {...form.field('note')} />
    </FormDialog>
  );
}

export function VoidForm({
  invoice,
  subscription,
  onClose,
}: InvoiceDialogProps & { subscription: Schema<'Subscription'> }) {
  const form = useEndForm({ note: '', rebill: false }, onClose, (body) =>
    send(client.POST('/api/v1/invoices/{id}/void', { params: { path: { id: invoice.id } }, body })),
  );
  return (
    <FormDialog title="Void this invoice?" submitLabel="Void the invoice" isDangerous form={form} onClose={onClose}>
      <p className="muted">
        {form.values.rebill
          ? `What it billed is billed again, ${whenBilled(subscription)}. What it took of credits goes back.`
          : 'What it billed is waived, and no later invoice bills it again. If its usage was wrong, void the events and bill it again: without that, the correction takes the amount off once more. What it took of credits goes back; what other invoices gave back of what it billed ends with it, for nobody has paid that. What it took away itself of what earlier invoices billed comes off the next one.'}{' '}
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

export function UncollectibleForm({ invoice, onClose }: InvoiceDialogProps) {
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
