// Refusals that several requests about subscriptions share.

import { MeterTaken } from '@weir/db/billing/subscriptions/billed-meters';
import { Refusal } from '@weir/shared/errors';

export const noSuchPlan = () =>
  new Refusal('not_found', 'Your organization has no plan with this plan_id: see GET /api/v1/plans.');

export const planInactive = () =>
  new Refusal('plan_inactive', 'This plan takes no new subscriptions: set its is_active, or choose another.');

export const METER_TAKEN =
  'Another subscription of this customer bills a meter of the plan, or billed it until after the start: events name a ' +
  'customer and no subscription, so one bills them at a time. End the other one first, or start when it has ended. One that is to ' +
  'end with its period keeps its meters until then; where it has just ended, try again in a moment.';

/** Of a period that is opened at an instant at which a charge that has ended by now was in force: it takes the meter of that one as well. */
export function refuseMeterTaken(error: unknown): never {
  if (error instanceof MeterTaken) throw new Refusal('meter_already_billed', METER_TAKEN);
  throw error;
}

export const ENDED = 'This subscription has ended: make a new one.';

export const BEHIND =
  'The periods of this subscription are being opened at this moment: its periods_to_open says how many are to come. Try again ' +
  'when it is 0.';

export const OTHER_BEHIND =
  'Another subscription of this customer has a meter of the plan, and may bill it no more: it is past a boundary that is being opened ' +
  'at this moment. Try again in a moment.';

export const PRICED_LATER =
  'A price of this plan was given at this moment, and would not be in force yet, so the new period would have none: try again in a moment.';
