import { findCustomer } from '@weir/db/customers';
import type { Queries } from '@weir/db/database';
import { Refusal } from '@weir/shared/errors';

/** Refuses what would give a customer who is erased a name again, or something new to bill. */
export async function refuseErased(db: Queries, organizationId: string, id: string): Promise<void> {
  const customer = await findCustomer(db, organizationId, id);
  if (customer === undefined || customer.erased_at === null) return;
  throw new Refusal('customer_erased', 'The customer is erased, and stays so: make another one.');
}
