// What was paid of an invoice: recorded by an admin, in one payment or several, and taken back where it was a mistake.

import { useState } from 'react';
import type { Schema } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { lazily } from '../components/page/lazily.tsx';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { Section } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';
import { formatAmount } from '../text/decimals.ts';

const TakeBackForm = lazily(() => import('./invoice-forms.tsx').then((loaded) => loaded.TakeBackForm));

type Payment = Schema<'Payment'>;

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
