// Seller and buyer of an invoice, field by field, as an electronic invoice (EN 16931) names them. They are copied when an invoice is
// finalized, and stay as they were.

import { COUNTRIES } from '@weir/shared/countries';
import { sql, type RawBuilder } from 'kysely';

/** One of the two sides of an invoice. What was not given is null. */
export interface Party {
  legal_name: string | null;
  /** A VAT id, or what a country has in its place. */
  tax_id: string | null;
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  state: string | null;
  postal_code: string | null;
  /** ISO 3166-1 alpha-2. */
  country: string | null;
}

/**
 * The buyer that a row `c` of customers is, in SQL. Its name stands in for a legal name, and the country that was given as free text
 * for a code where it is one.
 */
export function buyerOfCustomer(): RawBuilder<unknown> {
  return sql`jsonb_build_object('legal_name', coalesce(c.legal_name, c.name), 'tax_id', c.tax_id,
    'address_line1', c.billing_address_line1, 'address_line2', c.billing_address_line2, 'city', c.billing_address_city,
    'state', c.billing_address_state, 'postal_code', c.billing_address_postal_code,
    'country', coalesce(c.billing_country_code,
      CASE WHEN upper(c.billing_address_country) = ANY (${COUNTRIES}::text[]) THEN upper(c.billing_address_country) END))`;
}
