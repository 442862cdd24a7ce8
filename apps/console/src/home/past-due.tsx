// Invoices that somebody should ask for: those that are past due, newest first.

import { Link } from '@tanstack/react-router';
import type { Answer, Schema } from '../api/client.ts';
import { totalOf } from '../api/pages.ts';
import { CustomerName } from '../billing/customer-name.tsx';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { Section } from '../components/page/page.tsx';
import { formatAmount, formatDecimal } from '../text/decimals.ts';
import { formatDay } from '../text/instants.ts';

type Invoice = Schema<'Invoice'>;

/** What is asked for. */
export const PAST_DUE = { is_past_due: 'true', page_size: 5 } as const;

const COLUMNS: Column<Invoice>[] = [
  {
    title: 'Number',
    cell: ({ id, invoice_number: number }) => (
      <Link className="row-link" to="/invoices/$invoiceId" params={{ invoiceId: id }}>
        {number}
      </Link>
    ),
  },
  { title: 'Customer', cell: ({ customer_id: id, customer }) => <CustomerName id={id} known={customer} /> },
  { title: 'Due', cell: ({ due_date: due }) => (due === null ? null : formatDay(due)), isExtra: true },
  { title: 'Amount due', isNumber: true, cell: ({ amount_due: due, currency }) => formatAmount(due, currency) },
];

export function PastDue({ invoices: { data, meta } }: { invoices: Answer<'/api/v1/invoices'> }) {
  if (data.length === 0) return null;
  const more = totalOf(meta) - data.length;
  return (
    <Section title="Past due">
      <DataTable label="Invoices past due" columns={COLUMNS} rows={data} keyOf={({ id }) => id} empty={null} />
      <p className="muted">
        {more > 0 && `And ${formatDecimal(more)} more. `}
        <Link to="/invoices" search={{ status: 'PAST_DUE' }}>
          List all that are past due
        </Link>
      </p>
    </Section>
  );
}
