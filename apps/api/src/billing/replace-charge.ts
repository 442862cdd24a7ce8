// A price is changed in one step: one transaction ends a charge and adds the one in its place, at one instant. So a boundary meets
// exactly one of them.

import { getBillingSettings } from '@weir/db/billing/billing-settings';
import { endChargeAt, lockCharge, takeBackCharge, type Charge, type Place } from '@weir/db/billing/plans/charges';
import type { Queries } from '@weir/db/database';
import { microsInZone } from '@weir/shared/date-or-instant';
import { Refusal } from '@weir/shared/errors';
import { isoOf, microsOfText, type Micros } from '@weir/shared/instant';
import { invalidFields } from '../http/problem.ts';
import { refuseTooFarAhead } from './months-ahead.ts';

interface Replacement {
  planId: string;
  /** The charge that is to end, if one is. */
  replaces: string | undefined;
  /** As it was sent. */
  effective_from: string | undefined;
  /** Of the charge that is to begin: null where it is FIXED. */
  meter_id: string | null;
  now: Micros;
}

/**
 * Returns where a charge is to stand, and ends the one whose place it takes. Throws a Refusal where it cannot be. Expects the plan
 * locked.
 */
export async function takePlace(
  transaction: Queries,
  organizationId: string,
  { planId, replaces, effective_from, meter_id, now }: Replacement,
): Promise<Place> {
  const replaced =
    replaces === undefined
      ? undefined
      : await lockReplaced(transaction, organizationId, { planId, id: replaces, meter_id });
  // One that has not begun gives its place away in the instant in which it would have begun, unless another one is named.
  const soonest = replaced === undefined ? now : Math.max(now, microsOfText(replaced.effective_from));
  let at = soonest;
  if (effective_from !== undefined) {
    const { time_zone } = await getBillingSettings(transaction, organizationId);
    at = microsInZone(effective_from, time_zone);
    checkInstant(at, { now, soonest, timeZone: time_zone });
  }
  if (replaced !== undefined) await endChargeAt(transaction, organizationId, { id: replaced.id, at: isoOf(at) });
  return { replaces: replaced?.id ?? null, effective_from: isoOf(at) };
}

async function lockReplaced(
  transaction: Queries,
  organizationId: string,
  { planId, id, meter_id }: { planId: string; id: string; meter_id: string | null },
): Promise<Charge> {
  const replaced = await lockCharge(transaction, organizationId, { planId, id });
  if (replaced === undefined)
    throw new Refusal('not_found', 'The plan has no charge with the id in replaces: see GET /api/v1/plans/{id}.');
  if (replaced.meter_id !== meter_id) {
    const message = 'must be a charge of the same meter, or a FIXED one where the new one is FIXED';
    throw invalidFields([{ path: 'replaces', message }]);
  }
  if (replaced.ended_at !== null) throw new Refusal('charge_inactive', whyEnded(replaced, replaced.ended_at));
  return replaced;
}

/**
 * Ends what a person no longer wants: returns true where the charge is to end now, false where it had not begun and was taken back.
 * Throws a Refusal for one whose place another charge is to take.
 */
export async function mayEndNow(
  transaction: Queries,
  organizationId: string,
  charge: Charge,
  now: Micros,
): Promise<boolean> {
  if (charge.status === 'INACTIVE') return true;
  if (charge.ended_at !== null) throw new Refusal('charge_inactive', whyEnded(charge, charge.ended_at));
  if (microsOfText(charge.effective_from) <= now) return true;
  await takeBackCharge(transaction, organizationId, charge);
  return false;
}

function whyEnded({ status }: Charge, endedAt: string): string {
  return status === 'INACTIVE'
    ? 'The charge has ended: name the one that is in force, or add a charge without replaces.'
    : `The charge ends at ${endedAt}, when another one takes its place: name that one, or take it back with status INACTIVE first.`;
}

function checkInstant(
  at: Micros,
  { now, soonest, timeZone }: { now: Micros; soonest: Micros; timeZone: string },
): void {
  const refuse = (message: string) => invalidFields([{ path: 'effective_from', message }]);
  if (at < now) throw refuse('must not be in the past');
  if (at < soonest) throw refuse(`must not be before the replaced charge begins, at ${isoOf(soonest)}`);
  refuseTooFarAhead('effective_from', at, { now, timeZone });
}
