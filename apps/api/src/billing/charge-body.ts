// A charge as it is sent. What comes out are the terms of packages/rating.

import type { ChargeTerms } from '@weir/rating/charge-terms';
import { compare, parseExact } from '@weir/rating/exact';
import { z } from 'zod';
import { displayName, idOf } from '../http/fields.ts';
import { sentCharge } from './charge-models.ts';

const name = displayName.meta({ description: 'What the lines of invoices are called.' });
const meterId = idOf('must be the id of a meter');

function isBounded(charge: ChargeTerms): boolean {
  if (charge.type === 'FIXED') return true;
  const { minimum_amount, maximum_amount } = charge;
  if (minimum_amount === null || maximum_amount === null) return true;
  return compare(parseExact(minimum_amount), parseExact(maximum_amount)) <= 0;
}

const BOUNDED = { path: ['minimum_amount'], error: 'must not be above maximum_amount' };

const place = {
  replaces: idOf('must be the id of a charge of the plan')
    .optional()
    .meta({
      description:
        'The charge whose place this one takes, in one step: of the same meter, or FIXED as well. It ends in the instant in which ' +
        'this one begins, so each period is billed by one of them.',
    }),
  effective_from: z
    .string()
    .optional()
    .meta({
      description:
        'Not in the past, and at most two years ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 ' +
        'with an offset; or a bare date, which is its first instant in the zone of the organization.',
      examples: ['2027-01-01', '2027-01-01T00:00:00+01:00'],
    }),
};

/** A charge for a plan. */
export const chargeBody = sentCharge({ display_name: name, ...place }, { meter_id: meterId }).refine(
  isBounded,
  BOUNDED,
);

/** A charge that is only tried out: it needs no name and no meter. */
export const triedCharge = sentCharge({ display_name: name.optional() }, { meter_id: meterId.optional() }).refine(
  isBounded,
  BOUNDED,
);

/** The terms of a charge that was sent: all of it but its name and its meter. */
export function termsOf(sent: z.output<typeof chargeBody> | z.output<typeof triedCharge>): ChargeTerms {
  const { display_name: _name, ...rest } = sent;
  const {
    replaces: _replaces,
    effective_from: _from,
    ...charge
  } = { replaces: undefined, effective_from: undefined, ...rest };
  if (charge.type === 'FIXED') return charge;
  const { meter_id: _meter, ...terms } = charge;
  return terms;
}
