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
  // It ends by the clock of Postgres, which also judges it, and by the time after what was waited for: that may have ended those of before.
  return await transaction
    .insertInto('widget_tokens')
    .values({
      ...token,
      expires_at: sql`clock_timestamp() + make_interval(mins => ${sql.lit(LIMITS.widgetTokenMinutes)})`,
    })
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
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('ended_widget_tokens as ended')
            .select('ended.expires_until')
            .whereRef('ended.organization_id', '=', 'widget_tokens.organization_id')
            .whereRef('ended.customer_external_id', '=', 'widget_tokens.customer_external_id')
            .whereRef('ended.expires_until', '>=', 'widget_tokens.expires_at'),
        ),
      ),
    )
    .executeTakeFirst();
}

/** Tokens that are deleted while others wait for the customer. */
const TOKENS_AT_ONCE_MAX = 1_000;

/**
 * Ends every token of one customer: once the transaction has committed none opens anything, however many there are. What is left of them is
 * for {@link deleteExpiredWidgetTokens}. Needs a transaction.
 */
export async function endWidgetTokens(transaction: Queries, customer: WidgetGrant): Promise<void> {
  const { organization_id, customer_external_id } = customer;
  await deleteWidgetTokensOf(transaction, customer, TOKENS_AT_ONCE_MAX);
  await sql`
    INSERT INTO ended_widget_tokens AS ended (organization_id, customer_external_id, expires_until)
    SELECT ${organization_id}::uuid, ${customer_external_id}::text,
      clock_timestamp() + make_interval(mins => ${sql.lit(LIMITS.widgetTokenMinutes)})
    WHERE EXISTS (SELECT FROM widget_tokens
      WHERE organization_id = ${organization_id}::uuid AND customer_external_id = ${customer_external_id}::text)
    ON CONFLICT (organization_id, customer_external_id) DO UPDATE
      SET expires_until = greatest(ended.expires_until, excluded.expires_until)`.execute(transaction);
}

/** Deletes tokens of one customer, at most so many, and returns how many. */
export async function deleteWidgetTokensOf(db: Queries, customer: WidgetGrant, max: number): Promise<number> {
  const { organization_id, customer_external_id } = customer;
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM widget_tokens WHERE token_hash = ANY (ARRAY(
      SELECT token_hash FROM widget_tokens
      WHERE organization_id = ${organization_id}::uuid AND customer_external_id = ${customer_external_id}::text LIMIT ${max}))`.execute(
    db,
  );
  return Number(numAffectedRows);
}

/** Removes what is left of the tokens that have ended, a bounded number. Returns how many. */
export async function deleteExpiredWidgetTokens(db: Queries): Promise<number> {
  await sql`DELETE FROM ended_widget_tokens WHERE expires_until <= now()`.execute(db);
  return await inSlices(async () => {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM widget_tokens WHERE token_hash = ANY (ARRAY(
        SELECT token_hash FROM widget_tokens WHERE expires_at <= now() ORDER BY expires_at LIMIT ${DELETED_MAX}))`.execute(
      db,
    );
    return Number(numAffectedRows);
  });
}
