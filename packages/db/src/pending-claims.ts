// Claims on the idempotency keys of events that an API recorded itself: Redis has none of them yet. They are rows here until it is
// told, so that a retry hears of the first event both before and after events go through Redis again.

import type { KeyClaim } from '@weir/shared/event';
import { plainArray, textArray } from './array-text.ts';
import { keyHash } from './key-hash.ts';
import type { Runs } from './runs.ts';

/** Who holds a key. */
export interface KeyHolder {
  id: string;
  fingerprint: string;
}

const hashOf = ({ organizationId, idempotencyKey }: KeyClaim): string => keyHash(organizationId, idempotencyKey);
const hashesOf = (claims: readonly KeyClaim[]): string => plainArray(claims.map(hashOf));
const eventsOf = (claims: readonly KeyClaim[]): string => plainArray(claims.map(({ eventId }) => eventId));

/**
 * Claims keys for events of this transaction, each key for one of them. Returns who holds those keys that other events have claimed
 * here before, by the ids of the events that do not get them.
 */
export async function claimKeys(connection: Runs, claims: readonly KeyClaim[]): Promise<Map<string, KeyHolder>> {
  if (claims.length === 0) return new Map();
  const [hashes, ids] = [hashesOf(claims), eventsOf(claims)];
  // In the order of the keys, as the record statement takes them: transactions with the same keys wait for each other.
  const { rowCount } = await connection.query({
    name: 'claim-keys',
    text: `INSERT INTO pending_claims (key_hash, event_id, organization_id, idempotency_key, fingerprint)
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[]) ORDER BY 1
      ON CONFLICT DO NOTHING`,
    values: [
      hashes,
      ids,
      plainArray(claims.map(({ organizationId }) => organizationId)),
      textArray(claims.map(({ idempotencyKey }) => idempotencyKey)),
      textArray(claims.map(({ fingerprint }) => fingerprint)),
    ],
  });
  if (rowCount === claims.length) return new Map();
  const { rows } = await connection.query<{ id: string; holder: string; fingerprint: string }>(
    `SELECT t.id, p.event_id AS holder, p.fingerprint
     FROM unnest($1::uuid[], $2::uuid[]) AS t (key_hash, id) JOIN pending_claims p USING (key_hash)
     WHERE p.event_id <> t.id`,
    [hashes, ids],
  );
  return new Map(rows.map(({ id, holder, fingerprint }) => [id, { id: holder, fingerprint }]));
}

/** Forgets claims: Redis has them, or they are another event's. */
export async function forgetClaims(connection: Runs, claims: readonly KeyClaim[]): Promise<void> {
  if (claims.length === 0) return;
  await connection.query(
    `DELETE FROM pending_claims p USING unnest($1::uuid[], $2::uuid[]) AS t (key_hash, event_id)
     WHERE (p.key_hash, p.event_id) = (t.key_hash, t.event_id)`,
    [hashesOf(claims), eventsOf(claims)],
  );
}

/**
 * Some claims of which Redis is yet to be told: the next ones after one of them. To begin anew each time would be to pass over all that
 * were forgotten since, again and again: of four million the last quarter took four times as long as the first.
 */
export async function listPendingClaims(
  connection: Runs,
  { after, limit }: { after: KeyClaim | undefined; limit: number },
): Promise<KeyClaim[]> {
  const { rows } = await connection.query<KeyClaim>(
    `SELECT event_id AS "eventId", organization_id AS "organizationId", idempotency_key AS "idempotencyKey", fingerprint
     FROM pending_claims WHERE key_hash > $1 ORDER BY key_hash LIMIT $2`,
    [after === undefined ? BEFORE_ALL : hashOf(after), limit],
  );
  return rows;
}

/** No hash is as low, but by a chance of one in 2^128. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
