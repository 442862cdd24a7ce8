// Adds charges to a plan, and renames or ends those that it has: one of them, or many in one step. Expects
// the plan locked (lock 5 of decision 94), and features that the same step puts there, which come before meters (6).

import type { ChargeType } from '@weir/billing/kinds';
import { billMeterOfPlan, releaseMetersOfPlan } from '@weir/db/billing/subscriptions/billed-meters';
import {
  insertCharge,
  lockCharge,
  readPlanSize,
  updateCharge,
  type Charge,
  type PlanSize,
} from '@weir/db/billing/plans/charges';
import type { Queries } from '@weir/db/database';
import { lockMeter } from '@weir/db/meters';
import type { Plan } from '@weir/db/plans';
import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { isoOf, type Micros } from '@weir/shared/instant';
import { LIMITS } from '@weir/shared/limits';
import type { z } from 'zod';
import { found, invalidFields, refusedAt } from '../http/problem.ts';
import { termsOf, type chargeBody, type chargeChanges } from './charge-body.ts';
import { mayEndNow, takePlace } from './replace-charge.ts';

export const NO_SUCH_METER = 'Your organization has no meter with this meter_id: see GET /api/v1/meters.';

/** Changes of one plan that are made in one step. */
interface Step {
  /** Of all of them: what the clock says once the plan is locked. Whoever subscribed to it until then did so before this. */
  now: Micros;
  /** The name of the list in which they were sent, where they were. */
  list?: string;
}

interface Added extends Step {
  charges: readonly z.output<typeof chargeBody>[];
}

interface Changed extends Step {
  charges: readonly (z.output<typeof chargeChanges> & { id: string })[];
}

/** Adds them in their order, and returns them. Throws a Refusal where one cannot be. */
export async function addCharges(
  transaction: Queries,
  organizationId: string,
  plan: Plan,
  { charges, list, now }: Added,
): Promise<Charge[]> {
  if (charges.length === 0) return [];
  const added: Charge[] = [];
  const before = await readPlanSize(transaction, organizationId, plan.id);
  for (const [index, charge] of charges.entries()) {
    const at = list === undefined ? '' : `${list}[${index}]`;
    added.push(await refusedAt(at, () => addCharge(transaction, organizationId, plan, charge, now)));
  }
  await refusedAt(list ?? '', async () => checkSize(await readPlanSize(transaction, organizationId, plan.id), before));
  // By meter, as everybody reserves them (lock 7 of decision 94).
  for (const meterId of added.flatMap(({ meter_id }) => meter_id ?? []).sort()) {
    if (!(await billMeterOfPlan(transaction, organizationId, { planId: plan.id, meterId }))) {
      throw new Refusal(
        'meter_already_billed',
        'A customer of this plan has this meter billed by another subscription, and an event can be billed by one ' +
          'only: cancel that one, or price the meter in another plan. Where it has just ended, try again in a moment.',
      );
    }
  }
  return added;
}

async function addCharge(
  transaction: Queries,
  organization_id: string,
  plan: Plan,
  body: z.output<typeof chargeBody>,
  now: Micros,
): Promise<Charge> {
  const meter_id = body.type === 'USAGE' ? body.meter_id : null;
  const terms = termsOf(body);
  checkType(plan, terms.type);
  if (meter_id !== null) await holdMeter(transaction, organization_id, meter_id);
  const { replaces, effective_from, display_name } = body;
  const replacement = { planId: plan.id, replaces, effective_from, meter_id, now };
  const place = await takePlace(transaction, organization_id, replacement);
  const created_at = isoOf(now);
  const charge = { organization_id, id: newId(), plan_id: plan.id, display_name, meter_id, terms, created_at, place };
  return await insertCharge(transaction, charge);
}

/** Holds a meter, so that its feature is not deleted meanwhile. Throws a Refusal where it takes no events. */
async function holdMeter(transaction: Queries, organizationId: string, id: string): Promise<void> {
  const meter = await lockMeter(transaction, organizationId, id);
  if (meter === undefined) throw new Refusal('not_found', NO_SUCH_METER);
  if (meter.status === 'ACTIVE') return;
  throw new Refusal(
    'meter_archived',
    'The meter takes no events, so nothing of it can be billed: open it again first.',
    {
      errors: [{ path: 'meter_id', message: 'is the id of an archived meter' }],
    },
  );
}

/** Renames charges, or ends them, in their order, and returns them. Throws a Refusal where one cannot be. */
export async function changeCharges(
  transaction: Queries,
  organizationId: string,
  planId: string,
  { charges, list, now }: Changed,
): Promise<Charge[]> {
  const changed: Charge[] = [];
  const endedMeters = new Set<string>();
  const ends = charges.some(({ status }) => status === 'INACTIVE');
  const before = ends ? await readPlanSize(transaction, organizationId, planId) : undefined;
  for (const [index, { id, ...changes }] of charges.entries()) {
    const at = list === undefined ? '' : `${list}[${index}]`;
    const charge = await refusedAt(at, () => changeCharge(transaction, organizationId, { planId, id, now }, changes));
    changed.push(charge);
    if (changes.status === 'INACTIVE' && charge.meter_id !== null) endedMeters.add(charge.meter_id);
  }
  // What is taken back gives the charge its place that it would have had, with as many tiers as that one has.
  if (before !== undefined) {
    const after = await readPlanSize(transaction, organizationId, planId);
    await refusedAt(list ?? '', async () => checkTiers(after, before, ': end another charge first'));
  }
  await releaseMetersOfPlan(transaction, organizationId, { planId, meterIds: [...endedMeters], now: isoOf(now) });
  return changed;
}

async function changeCharge(
  transaction: Queries,
  organizationId: string,
  { planId, id, now }: { planId: string; id: string; now: Micros },
  { display_name, status }: z.output<typeof chargeChanges>,
): Promise<Charge> {
  const charge = found(await lockCharge(transaction, organizationId, { planId, id }));
  if (charge.status === 'INACTIVE' && status === 'ACTIVE')
    throw new Refusal('charge_inactive', 'The charge has ended, for good: add another one to the plan.');
  const ends = status === 'INACTIVE' && (await mayEndNow(transaction, organizationId, charge, now));
  return await updateCharge(transaction, organizationId, id, { display_name, ends_at: ends ? isoOf(now) : undefined });
}

/** Of a plan as it would be, and as it was. Throws a Refusal where that is too much. */
function checkSize(after: PlanSize, before: PlanSize): void {
  const { charges, ending, endingTiers } = after;
  if (charges > LIMITS.planCharges) {
    const message = `would give the plan ${charges} charges, and it takes ${LIMITS.planCharges}: end one, replace one, or use another plan`;
    throw invalidFields([{ path: '', message }]);
  }
  checkTiers(after, before);
  if (ending > LIMITS.planCharges || endingTiers > LIMITS.planTiers) {
    const message =
      `would give the plan ${ending} charges that are still to end, with ${endingTiers} tiers, and it takes ` +
      `${LIMITS.planCharges} with ${LIMITS.planTiers}: wait until some have ended`;
    throw invalidFields([{ path: 'replaces', message }]);
  }
}

/** A plan that had too many is not refused what gives it no more. */
function checkTiers({ tiers }: PlanSize, before: PlanSize, hint = ''): void {
  if (tiers <= Math.max(LIMITS.planTiers, before.tiers)) return;
  const message = `would give the plan ${tiers} tiers in all of its charges, and it takes ${LIMITS.planTiers}${hint}`;
  throw invalidFields([{ path: 'tiers', message }]);
}

/** A FIXED plan has fixed prices only, a USAGE plan prices for usage only. */
function checkType(plan: Plan, type: ChargeType): void {
  if (plan.type === 'HYBRID' || plan.type === type) return;
  throw new Refusal(
    'charge_not_of_plan_type',
    `The plan is of type ${plan.type} and takes no ${type} charge: a HYBRID plan takes both.`,
    { errors: [{ path: 'type', message: `must be ${plan.type}, as the plan is` }] },
  );
}
