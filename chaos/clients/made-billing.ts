// What is billed: plans with prices of every kind, and a customer of each on them. Made before the faults, like all else.

import type { OrganizationLine } from '../history.ts';

/** Both change their clocks while a run of ten minutes lasts, on different dates. */
export const ZONES = ['Europe/Berlin', 'America/New_York'] as const;

/** How an organization bills. Short, so that drafts are finalized and invoices are past due while there are faults. */
export const BILLING_SETTINGS = { invoice_grace_hours: 6, payment_terms_days: 2 };

type Meters = OrganizationLine['meters'];

interface MadePlan {
  name: string;
  billing_interval: 'day' | 'week';
  charges: object[];
}

/** Each prices SUM and COUNT, so no customer has two of them at a time. */
export function plansOf(meters: Meters): MadePlan[] {
  const usage = (aggregation: Meters[number]['aggregation'], terms: object) => ({
    type: 'USAGE',
    display_name: aggregation.toLowerCase(),
    meter_id: meters.find((meter) => meter.aggregation === aggregation)?.id,
    ...terms,
  });
  const fixed = (display_name: string, unit_price: string, timing: 'in_advance' | 'in_arrears') => ({
    type: 'FIXED',
    display_name,
    unit_price,
    timing,
  });
  return [
    {
      name: 'by the day',
      billing_interval: 'day',
      charges: [
        fixed('base', '1.49', 'in_advance'),
        fixed('support', '0.335', 'in_arrears'),
        usage('SUM', { unit_price: '0.00317', included_units: '10' }),
        usage('COUNT', { model: 'graduated', tiers: tiersOf('3', '0.07', '0.013') }),
        usage('UNIQUE_COUNT', { model: 'volume', tiers: tiersOf('5', '0.5', '0.4') }),
        usage('MAX', { model: 'percentage', rate: '2.9', fixed_amount: '0.001' }),
      ],
    },
    {
      name: 'by the day, other prices',
      billing_interval: 'day',
      charges: [
        fixed('base', '0.99', 'in_advance'),
        usage('SUM', { model: 'package', unit_price: '0.31', package_size: '7.5' }),
        usage('COUNT', { unit_price: '0.011', minimum_amount: '0.05' }),
        usage('LAST', { unit_price: '0.0007' }),
        usage('AVG', { unit_price: '0.0003' }),
      ],
    },
    {
      name: 'by the week',
      billing_interval: 'week',
      charges: [
        fixed('base', '7', 'in_advance'),
        fixed('review', '3.1', 'in_arrears'),
        usage('SUM', { model: 'graduated', tiers: tiersOf('1000', '0.002', '0.0005') }),
        usage('COUNT', { unit_price: '0.009', maximum_amount: '0.6' }),
        usage('MIN', { unit_price: '0.21' }),
        usage('UNIQUE_COUNT', { unit_price: '0.03' }),
      ],
    },
    // The last one: what it comes to is known to whoever adds.
    {
      name: 'by the day, one price',
      billing_interval: 'day',
      charges: [usage('SUM', { unit_price: '1' }), usage('COUNT', { unit_price: '0' })],
    },
  ];
}

function tiersOf(upTo: string, first: string, then: string): object[] {
  return [
    { up_to: upTo, unit_price: first, flat_fee: '0.01' },
    { up_to: null, unit_price: then },
  ];
}
