// Which credits paid a part of an invoice, and which other invoices one below zero paid.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read, type Schema } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
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
  const entries = useQuery(
    read('/api/v1/invoices/{id}/credits', { path: { id }, query: { page: 1, page_size: PAGE_SIZE_MAX } }),
  );
  const from = ({ given_by_invoice_id: from, given_by_invoice_number: number }: Entry) =>
    from === null ? (
      <Link to="/customers/$customerId" params={{ customerId }}>
        credit of the customer
      </Link>
    ) : (
      <Named id={from} number={number} own={id} />
    );
  const to = ({ invoice_id: to, invoice_number: number }: Entry) =>
    to !== null && <Named id={to} number={number} own={id} />;
  const columns: Column<Entry>[] = [
    {
      title: 'When',
      cell: ({ created_at, kind }) => (
        <>
          <Time at={created_at} zone={zone} />
          <span className="only-phone muted">{WORDS[kind]}</span>
        </>
      ),
      isTight: true,
    },
    {
      title: 'From',
      cell: (entry) => (
        <>
          {from(entry)}
          {entry.invoice_id !== null && <span className="only-phone">to {to(entry)}</span>}
        </>
      ),
    },
    { title: 'To', cell: to, isBelowOnPhone: true },
    { title: 'What', cell: ({ kind }) => WORDS[kind], isTight: true, isBelowOnPhone: true },
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
