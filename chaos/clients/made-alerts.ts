// Alerts of an organization that bills, and how they are asked for.

import type { AlertFact, OrganizationLine } from '../history.ts';

type Watchable = Pick<OrganizationLine, 'meters' | 'customers'>;

/** Made before the first event: of usage and of what it comes to, of one customer and of all. */
export function alertsOf({ meters, customers }: Watchable): Omit<AlertFact, 'id'>[] {
  const meterOf = (aggregation: string) => meters.findIndex((meter) => meter.aggregation === aggregation);
  const customerOf = (index: number) => customers[index]?.externalId ?? null;
  return [
    { meter: meterOf('SUM'), customer: null, thresholds: ['10', '1000'] },
    { meter: meterOf('COUNT'), customer: customerOf(0), thresholds: ['1', '3'] },
    { meter: null, customer: null, thresholds: ['50'] },
    { meter: null, customer: customerOf(customers.length - 1), thresholds: ['1', '100'] },
  ];
}

/** An alert as the body of a request. */
export function bodyOfAlert(
  { meters, customers }: Watchable,
  { meter, customer, thresholds }: Omit<AlertFact, 'id'>,
): object {
  return {
    name: 'chaos',
    thresholds,
    ...(meter === null ? { subscription_amount: true } : { meter_id: meters[meter]?.id }),
    ...(customer !== null && { customer_id: customers.find(({ externalId }) => externalId === customer)?.id }),
  };
}
