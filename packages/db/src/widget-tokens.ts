import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { DELETED_MAX, inSlices } from './delete-in-slices.ts';

/** The one customer that a widget token opens. */
export interface WidgetGrant {
  organization_id: string;
  customer_external_id: string;
}

/**
 * Returns when the token ends. Expects the external id kept (`keepExternalId` of customers.ts): who changes what it means ends all of its
 * tokens, and would not see this one. When the key was deleted meanwhile it violates `widget_tokens_organization_id_api_key_id_fkey`, or
 * opens nothing where tokens of the key are still being deleted.
 */
export async function insertWidgetToken(
  transaction: Queries,
  token: WidgetGrant & { token_hash: Buffer; api_key_id: string },
): Promise<{ expires_at: string }> {
  // It ends by the clock of Postgres, which also judges it.
  return await transaction
    .insertInto('widget_tokens')
    .values({ ...token, expires_at: sql`now() + make_interval(mins => ${sql.lit(LIMITS.widgetTokenMinutes)})` })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
}

/** Finds what the token with this SHA-256 opens, and for how many more seconds, unless it or its key has ended. */
export async function findWidgetGrant(
  db: Queries,
  tokenHash: Buffer,
): Promise<(WidgetGrant & { seconds_left: number }) | undefined> {
  return await db
    .selectFrom('widget_tokens')
    .innerJoin('api_keys', (join) =>
      join
        .onRef('api_keys.organization_id', '=', 'widget_tokens.organization_id')
        .onRef('api_keys.id', '=', 'widget_tokens.api_key_id'),
    )
    .select(['widget_tokens.organization_id', 'customer_external_id'])
    .select(sql<number>`floor(extract(epoch FROM expires_at - now()))::int`.as('seconds_left'))
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', sql<string>`now()`)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
}

/** Ends every token of one customer. */
export async function deleteWidgetTokensOf(db: Queries, customer: WidgetGrant): Promise<void> {
  await db
    .deleteFrom('widget_tokens')
    .where('organization_id', '=', customer.organization_id)
    .where('customer_external_id', '=', customer.customer_external_id)
    .execute();
}

/** Removes what is left of the tokens that have ended, a bounded number. Returns how many. */
export async function deleteExpiredWidgetTokens(db: Queries): Promise<number> {
  return await inSlices(async () => {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM widget_tokens WHERE token_hash = ANY (ARRAY(
        SELECT token_hash FROM widget_tokens WHERE expires_at <= now() ORDER BY expires_at LIMIT ${DELETED_MAX}))`.execute(
      db,
    );
    return Number(numAffectedRows);
  });
}
