import type { Schema } from '../api/client.ts';
import { Status } from '../components/lists/status.tsx';

/** The status of an invoice. Past due is no status of its own in the API, and the first thing that a person asks of an open one. */
export function InvoiceStatus({
  of: { status, is_past_due },
}: {
  of: Pick<Schema<'Invoice'>, 'status' | 'is_past_due'>;
}) {
  return <Status of={is_past_due ? 'PAST_DUE' : status} />;
}
