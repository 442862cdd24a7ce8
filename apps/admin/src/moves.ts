// What whoever runs this Weir may do for an organization that is asked to forget a customer. It stands in the audit log, without the
// name.

import { insertAuditEntry } from '@weir/db/audit-log';
import type { Database, Queries } from '@weir/db/database';
import { requestErasure, requestMove, type Requested } from '@weir/db/moves/request-move';
import { listUsageMoves, type UsageMove } from '@weir/db/moves/usage-moves';
import { MonthTakenOut } from '@weir/db/months-taken-out';
import { newId } from '@weir/shared/ids';
import { getAccount } from './accounts.ts';
import { inColumns } from './columns.ts';

/** Usage was not moved, and nothing has changed. */
export class NotMoved extends Error {
  override readonly name = 'NotMoved';
}

/** So many are shown, newest first. */
const SHOWN_MAX = 100;

/**
 * Erases the customer that an organization, named by an account of it, knows by an external id. Of invoices that were issued before
 * `copiesIssuedBefore`, a date, the copy of the customer goes as well. Throws {@link NotMoved}.
 */
export async function eraseCustomer(
  database: Database,
  email: string,
  externalId: string,
  copiesIssuedBefore: string | null,
): Promise<string> {
  const { organization_id } = await getAccount(database.kysely, email);
  const move = await writeDown(database, organization_id, 'erasure.create', (transaction) =>
    requestErasure(transaction, organization_id, { externalId }, copiesIssuedBefore),
  );
  const record = move.customer_id === null ? 'There is no record of it.' : 'Its record is erased.';
  return `${record} A worker goes on with its usage, which has the external_id ${move.to_external_id} then: list-erasures shows how far it is.`;
}

/** Moves the usage of one external id to another. Throws {@link NotMoved}. */
export async function moveUsage(database: Database, email: string, from: string, to: string): Promise<string> {
  if (from === to) throw new NotMoved('the two external ids are one.');
  const { organization_id } = await getAccount(database.kysely, email);
  await writeDown(database, organization_id, 'usage_move.create', (transaction) =>
    requestMove(transaction, organization_id, { from, to }),
  );
  return 'A worker moves the usage: list-erasures shows how far it is.';
}

/** A line for each erasure and move of an organization, in columns. */
export async function describeMoves(database: Database, email: string): Promise<string> {
  const { organization_id } = await getAccount(database.kysely, email);
  const page = { page: 1, page_size: SHOWN_MAX };
  const [erasures, moves] = [
    await listUsageMoves(database.kysely, organization_id, 'ERASE', page),
    await listUsageMoves(database.kysely, organization_id, 'MOVE', page),
  ];
  const rows = [...erasures.rows, ...moves.rows]
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .map(({ kind, status, events, created_at, to_external_id, grouped_meter_id: meter }) => [
      created_at.slice(0, 19),
      kind,
      meter === null ? status : `WAITS FOR A KEY OF METER ${meter}`,
      String(events),
      JSON.stringify(to_external_id),
    ]);
  if (rows.length === 0) return 'Nobody was erased, and no usage moved.';
  return inColumns([['ASKED FOR', 'KIND', 'STATUS', 'EVENTS', 'TO'], ...rows]);
}

const WHY: Record<Exclude<Requested['outcome'], 'requested'>, string> = {
  not_found: 'there is no such customer.',
  subscribed: 'a subscription of the customer has not ended: it has to be cancelled first.',
  draft: 'an invoice of the customer is a draft: it has to be finalized first.',
  former_id: 'a subscription of the customer bills a former external id of it: erase that one first.',
  grouped: 'a meter is grouped by what names the customer: that key has to be taken out of its metadata_keys first.',
  billed: 'a subscription bills, or billed, the usage: it stays where it is.',
  lost: 'events of it are lost, and without them it would never be billed: it can be erased, and not moved.',
  too_many: 'as many erasures and moves are running as an organization may have: list-erasures shows how far they are.',
  moving: 'usage of one of these is being moved already: list-erasures shows how far it is.',
};

async function writeDown(
  database: Database,
  organization_id: string,
  action: string,
  request: (transaction: Queries) => Promise<Requested>,
): Promise<UsageMove> {
  return await database.kysely.transaction().execute(async (transaction) => {
    const requested = await request(transaction).catch((error: unknown) => {
      throw error instanceof MonthTakenOut ? new NotMoved(error.message) : error;
    });
    if (requested.outcome !== 'requested') throw new NotMoved(WHY[requested.outcome]);
    const operator = {
      actor_type: 'operator',
      actor_id: null,
      actor_email: null,
      address: null,
      user_agent: null,
    } as const;
    const entry = {
      organization_id,
      action,
      resource_id: requested.move.id,
      ...operator,
      changes: null,
      is_done: true,
    };
    await insertAuditEntry(transaction, { id: newId(), ...entry });
    return requested.move;
  });
}
