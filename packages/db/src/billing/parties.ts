// Seller and buyer of an invoice, field by field, as an electronic invoice (EN 16931) names them. They are copied when an invoice is
// finalized, and stay as they were. What of a customer makes the buyer: customer-fields.ts.

export const PARTY_FIELDS = [
  'legal_name',
  /** A VAT id, or what a country has in its place. */
  'tax_id',
  'address_line1',
  'address_line2',
  'city',
  'state',
  'postal_code',
  /** ISO 3166-1 alpha-2. */
  'country',
] as const;

export type PartyField = (typeof PARTY_FIELDS)[number];

/** One of the two sides of an invoice. What was not given is null. */
export type Party = Record<PartyField, string | null>;
