import { Refusal } from '@weir/shared/errors';

/** Said where a request names a customer that the organization does not have. */
export function noSuchCustomer(field: 'customer_id' | 'customer_external_id' = 'customer_id'): Refusal {
  return new Refusal('not_found', `Your organization has no customer with this ${field}: see GET /api/v1/customers.`);
}
