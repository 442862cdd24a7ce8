import type { Due } from './due.ts';

/** A due of January, for tests, without what it is for. */
const DUE = {
  subscription_id: 'sub',
  cycle: 0,
  display_name: 'A price',
  meter_id: null,
  aggregation: null,
  customer_external_id: 'customer',
  period_start: '2026-01-01T00:00:00.000Z',
  period_end: '2026-02-01T00:00:00.000Z',
  days_in_force: null,
  days_in_period: null,
  closing: null,
  billed: '0.00',
  rebills: 0,
  rebilling: false,
} as const;

export function fixed(
  charge_id: string,
  timing: 'in_advance' | 'in_arrears',
  unit_price: string,
  more: Partial<Due> = {},
): Due {
  return { ...DUE, charge_id, terms: { type: 'FIXED', timing, unit_price }, ...more };
}

export function perUnit(charge_id: string, unit_price: string, more: Partial<Due> = {}): Due {
  const bounds = { included_units: null, minimum_amount: null, maximum_amount: null };
  const terms = { type: 'USAGE', model: 'per_unit', unit_price, ...bounds } as const;
  return { ...DUE, charge_id, meter_id: 'meter', aggregation: 'SUM', terms, ...more };
}
