// A charge as it is answered: what it is, and its terms.

import type { Charge } from '@weir/db/billing/plans/charges';
import { z } from 'zod';
import { time } from '../http/fields.ts';

const decimalText = z.string().meta({ description: 'A decimal.' });

const common = {
  id: z.uuid(),
  plan_id: z.uuid(),
  display_name: z.string(),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  created_at: time,
  effective_from: time.meta({ description: 'Periods that begin from here on are billed by it.' }),
  ended_at: time.nullable().meta({
    description: 'Periods that begin from here on are not. One in the future is where another charge takes its place.',
  }),
  replaces: z.uuid().nullable().meta({ description: 'The charge whose place it takes.' }),
};
const usage = {
  ...common,
  type: z.literal('USAGE'),
  meter_id: z.uuid(),
  minimum_amount: decimalText.nullable(),
  maximum_amount: decimalText.nullable(),
};
const tiers = z.array(z.object({ up_to: decimalText.nullable(), unit_price: decimalText, flat_fee: decimalText }));
const included_units = decimalText.nullable();

export const chargeAnswer = z
  .discriminatedUnion('type', [
    z.object({
      ...common,
      type: z.literal('FIXED'),
      meter_id: z.null(),
      timing: z.enum(['in_advance', 'in_arrears']),
      unit_price: decimalText,
    }),
    z.discriminatedUnion('model', [
      z.object({ ...usage, model: z.literal('per_unit'), unit_price: decimalText, included_units }),
      z.object({ ...usage, model: z.literal(['graduated', 'volume']), tiers }),
      z.object({
        ...usage,
        model: z.literal('package'),
        unit_price: decimalText,
        package_size: decimalText,
        included_units,
      }),
      z.object({
        ...usage,
        model: z.literal('percentage'),
        rate: decimalText,
        fixed_amount: decimalText.nullable(),
        included_units,
      }),
    ]),
  ])
  .meta({ id: 'Charge' });

/** Puts a charge into the form of its answer. */
export function answerCharge({ terms, ...charge }: Charge) {
  return { ...charge, ...terms } as z.output<typeof chargeAnswer>;
}
