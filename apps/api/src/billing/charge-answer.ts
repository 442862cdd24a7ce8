// A charge as it is answered: what it is, and its terms.

import type { Charge } from '@weir/db/billing/plans/charges';
import { z } from 'zod';
import { time } from '../http/fields.ts';
import { shownCharge } from './charge-models.ts';

export const chargeAnswer = shownCharge(
  {
    id: z.uuid(),
    plan_id: z.uuid(),
    display_name: z.string(),
    status: z.enum(['ACTIVE', 'INACTIVE']),
    created_at: time,
    effective_from: time.meta({ description: 'Periods that begin from here on are billed by it.' }),
    ended_at: time.nullable().meta({
      description:
        'Periods that begin from here on are not. One in the future is where another charge takes its place.',
    }),
    replaces: z.uuid().nullable().meta({ description: 'The charge whose place it takes.' }),
  },
  { meter_id: z.null() },
  { meter_id: z.uuid() },
).meta({ id: 'Charge' });

/** Puts a charge into the form of its answer. */
export function answerCharge({ terms, ...charge }: Charge): z.output<typeof chargeAnswer> {
  if (terms.type === 'FIXED') return { ...charge, meter_id: null, ...terms };
  const { meter_id } = charge;
  if (meter_id === null) throw new Error(`the charge ${charge.id} prices usage, and has no meter`);
  return { ...charge, meter_id, ...terms };
}
