import { checkBilling } from '@weir/db/billing/checks/billing-checks';
import { expect } from 'vitest';
import type { Invoicing } from './invoicing.ts';

/** All invoices of a subscription can be computed again, and reconcile finds nothing. */
export async function expectSound(billing: Invoicing, subscription: string): Promise<void> {
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices?page_size=100`);
  for (const { id, status } of data) {
    if (status === 'DRAFT') continue;
    for (const from of ['rollups', 'events'])
      expect(await billing.post(`/invoices/${id}/recompute`, { from })).toMatchObject({ identical: true });
  }
  expect(await checkBilling(billing.database, { organizationId: billing.admin.id }, () => {})).toEqual([]);
}
