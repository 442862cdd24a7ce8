// The lines of an invoice, of a draft or of a preview, and what they come to.

import { Link } from '@tanstack/react-router';
import type { Schema } from '../api/client.ts';
import { describeBriefly } from '../catalog/charge-words.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { formatAmount, formatDecimal } from '../text/decimals.ts';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { formatDays } from '../text/instants.ts';
import './invoice.css';

type Line = Omit<Schema<'InvoiceLine'>, 'id'> & { id?: string };

interface Totals {
  status: Schema<'Invoice'>['status'];
  currency: string;
  subtotal: string;
  tax: string;
  total: string;
  credits_applied: string;
  amount_paid: string;
  amount_due: string;
}

interface InvoiceLinesProps {
  invoice: { currency: string; lines: readonly Line[] };
  /** Of the subscription: its periods are of whole days there. */
  zone: string;
  /** Of an invoice that is there: what is behind its lines has an address. */
  invoiceId?: string;
  /** Beside lines that were added by hand, while the invoice is a draft. */
  onRemove?: ((line: Schema<'InvoiceLine'>) => void) | undefined;
}

export function InvoiceLines({ invoice, zone, invoiceId, onRemove }: InvoiceLinesProps) {
  const { currency, lines } = invoice;
  const rows = lines.map((line, index) => ({ line, key: line.id ?? String(index) }));
  const columns: Column<(typeof rows)[number]>[] = [
    {
      title: 'Description',
      cell: ({ line }) => (
        <>
          <Title line={line} invoiceId={invoiceId} />
          <span className="line-notes">{notesOf(line, currency)}</span>
        </>
      ),
    },
    { title: 'Period', cell: ({ line }) => periodOf(line, zone), isExtra: true, isTight: true },
    {
      title: 'Quantity',
      cell: ({ line }) => (line.quantity === null ? '' : formatDecimal(line.quantity)),
      isNumber: true,
    },
    { title: 'Amount', cell: ({ line }) => formatAmount(line.amount, currency), isNumber: true },
    ...(onRemove === undefined || lines.every(({ kind }) => kind !== 'ADJUSTMENT')
      ? []
      : [
          {
            title: 'Changes',
            isTitleHidden: true,
            isTight: true,
            cell: ({ line }: (typeof rows)[number]) =>
              line.kind === 'ADJUSTMENT' && (
                <RowMenu
                  label={`Actions on ${line.description}`}
                  items={[
                    {
                      label: 'Take off',
                      onClick: () => onRemove(line as Schema<'InvoiceLine'>),
                      isDangerous: true,
                    },
                  ]}
                />
              ),
          },
        ]),
  ];
  return (
    <DataTable
      label="Lines"
      columns={columns}
      rows={rows}
      keyOf={({ key }) => key}
      empty="No line: nothing is due yet."
    />
  );
}

function Title({ line, invoiceId }: { line: Line; invoiceId: string | undefined }) {
  const late = line.kind === 'LATE_USAGE' && <span className="status status-warn">late</span>;
  if (invoiceId === undefined || line.id === undefined || line.quantity === null)
    return (
      <span className="line-title">
        {line.description} {late}
      </span>
    );
  return (
    <span className="line-title">
      <Link
        to="/invoices/$invoiceId"
        params={{ invoiceId }}
        search={{ line: line.id }}
        resetScroll={false}
        className="row-link"
      >
        {line.description}
      </Link>{' '}
      {late}
    </span>
  );
}

/** What explains the amount of a line: its price, the days, and what was billed before. */
function notesOf(line: Line, currency: string): string {
  return [
    line.charge === null ? '' : describeBriefly(line.charge, currency),
    line.days === null ? '' : `${line.days} days`,
    isZero(line.billed_before) ? '' : `${formatAmount(line.billed_before, currency)} billed before`,
    line.waived === null ? '' : `${formatAmount(line.waived, currency)} waived`,
  ]
    .filter((note) => note !== '')
    .join(' · ');
}

/** The dates of a period, both counted: it ends before the first instant of the next one. */
export function periodOf(
  { period_start, period_end }: Pick<Line, 'period_start' | 'period_end'>,
  zone: string,
): string {
  if (period_start === null || period_end === null) return '';
  return formatDays(period_start, period_end, zone);
}

function isZero(amount: string): boolean {
  return /^-?0*(\.0*)?$/.test(amount);
}

/** Nobody owes a draft yet, and nobody asks any more for what was given up. */
const DUE_WORDS: { [Status in Totals['status']]?: string } = { DRAFT: 'So far', UNCOLLECTIBLE: 'Unpaid' };

/** The sum, and what is left of it: nobody asks for that once the invoice was given up. */
export function InvoiceTotals({ invoice }: { invoice: Totals }) {
  const { status, currency, tax, credits_applied: credits, amount_paid: paid } = invoice;
  const rows = [
    ...(isZero(tax)
      ? []
      : [
          ['Subtotal', invoice.subtotal],
          ['Tax', tax],
        ]),
    ['Total', invoice.total],
    ...(isZero(credits) ? [] : [['Credits', `-${credits}`]]),
    ...(isZero(paid) ? [] : [['Paid', `-${paid}`]]),
    [DUE_WORDS[status] ?? 'Amount due', invoice.amount_due],
  ];
  return (
    <dl className="totals">
      {rows.map(([name, amount]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{formatAmount(amount, currency)}</dd>
        </div>
      ))}
    </dl>
  );
}
