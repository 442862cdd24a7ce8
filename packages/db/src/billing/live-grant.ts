// Which grants an invoice may draw.

import { sql, type RawBuilder } from 'kysely';

/** Of a row of `credit_grants`: something is left of it, and it has not expired. The clock is asked once, so that an index can be. */
export const isLive = sql<boolean>`remaining > 0 AND coalesce(expires_at, 'infinity') > (SELECT billing_clock())`;

/**
 * That, of a customer in a currency. There are any number of grants that have expired, so it is written in a way that fits
 * `credit_grants_live_idx` and no other index, whatever Postgres believes.
 */
export function isLiveOf(
  organizationId: string,
  customerId: RawBuilder<unknown>,
  currency: RawBuilder<unknown>,
): RawBuilder<boolean> {
  return sql`customer_id::text || ' ' || currency = ${customerId}::text || ' ' || ${currency}
    AND organization_id::text = ${organizationId} AND ${isLive}`;
}
