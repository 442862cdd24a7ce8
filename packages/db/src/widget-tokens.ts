import { sql } from 'kysely';
import type { Queries } from './page.ts';

/** After this long a widget token ends. The page that shows it may be open for longer; its app then asks for another one. */
export const WIDGET_TOKEN_MINUTES = 60;

/** The one customer that a widget token opens. */
export interface WidgetGrant {
  organization_id: string;
  customer_external_id: string;
}

/**
 * Answers when the token ends. Violates `widget_tokens_organization_id_api_key_id_fkey` when the key was deleted
 * meanwhile.
 */
export async function insertWidgetToken(
  db: Queries,
  token: WidgetGrant & { token_hash: Buffer; api_key_id: string },
): Promise<{ expires_at: string }> {
  return await db
    .insertInto('widget_tokens')
    .values({
      ...token,
      // By the clock of Postgres, which also judges it.
      expires_at: sql<string>`now() + make_interval(mins => ${sql.lit(WIDGET_TOKEN_MINUTES)})`,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
}

/** What the token with this SHA-256 opens, unless it has ended. */
export async function findWidgetGrant(db: Queries, tokenHash: Buffer): Promise<WidgetGrant | undefined> {
  return await db
    .selectFrom('widget_tokens')
    .select(['organization_id', 'customer_external_id'])
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', sql<string>`now()`)
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

/** Removes what is left of the tokens that have ended. */
export async function deleteExpiredWidgetTokens(db: Queries): Promise<void> {
  await db
    .deleteFrom('widget_tokens')
    .where('expires_at', '<=', sql<string>`now()`)
    .execute();
}
