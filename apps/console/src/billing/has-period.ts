import type { Schema } from '../api/client.ts';

/** Whether its period is one of billing. Before its start it has none, nor one after it where it was canceled before. */
export function hasPeriod({ status, cycle }: Pick<Schema<'Subscription'>, 'status' | 'cycle'>): boolean {
  return status !== 'SCHEDULED' && (status !== 'CANCELED' || cycle !== null);
}
