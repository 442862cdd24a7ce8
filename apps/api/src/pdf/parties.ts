// Who issued an invoice, and to whom, as lines of an address.

import type { Party } from '@weir/db/billing/parties';
import type { Invoice } from '@weir/db/billing/invoices/invoices';

/** Field by field where that is known, else in the lines of the settings as they were when it was finalized. */
export function sellerOf({ seller, issuer }: Pick<Invoice, 'seller' | 'issuer'>, organization: string): string {
  return seller === null ? (issuer ?? organization) : linesOfParty(seller);
}

/** The lines of the settings, where they say something beside the fields: a bank account stands there. */
export function letterheadOf({ seller, issuer }: Pick<Invoice, 'seller' | 'issuer'>): string | undefined {
  return seller === null || issuer === null || !issuer.includes('\n') ? undefined : issuer;
}

/** As the customer was when the invoice was finalized; of a draft nothing is copied yet, and a copy may be erased. */
export function buyerOf({ buyer, customer, status }: Pick<Invoice, 'buyer' | 'customer' | 'status'>): string {
  if (buyer === null)
    return status === 'DRAFT'
      ? 'Name and address, as they will be when it is finalized'
      : 'Name and address have been erased';
  const text = (field: string) => (typeof customer?.[field] === 'string' ? customer[field] : '');
  // What was written down as text is what its mail is addressed with.
  const country = text('billing_address_country') || buyer.country;
  return linesOf([linesOfParty({ ...buyer, country }) || text('external_id'), text('email')]);
}

function linesOfParty({ legal_name, tax_id, address_line1, address_line2, city, state, ...rest }: Party): string {
  const town = [rest.postal_code, city].filter(Boolean).join(' ');
  return linesOf([legal_name, address_line1, address_line2, town, state, rest.country, tax_id && `Tax id ${tax_id}`]);
}

function linesOf(lines: (string | null)[]): string {
  return lines.filter((line) => line !== null && line !== '').join('\n');
}
