// Seller and buyer of an invoice, field by field, as an electronic invoice names them.

import type { Party, PartyField } from '@weir/db/billing/parties';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { answerOf, countryCode, displayName } from '../http/fields.ts';

const field = (max: number) => text(1, max).nullable().default(null);

/** As it is sent: what is left out is null. */
export const partyBody = z.strictObject({
  legal_name: displayName,
  tax_id: field(LIMITS.shortText).meta({ description: 'A VAT id, or what a country has in its place.' }),
  address_line1: field(LIMITS.name),
  address_line2: field(LIMITS.name),
  city: field(LIMITS.name),
  state: field(LIMITS.name),
  postal_code: field(LIMITS.postalCode),
  country: countryCode.nullable().default(null),
} satisfies Record<PartyField, z.ZodType>);

const textOrNull = z.string().nullable();

/** As it is answered. */
export const party = answerOf<Party>()({
  legal_name: textOrNull,
  tax_id: textOrNull,
  address_line1: textOrNull,
  address_line2: textOrNull,
  city: textOrNull,
  state: textOrNull,
  postal_code: textOrNull,
  country: textOrNull.meta({ description: 'Two letters of ISO 3166-1.' }),
}).meta({ id: 'Party' });
