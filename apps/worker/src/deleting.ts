// What any one worker deletes again and again. Any request may add to it, so it goes on for as long as there is more than it deletes at a
// time. It takes connections of the worker that are free, statement by statement, and none for long.

import { deleteRevokedKeys } from '@weir/db/api-keys';
import { deleteOldAuditEntries } from '@weir/db/audit-log';
import { deleteOldLooks } from '@weir/db/billing/usage/unbilled-usage';
import type { Database } from '@weir/db/database';
import { DELETED_MAX } from '@weir/db/delete-in-slices';
import { deleteExpiredInvitations } from '@weir/db/invitations';
import { LeftAlone } from '@weir/db/left-alone';
import { forgetNames } from '@weir/db/moves/finish-erasure';
import { deleteExpiredPasswordResets } from '@weir/db/password-resets';
import { deleteOldRequestKeys } from '@weir/db/request-keys';
import { deleteExpiredSessions } from '@weir/db/sessions';
import { deleteOldDeliveries } from '@weir/db/webhooks/deliveries';
import { deleteGoneEndpoints } from '@weir/db/webhooks/webhook-endpoints';
import { deleteExpiredWidgetTokens } from '@weir/db/widget-tokens';
import type { MaintenanceTask } from '@weir/queue/maintenance-jobs';
import type { Logger } from '@weir/shared/log';

export interface DeletingDeps {
  database: Database;
  /** How long entries of the audit log are kept; 0: for ever. */
  auditLogDays: number;
  log: Logger;
}

/** How often it is looked for what is to be deleted. A request adds so little until then that it does no harm. */
const DELETING_INTERVAL_MS = 300_000;

/** The name of a task stands in Redis, so a new name is a new task. */
export function deletingTasks({ database, auditLogDays, log }: DeletingDeps): Record<string, MaintenanceTask> {
  const db = database.kysely;
  const leftAlone = { endpoints: new LeftAlone(), organizations: new LeftAlone() };
  const deleting = (what: string, deleteSome: () => Promise<number>): MaintenanceTask => ({
    everyMs: DELETING_INTERVAL_MS,
    async perform(isOver) {
      let deleted = 0;
      let isLeft = true;
      while (isLeft) {
        const some = await deleteSome();
        deleted += some;
        isLeft = some >= DELETED_MAX;
        if (isOver()) break;
      }
      // More is left than there was time for.
      if (deleted > 0) log.info({ deleted, isLeft }, `${what} were deleted`);
    },
  });
  return {
    sessions: {
      // What has ended, a session or a link, opens nothing; deleting it only spares room.
      everyMs: 3_600_000,
      async perform() {
        await deleteExpiredSessions(db);
        await deleteExpiredInvitations(db);
        await deleteExpiredPasswordResets(db);
      },
    },
    endedErasures: { everyMs: 3_600_000, perform: () => forgetNames(db) },
    auditLog: deleting('old entries of the audit log', async () =>
      auditLogDays === 0 ? 0 : await deleteOldAuditEntries(db, auditLogDays),
    ),
    requestKeys: deleting('old keys of requests', () => deleteOldRequestKeys(db, leftAlone.organizations)),
    deliveries: deleting('old deliveries of webhooks', () => deleteOldDeliveries(db, leftAlone.endpoints)),
    goneEndpoints: deleting('deliveries of webhook endpoints that are gone', () => deleteGoneEndpoints(db)),
    revokedKeys: deleting('widget tokens of API keys that are gone', () => deleteRevokedKeys(db)),
    widgetTokens: deleting('widget tokens that have ended', () => deleteExpiredWidgetTokens(db)),
    unbilledLooks: deleting('looks for unbilled usage', () => deleteOldLooks(db)),
  };
}
