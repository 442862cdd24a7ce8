// Who changed what in the organization, for its people to read. How it is written: audit.ts.

import { listAuditEntries, timeOfEntry, type AuditEntry } from '@weir/db/audit-log';
import type { Queries } from '@weir/db/database';
import { findTimeZone } from '@weir/db/organizations';
import { endMicrosInZone, isDate, microsInZone } from '@weir/shared/date-or-instant';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { answerOf, cursorMeta, dateOrInstant, idCursor, idOf, sizeOf, time } from '../http/fields.ts';
import type { App } from '../http/typed-app.ts';
import type { RouteDeps } from '../route-deps.ts';

type NameOfActor = 'type' | 'id' | 'email' | 'name';

/** An entry, with what it says of whoever made the change in one place. */
interface AnsweredEntry extends Omit<AuditEntry, `actor_${NameOfActor}` | 'is_done'> {
  created_at: string;
  actor: { [Name in NameOfActor]: AuditEntry[`actor_${Name}`] };
  outcome: 'done' | 'unknown';
}

const entryAnswer = answerOf<AnsweredEntry>()({
  id: z.uuid(),
  created_at: time,
  action: z.string().meta({ examples: ['plan.update'] }),
  resource_type: z.string(),
  resource_id: z.uuid().nullable(),
  actor: z.object({
    type: z.enum(['user', 'service_account', 'api_key', 'operator']),
    id: z.uuid().nullable(),
    email: z.string().nullable().meta({ description: 'Of a user, as it was then.' }),
    name: z.string().nullable().meta({ description: 'Of a service account, as it was then.' }),
  }),
  address: z.string().nullable(),
  user_agent: z.string().nullable(),
  changes: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'What was sent, without passwords and other secrets.' }),
  outcome: z.enum(['done', 'unknown']).meta({
    description: 'unknown: something broke while the change was made, so look whether it was.',
  }),
}).meta({ id: 'AuditEntry' });

const day = 'A date is one in the time zone of the organization.';

/** `keptDays`: how long entries are kept; 0: for ever. */
export function auditLogRoutes(app: App, { database, guards, keptDays }: RouteDeps & { keptDays: number }): void {
  const db = database.kysely;

  app.get(
    '/api/v1/audit-log',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listAuditEntries',
        tags: ['Access'],
        summary: 'Who changed what, newest first',
        description:
          'Every change by a person, by a service account, with an API key or by whoever runs this Weir, but for tracking. Follow meta.next_cursor ' +
          `until it is null: a page ends early where all that was sent with its changes comes to ${LIMITS.auditPageBytes} bytes, and a larger one is ` +
          'a page by itself. An entry has the time at which its change began, and is listed once that is done, or after a minute: whoever ' +
          'follows the log by time begins each look 70 s before the end of the last one, and drops by its id what is there already. ' +
          'Entries are kept for kept_days, which is the setting AUDIT_LOG_DAYS.',
        querystring: z.strictObject({
          user_id: idOf('must be the id of a user').optional(),
          actor_id: idOf('must be the id of a user, a service account or an API key').optional(),
          action: z
            .string()
            .regex(/^[a-z_]{1,40}\.[a-z_]{1,40}$/, 'must be an action, such as plan.update')
            .optional(),
          resource_id: idOf('must be the id of what was changed').optional(),
          start_date: dateOrInstant.optional().meta({ description: `From this instant on. ${day}` }),
          end_date: dateOrInstant.optional().meta({
            description: `Until before this instant; a date includes that day. ${day}`,
          }),
          cursor: idCursor,
          limit: sizeOf('pageSize'),
        }),
        response: {
          200: z.object({
            data: z.array(entryAnswer),
            meta: cursorMeta,
            kept_days: z.int().nullable().meta({ description: 'Older entries are gone. Null: none ever goes.' }),
          }),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.caller;
      const { user_id: userId, actor_id: actorId, action, resource_id: resourceId } = request.query;
      const { start_date, end_date, cursor, limit } = request.query;
      const bound = (text: string | undefined, isEnd: boolean) =>
        text === undefined ? undefined : firstMillisecond(db, organizationId, text, isEnd);
      const { entries, next } = await listAuditEntries(db, organizationId, {
        userId,
        actorId,
        action,
        resourceId,
        startMs: await bound(start_date, false),
        endMs: await bound(end_date, true),
        before: cursor,
        limit,
      });
      return {
        data: entries.map(answerEntry),
        meta: { next_cursor: next },
        kept_days: keptDays === 0 ? null : keptDays,
      };
    },
  );
}

/** The first whole millisecond that is not before a point in time, as entries have them; of a date at the end, that of the next one. */
async function firstMillisecond(db: Queries, organizationId: string, text: string, isEnd: boolean): Promise<number> {
  const zone = isDate(text) ? await findTimeZone(db, organizationId) : 'UTC';
  return Math.ceil((isEnd ? endMicrosInZone : microsInZone)(text, zone) / 1_000);
}

function answerEntry(entry: AuditEntry): AnsweredEntry {
  const { id, action, resource_type, resource_id, actor_type, actor_id, actor_email, actor_name } = entry;
  const { address, user_agent, changes, is_done } = entry;
  return {
    id,
    created_at: timeOfEntry(entry),
    action,
    resource_type,
    resource_id,
    actor: { type: actor_type, id: actor_id, email: actor_email, name: actor_name },
    address,
    user_agent,
    changes,
    outcome: is_done ? 'done' : 'unknown',
  };
}
