import { readChargesOfPlan } from '@weir/db/billing/plans/charges';
import type { Queries } from '@weir/db/database';
import { listPlanFeatures } from '@weir/db/plan-features';
import { findPlan, lockPlanAlone } from '@weir/db/plans';
import { LIMITS } from '@weir/shared/limits';
import { answerCharge } from '../billing/charge-answer.ts';
import { found } from '../http/problem.ts';
import type { Versioned } from '../http/writing/versions.ts';

/** A plan with all that it includes and costs. Its features and charges have no ETag of their own: that of the plan stands for them. */
export const plans = {
  read: readWholePlan,
  async hold(transaction, organizationId, id) {
    await lockPlanAlone(transaction, organizationId, id);
  },
} satisfies Versioned<object>;

async function readWholePlan(db: Queries, organizationId: string, id: string) {
  const plan = found(await findPlan(db, organizationId, id));
  const { charges, ended } = await readChargesOfPlan(db, organizationId, plan.id);
  return {
    ...plan,
    features: await listPlanFeatures(db, organizationId, plan.id),
    charges: charges.map(answerCharge),
    ...(ended > LIMITS.endedCharges && { ended_charges_total: ended }),
  };
}
