// The fields of a customer, and what becomes of each: on invoices, which copy some of them when they are finalized, and when the customer
// is erased. A new column of customers does not compile before it stands here; the API's body and answer ask for it next.

import { COUNTRIES } from '@weir/shared/countries';
import { sql, type RawBuilder } from 'kysely';
import { PARTY_FIELDS, type PartyField } from './billing/parties.ts';
import type { Read } from './schema.ts';

/** A customer as it is read: all of its row but whose it is. */
export type Customer = Read<'customers'>;

type CustomerField = keyof Customer;

interface Fate {
  /** Whether an invoice copies it into `customer`, under its own name. */
  copied: boolean;
  /** The field of the `buyer` of an invoice that it is copied to; of two for one, the first that is given. */
  buyer: PartyField | null;
  /** `set`: request-move.ts says to what. */
  erased: 'kept' | 'emptied' | 'set';
  /** It may be what usage is grouped by: where a meter is, there is no erasure. */
  isName?: true;
}

const CUSTOMER_FIELDS = {
  id: { copied: true, buyer: null, erased: 'kept' },
  external_id: { copied: true, buyer: null, erased: 'set', isName: true },
  // Before the name, which stands in for it.
  legal_name: { copied: false, buyer: 'legal_name', erased: 'emptied' },
  name: { copied: true, buyer: 'legal_name', erased: 'emptied', isName: true },
  email: { copied: true, buyer: null, erased: 'emptied', isName: true },
  phone: { copied: true, buyer: null, erased: 'emptied', isName: true },
  tax_id: { copied: false, buyer: 'tax_id', erased: 'emptied' },
  billing_address_line1: { copied: true, buyer: 'address_line1', erased: 'emptied' },
  billing_address_line2: { copied: false, buyer: 'address_line2', erased: 'emptied' },
  billing_address_city: { copied: true, buyer: 'city', erased: 'emptied' },
  billing_address_state: { copied: true, buyer: 'state', erased: 'emptied' },
  billing_address_postal_code: { copied: true, buyer: 'postal_code', erased: 'emptied' },
  // Before the country as free text, which stands in for it where it is a code.
  billing_country_code: { copied: false, buyer: 'country', erased: 'emptied' },
  billing_address_country: { copied: true, buyer: 'country', erased: 'emptied' },
  metadata: { copied: false, buyer: null, erased: 'emptied' },
  time_zone: { copied: false, buyer: null, erased: 'kept' },
  created_at: { copied: false, buyer: null, erased: 'kept' },
  erased_at: { copied: false, buyer: null, erased: 'set' },
} as const satisfies Record<CustomerField, Fate>;

type Given = (typeof CUSTOMER_FIELDS)[CustomerField]['buyer'];

/** A field of the buyer that no field of a customer is copied to does not compile here. */
const BUYER_FIELDS: readonly Given[] = PARTY_FIELDS;

const fates = Object.entries(CUSTOMER_FIELDS) as [CustomerField, Fate][];

const fieldsWhere = (is: (fate: Fate) => boolean) => fates.flatMap(([field, fate]) => (is(fate) ? [field] : []));

/** All columns of a customer but whose it is. */
export const CUSTOMER_COLUMNS = fieldsWhere(() => true);

/** The names of a customer. */
export const CUSTOMER_NAMES = fieldsWhere(({ isName }) => isName === true);

/** The copy that an invoice has of a row `c` of customers, in SQL. */
export function copyOfCustomer(): RawBuilder<unknown> {
  return objectOf(fieldsWhere(({ copied }) => copied).map((field) => [field, column(field)]));
}

/** The buyer that a row `c` of customers is, in SQL, field by field. */
export function buyerOfCustomer(): RawBuilder<unknown> {
  return objectOf(
    BUYER_FIELDS.map((field) => {
      const given = fieldsWhere(({ buyer }) => buyer === field).map(valueForBuyer);
      return [String(field), sql`coalesce(${sql.join(given)})`];
    }),
  );
}

/** What an erasure sets, in SQL, beside what its own values are for. */
export function emptyingCustomer(): RawBuilder<unknown> {
  const emptied = fieldsWhere(({ erased }) => erased === 'emptied');
  return sql.join(emptied.map((field) => sql`${sql.ref(field)} = DEFAULT`));
}

function column(field: CustomerField): RawBuilder<unknown> {
  return sql.ref(`c.${field}`);
}

/** Free text is a country only where it is the code of one. */
function valueForBuyer(field: CustomerField): RawBuilder<unknown> {
  if (field !== 'billing_address_country') return column(field);
  const code = sql`upper(${column(field)})`;
  return sql`CASE WHEN ${code} = ANY (${COUNTRIES}::text[]) THEN ${code} END`;
}

function objectOf(members: readonly (readonly [string, RawBuilder<unknown>])[]): RawBuilder<unknown> {
  return sql`jsonb_build_object(${sql.join(members.map(([name, value]) => sql`${sql.lit(name)}, ${value}`))})`;
}
