// A charge as it is sent. What comes out are the terms of packages/rating.

import type { ChargeTerms } from '@weir/rating/charge-terms';
import { compare, parseExact } from '@weir/rating/exact';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { changesOf, dateOrInstant, displayName, idOf, oneOf } from '../http/fields.ts';
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

const from = {
  effective_from: dateOrInstant.optional().meta({
    description:
      `Not in the past, and at most ${LIMITS.monthsAhead} months ahead; default: now. Periods that begin from then on are billed by it. ` +
      'ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the organization. Customers whose midnight comes ' +
      'earlier get the price a period later: an instant of the day before includes them.',
    examples: ['2027-01-01', '2027-01-01T00:00:00+01:00'],
  }),
};

const place = {
  replaces: idOf('must be the id of a charge of the plan')
    .optional()
    .meta({
      description:
        'The charge whose place this one takes, in one step: of the same meter, or FIXED as well. It ends in the instant in which ' +
        'this one begins, so each period is billed by one of them.',
    }),
  ...from,
};

/** A charge for a plan. */
export const chargeBody = sentCharge({ display_name: name, ...place }, { meter_id: meterId })
  .refine(isBounded, BOUNDED)
  .meta({ id: 'NewCharge' });

/** One of the charges that a plan is made with: there is none yet whose place it could take. */
const firstCharge = sentCharge({ display_name: name, ...from }, { meter_id: meterId })
  .refine(isBounded, BOUNDED)
  .meta({ id: 'FirstCharge' });

/** A plan has one price of a meter. */
function meterOnce(charges: readonly { type: string; meter_id?: string }[], { addIssue }: z.RefinementCtx): void {
  const meters = new Set<string>();
  for (const [index, { meter_id: meter }] of charges.entries()) {
    if (meter === undefined) continue;
    if (meters.has(meter))
      addIssue({ code: 'custom', path: [index, 'meter_id'], message: 'must be the meter of one charge only' });
    meters.add(meter);
  }
}

const atMost = (max: number) => [max, `must hold at most ${max} charges`] as const;

/** What a plan costs from the beginning. */
export const firstCharges = z
  .array(firstCharge)
  .max(...atMost(LIMITS.planCharges))
  .superRefine(meterOnce);

/** What is added to a plan that is there. */
export const addedCharges = z
  .array(chargeBody)
  .max(...atMost(LIMITS.planChargesAtOnce))
  .superRefine(meterOnce);

const changes = {
  display_name: displayName,
  status: oneOf(['ACTIVE', 'INACTIVE']).meta({
    description:
      'INACTIVE ends the charge, for good: from its next period on no subscription is billed by it. One that has not begun is taken ' +
      'back, and the charge whose place it would have taken goes on.',
  }),
};

export const chargeChanges = changesOf(changes);

/** What is changed of charges that a plan has, each once. */
export const changedCharges = z
  .array(
    z.strictObject({ id: idOf('must be the id of a charge of the plan'), ...z.strictObject(changes).partial().shape }),
  )
  .max(...atMost(LIMITS.planChargesAtOnce));

/** A charge that is only tried out: it needs no name and no meter. */
export const triedCharge = sentCharge({ display_name: name.optional() }, { meter_id: meterId.optional() })
  .refine(isBounded, BOUNDED)
  .meta({ id: 'TriedCharge' });

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
