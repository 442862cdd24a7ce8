// Refusals that several requests about subscriptions share.

import { Refusal } from '@weir/shared/errors';

export const noSuchPlan = () =>
  new Refusal('not_found', 'Your organization has no plan with this plan_id: see GET /api/v1/plans.');

export const planInactive = () =>
  new Refusal('plan_inactive', 'This plan takes no new subscriptions: set its is_active, or choose another.');

export const METER_TAKEN =
  'Another subscription of this customer bills a meter of the plan, or billed it until after the start: events name a ' +
  'customer and no subscription, so one bills them at a time. End the other one first, or start when it has ended.';

export const ENDED = 'This subscription has ended: make a new one.';

export const BEHIND =
  'The periods of this subscription are being opened at this moment: its periods_to_open says how many are to come. Try again ' +
  'when it is 0.';
