// The Idempotency-Keys of requests, each with the first answer. A key is held by a lock of the transaction that makes the change, and
// written in it: no crash leaves a change without its key, or a key without its change.

import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import { REQUEST_KEY_LOCK } from './advisory-locks.ts';
import { isTimedOut, type Queries } from './database.ts';
import { DELETED_MAX, inSlices } from './delete-in-slices.ts';
import { deleteOfEach, type LeftAlone } from './left-alone.ts';
import { awaitStandby } from './standby.ts';

/** Which key, by hashes alone: what a client chose is not kept. */
export interface RequestKey {
  organizationId: string;
  /** SHA-256 of whose key it is, and the key. */
  keyHash: Buffer;
  /** SHA-256 of what is asked for with it. */
  requestHash: Buffer;
}

/** The first answer to a request, as far as it is kept. */
export interface KeptAnswer {
  status: number;
  /** JSON; null where it has no body. */
  answer: string | null;
  /** Members of the answer that are not kept. */
  withheld: string[];
}

/** What is known of a key. `other`: it belongs to another request. `writtenAt` tells the transaction that wrote it from any other. */
export type FoundKey = { outcome: 'new' | 'other' } | { outcome: 'same'; kept: KeptAnswer; writtenAt: string };

/**
 * Takes a key in hand until the end of the transaction, and tells what is known of it. `under_way`: another transaction has it in
 * hand. That is told at once, and nobody waits.
 */
export async function holdRequestKey(
  transaction: Queries,
  key: RequestKey,
): Promise<FoundKey | { outcome: 'under_way' }> {
  // Two keys of one number are taken for one in one case of four billion, while both are under way: then one of them is sent again.
  const { rows } = await sql<{ held: boolean }>`
    SELECT pg_try_advisory_xact_lock(${REQUEST_KEY_LOCK}, ${key.keyHash.readInt32BE(0)}) AS held`.execute(transaction);
  // In another statement, which sees what was committed before the lock was free.
  return rows[0]?.held === true ? await findRequestKey(transaction, key) : { outcome: 'under_way' };
}

/** Finds a key, whoever has it in hand. */
export async function findRequestKey(
  db: Queries,
  { organizationId, keyHash, requestHash }: RequestKey,
): Promise<FoundKey> {
  const found = await db
    .selectFrom('request_keys')
    .select(['request_hash', 'status', 'answer', 'withheld', 'created_at'])
    .where('organization_id', '=', organizationId)
    .where('key_hash', '=', keyHash)
    .where('created_at', '>', oldest)
    .executeTakeFirst();
  if (found === undefined) return { outcome: 'new' };
  const { request_hash, created_at: writtenAt, ...kept } = found;
  if (!request_hash.equals(requestHash)) return { outcome: 'other' };
  // Whoever hears the first answer again takes the change for made.
  await awaitStandby(db);
  return { outcome: 'same', kept, writtenAt };
}

/**
 * Writes a key with its answer, last of all in the transaction of the change. Returns its `writtenAt`; undefined, and changes nothing,
 * where there is an answer already: that cannot be while the key is in hand.
 */
export async function insertRequestKey(
  db: Queries,
  { organizationId: organization_id, keyHash: key_hash, requestHash: request_hash }: RequestKey,
  kept: KeptAnswer,
): Promise<string | undefined> {
  const written = await db
    .insertInto('request_keys')
    .values({ organization_id, key_hash, request_hash, ...kept })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'key_hash'])
        // One that is too old to count, and was not deleted yet.
        .doUpdateSet(({ ref }) => ({
          request_hash: ref('excluded.request_hash'),
          status: ref('excluded.status'),
          answer: ref('excluded.answer'),
          withheld: ref('excluded.withheld'),
          created_at: ref('excluded.created_at'),
        }))
        .where('request_keys.created_at', '<=', oldest),
    )
    .returning('created_at')
    .executeTakeFirst();
  return written?.created_at;
}

/** Changes the answer that is kept, where more became known after the change. */
export async function updateKeptAnswer(
  db: Queries,
  { organizationId, keyHash }: RequestKey,
  kept: KeptAnswer,
): Promise<void> {
  await db
    .updateTable('request_keys')
    .set(kept)
    .where('organization_id', '=', organizationId)
    .where('key_hash', '=', keyHash)
    .execute();
}

const oldest = sql<string>`now() - make_interval(days => ${sql.lit(LIMITS.keptAnswerDays)})`;

/**
 * What the keys of one organization that are older than a day may take, in bytes of their answers and {@link ROW_BYTES} for each. Of
 * more the oldest are let go first. That is well over a million keys, and no organization can fill the disk of all.
 */
const SHARE_BYTES_MAX = 1_073_741_824;

/** What a key takes beside its answer, with its places in both indexes. */
const ROW_BYTES = 300;

/**
 * Deletes keys that are too old, or too many of one organization. Returns how many there were; what is left is for the next time.
 * Whether an organization has too many is not asked while it is left alone.
 */
export async function deleteOldRequestKeys(
  db: Queries,
  leftAlone: LeftAlone,
  shareBytesMax = SHARE_BYTES_MAX,
): Promise<number> {
  return (await deleteTooOld(db)) + (await deleteOverShare(db, leftAlone, shareBytesMax));
}

async function deleteTooOld(db: Queries): Promise<number> {
  return await inSlices(async () => {
    // Organization by organization, as the index has them. Of one that is used anew meanwhile Postgres asks once more what stands outside.
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM request_keys USING (
        SELECT found.organization_id, found.key_hash FROM organizations CROSS JOIN LATERAL (
          SELECT organization_id, key_hash FROM request_keys
          WHERE organization_id = organizations.id AND created_at <= ${oldest}
          ORDER BY created_at LIMIT ${DELETED_MAX}
        ) AS found LIMIT ${DELETED_MAX}
      ) AS old
      WHERE request_keys.organization_id = old.organization_id AND request_keys.key_hash = old.key_hash
        AND request_keys.created_at <= ${oldest}`.execute(db);
    return Number(numAffectedRows);
  });
}

/** Organizations of which one statement asks whether they may have too many: of each it reads some 16,000 keys at most, in one index. */
const ASKED_MAX = 100;

async function deleteOverShare(db: Queries, leftAlone: LeftAlone, bytesMax: number): Promise<number> {
  // With fewer rows none has more than its share, however large its answers are.
  const rowsMin = Math.floor(bytesMax / (LIMITS.keptAnswerBytes + ROW_BYTES));
  const { rows: organizations } = await sql<{ id: string }>`SELECT id FROM organizations`.execute(db);
  const asked = organizations.map(({ id }) => id).filter((id) => !leftAlone.has(id));
  const many: string[] = [];
  for (let from = 0; from < asked.length; from += ASKED_MAX) {
    const ids = asked.slice(from, from + ASKED_MAX);
    const found = await findMany(db, ids, rowsMin);
    for (const id of ids) {
      if (found.has(id)) many.push(id);
      else leftAlone.add(id);
    }
  }
  return await deleteOfEach(many, async (id) => {
    // Newest first, and no further than to the one that is too much: those before it are let go with it.
    const { rows } = await sql<{ created_at: string }>`
      SELECT created_at FROM (
        SELECT created_at, sum(bytes + ${ROW_BYTES}) OVER (ORDER BY created_at DESC ROWS UNBOUNDED PRECEDING) AS held
        FROM request_keys WHERE organization_id = ${id} AND created_at <= ${yesterday}
      ) AS newest WHERE held > ${bytesMax} LIMIT 1`.execute(db);
    const until = rows[0]?.created_at;
    const deleted =
      until === undefined
        ? 0
        : await inSlices(async () => {
            const { numAffectedRows = 0n } = await sql`
              DELETE FROM request_keys WHERE organization_id = ${id} AND key_hash = ANY (ARRAY(
                SELECT key_hash FROM request_keys WHERE organization_id = ${id} AND created_at <= ${until}::timestamptz
                ORDER BY created_at LIMIT ${DELETED_MAX})) AND created_at <= ${until}::timestamptz`.execute(db);
            return Number(numAffectedRows);
          });
    // At this pace a day adds three times the share. Who sends faster from one look to the next has more for up to a day.
    if (deleted <= rowsMin / 100) leftAlone.add(id);
    return deleted;
  });
}

/** Those of some organizations that have more keys than so many. Where it takes too long to ask, it may be any of them. */
async function findMany(db: Queries, organizationIds: string[], count: number): Promise<Set<string>> {
  try {
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM unnest(${organizationIds}::uuid[]) AS asked (id) CROSS JOIN LATERAL (
        SELECT FROM request_keys WHERE organization_id = asked.id AND created_at <= ${yesterday}
        ORDER BY created_at OFFSET ${count} LIMIT 1
      ) AS found`.execute(db);
    return new Set(rows.map(({ id }) => id));
  } catch (error) {
    if (isTimedOut(error)) return new Set(organizationIds);
    throw error;
  }
}

const yesterday = sql<string>`now() - interval '1 day'`;
