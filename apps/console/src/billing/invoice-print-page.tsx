// The invoice as a document: on paper, and as the PDF that a browser makes of it.

import { Button } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import type { Schema } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { describeCharge } from '../catalog/charge-words.ts';
import { formatAmount, formatDecimal } from '../text/decimals.ts';
import { formatDay } from '../text/instants.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Page } from '../components/page/page.tsx';
import { InvoiceTotals, isZero, periodOf } from './invoice-lines.tsx';
import { useInvoice } from './invoice-page.tsx';
import './invoice.css';

export function InvoicePrintPage() {
  const { invoiceId } = useParams({ strict: false }) as { invoiceId: string };
  const query = useInvoice(invoiceId);
  return (
    <Loaded query={query} rows={12}>
      {({ invoice, zone }) => (
        <Page
          title={invoice.invoice_number ?? 'Draft invoice'}
          above={
            <Link to="/invoices/$invoiceId" params={{ invoiceId }}>
              {invoice.invoice_number ?? 'Draft invoice'}
            </Link>
          }
          actions={<Button onClick={() => window.print()}>Print, or save as PDF</Button>}
        >
          <Paper invoice={invoice} zone={zone} />
        </Page>
      )}
    </Loaded>
  );
}

function Paper({ invoice, zone }: { invoice: Invoice; zone: string }) {
  const { organization } = useSession();
  const { currency, status } = invoice;
  const facts: [string, string | null][] = [
    ['Invoice number', invoice.invoice_number ?? 'draft'],
    ['Issued', dayOf(invoice.issue_date)],
    ['Due', dayOf(invoice.due_date)],
    ['Period', periodOf(invoice, zone)],
    ['Reference', invoice.reference],
  ];
  return (
    <article className="paper" aria-label="Invoice">
      <header className="paper-head">
        <h2>{status === 'DRAFT' ? 'Draft invoice' : 'Invoice'}</h2>
        <address className="paper-seller">{sellerOf(invoice) ?? organization.name}</address>
      </header>
      <div className="paper-parties">
        <div>
          <h3>Billed to</h3>
          <address>{buyerOf(invoice)}</address>
        </div>
        <dl className="paper-facts">
          {facts
            .filter(([, value]) => value !== null)
            .map(([name, value]) => (
              <div key={name} className="paper-fact">
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
        </dl>
      </div>
      <table>
        <thead>
          <tr>
            <th scope="col">Description</th>
            <th scope="col">Period</th>
            <th scope="col" className="is-number">
              Quantity
            </th>
            <th scope="col" className="is-number">
              Amount
            </th>
          </tr>
        </thead>
        <tbody>
          {invoice.lines.filter(saysSomething).map((line) => (
            <tr key={line.id}>
              <td>
                {line.description}
                {line.charge !== null && <span className="line-notes">{describeCharge(line.charge, currency)}</span>}
              </td>
              <td>{periodOf(line, zone)}</td>
              <td className="is-number">{line.quantity === null ? '' : formatDecimal(line.quantity)}</td>
              <td className="is-number">{formatAmount(line.amount, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <InvoiceTotals invoice={invoice} />
      <p className="paper-note">{noteOf(invoice)}</p>
      {letterheadOf(invoice) !== null && <address className="paper-note">{letterheadOf(invoice)}</address>}
    </article>
  );
}

const dayOf = (date: string | null): string | null => (date === null ? null : formatDay(date));

/** What was neither used nor comes to an amount is left out on paper. What is included in the plan and was used stays. */
function saysSomething({ amount, quantity }: Schema<'InvoiceLine'>): boolean {
  return !isZero(amount) || (quantity !== null && !isZero(quantity));
}

type Invoice = Schema<'InvoiceWithLines'>;

/** Who sells: field by field where that is known, else in the lines of the settings as they were. */
function sellerOf({ seller, issuer }: Invoice): string | null {
  return seller === null ? issuer : linesOfParty(seller);
}

/** The lines of the settings, where they say something beside the fields: a bank account stands there. */
function letterheadOf({ seller, issuer }: Invoice): string | null {
  return seller === null || issuer === null || !issuer.includes('\n') ? null : issuer;
}

/** To whom: field by field, with the address for mail; without the fields as the customer was. */
function buyerOf({ buyer, customer }: Invoice): string {
  if (buyer === null) return addressOf(customer);
  const free = textOf(customer, 'billing_address_country');
  const lines = linesOfParty({ ...buyer, country: free === '' ? buyer.country : free });
  return [lines === '' ? textOf(customer, 'external_id') : lines, textOf(customer, 'email')].filter(Boolean).join('\n');
}

function linesOfParty({ legal_name, address_line1, address_line2, ...rest }: Schema<'Party'>): string {
  const city = `${rest.postal_code ?? ''} ${rest.city ?? ''}`.trim();
  const taxId = rest.tax_id === null ? null : `Tax id ${rest.tax_id}`;
  return [legal_name, address_line1, address_line2, city, rest.state, rest.country, taxId].filter(Boolean).join('\n');
}

function textOf(customer: Record<string, unknown> | null, field: string): string {
  const value = customer?.[field];
  return typeof value === 'string' ? value : '';
}

const ADDRESS = ['name', 'billing_address_line1', 'billing_address_city', 'billing_address_state'] as const;

/** Name and address as they were when it was finalized; a draft has none yet. */
function addressOf(customer: Record<string, unknown> | null): string {
  if (customer === null) return 'Name and address of the customer, as they will be when it is finalized';
  const text = (field: string) => textOf(customer, field);
  const city = `${text('billing_address_postal_code')} ${text('billing_address_city')}`.trim();
  const lines = ADDRESS.map((field) => (field === 'billing_address_city' ? city : text(field)));
  const [name, ...others] = lines;
  return [name || text('external_id'), ...others, text('billing_address_country'), text('email')]
    .filter((line) => line !== '')
    .join('\n');
}

function noteOf({ status, due_date, currency, amount_due, note }: Invoice): string {
  if (status === 'VOID') return `This invoice is void.${note === null ? '' : ` ${note}`}`;
  if (status === 'PAID') return 'Paid. Thank you.';
  if (status === 'DRAFT') return 'A draft: amounts may still change.';
  return `Please pay ${formatAmount(amount_due, currency)}${due_date === null ? '' : ` by ${formatDay(due_date)}`}.`;
}
