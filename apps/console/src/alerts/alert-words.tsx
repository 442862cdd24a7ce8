import { CustomerName } from '../billing/customer-name.tsx';
import type { Schema } from '../api/client.ts';
import { nothingFound } from '../components/outcomes/nothing-found.ts';
import { formatDecimal } from '../text/decimals.ts';
import { useMeters } from '../usage/meters.ts';

type Alert = Schema<'Alert'>;

/** What an alert watches. */
export function Watched({ alert: { meter_id: id } }: { alert: Alert }) {
  const meters = useMeters();
  if (id === null) return 'Amount of usage in the open period';
  return meters.data?.find((meter) => meter.id === id)?.name ?? nothingFound(meters, 'Another meter');
}

/** Whom it watches. */
export function WatchedCustomers({ alert: { customer_id: id } }: { alert: Alert }) {
  return id === null ? 'All' : <CustomerName id={id} known={null} />;
}

export const thresholdWords = ({ thresholds }: Alert): string => thresholds.map(formatDecimal).join(', ');
