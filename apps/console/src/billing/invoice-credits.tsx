// Which credits paid a part of an invoice, and which other invoices one below zero paid.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read, type Schema } from '../api/client.ts';
import { totalOf } from '../api/pages.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { formatAmount } from '../text/decimals.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Section } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';

type Entry = Schema<'CreditEntry'>;

const WORDS: Record<Entry['kind'], string> = { DRAW: 'taken', RETURN: 'given back', VOID: 'ended' };

interface InvoiceCreditsProps {
  invoice: Pick<Schema<'Invoice'>, 'id' | 'customer_id'>;
  zone: string;
}

export function InvoiceCredits({ invoice, zone }: InvoiceCreditsProps) {
  const { id, customer_id: customerId } = invoice;
  const entries = useQuery(read('/api/v1/invoices/{id}/credits', { path: { id }, query: { page: 1, page_size: 100 } }));
  const columns: Column<Entry>[] = [
    { title: 'When', cell: ({ created_at }) => <Time at={created_at} zone={zone} />, isTight: true },
    {
      title: 'From',
      cell: ({ given_by_invoice_id: from, given_by_invoice_number: number }) =>
        from === null ? (
          <Link to="/customers/$customerId" params={{ customerId }}>
            credit of the customer
          </Link>
        ) : (
          <Named id={from} number={number} own={id} />
        ),
    },
    {
      title: 'To',
      cell: ({ invoice_id: to, invoice_number: number }) => to !== null && <Named id={to} number={number} own={id} />,
    },
    { title: 'What', cell: ({ kind }) => WORDS[kind], isTight: true },
    { title: 'Amount', cell: ({ amount, currency }) => formatAmount(amount, currency), isNumber: true },
  ];
  return (
    <Loaded query={entries} rows={1}>
      {({ data, meta }) =>
        data.length > 0 && (
          <Section title="Credits">
            <DataTable label="Credits" columns={columns} rows={data} keyOf={(entry) => entry.id} empty={null} />
            {totalOf(meta) > data.length && (
              <p className="muted">
                The first {data.length} of {totalOf(meta)} entries.
              </p>
            )}
          </Section>
        )
      }
    </Loaded>
  );
}

function Named({ id, number, own }: { id: string; number: string | null; own: string }) {
  if (id === own) return 'this invoice';
  return (
    <Link to="/invoices/$invoiceId" params={{ invoiceId: id }}>
      {number ?? 'an invoice'}
    </Link>
  );
}
