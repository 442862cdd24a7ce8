// What was paid of an invoice: recorded by an admin, in one payment or several, and taken back where it was a mistake.

import { Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { DateField } from '../components/forms/date-field.tsx';
import { useForm } from '../components/forms/form.tsx';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { Section } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';
import { formatAmount } from '../text/decimals.ts';
import { plainDecimal } from '../text/typed-text.ts';
import { OF_INVOICES, type InvoiceDialogProps } from './invoice-dialogs.ts';

type Payment = Schema<'Payment'>;

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

export function InvoicePayments({ invoice, zone }: { invoice: Schema<'InvoiceWithLines'>; zone: string }) {
  const { role } = useSession();
  const [taking, setTaking] = useState<Payment>();
  const { payments, currency } = invoice;
  if (payments.length === 0) return null;
  const status = ({ taken_back_at: at, note }: Payment) =>
    at === null ? (
      'counts'
    ) : (
      <>
        taken back <Time at={at} zone={zone} />
        {note !== null && <span className="line-notes">{note}</span>}
      </>
    );
  const columns: Column<Payment>[] = [
    {
      title: 'Paid',
      cell: (payment) => (
        <>
          <Time at={payment.paid_at} zone={zone} />
          <span className="only-phone">{payment.reference}</span>
          <span className="only-phone muted">{status(payment)}</span>
        </>
      ),
    },
    { title: 'Reference', cell: ({ reference }) => reference, isBelowOnPhone: true },
    { title: 'Status', cell: status, isBelowOnPhone: true },
    { title: 'Amount', cell: ({ amount }) => formatAmount(amount, currency), isNumber: true },
  ];
  if (role === 'admin') {
    columns.push({
      title: 'Change',
      isTitleHidden: true,
      isTight: true,
      cell: (payment) =>
        payment.taken_back_at === null && (
          <RowMenu
            label={`Actions on the payment of ${formatAmount(payment.amount, currency)}`}
            items={[{ label: 'Take back', onClick: () => setTaking(payment), isDangerous: true }]}
          />
        ),
    });
  }
  return (
    <Section title="Payments">
      <DataTable label="Payments" columns={columns} rows={payments} keyOf={({ id }) => id} empty={null} />
      {taking !== undefined && <TakeBackForm invoice={invoice} payment={taking} onClose={() => setTaking(undefined)} />}
    </Section>
  );
}

function TakeBackForm({ invoice, payment, onClose }: InvoiceDialogProps & { payment: Payment }) {
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
