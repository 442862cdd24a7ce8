// One's own sessions: where one is signed in, and how to end that.

import { deleteSessionOf, deleteSessionsOf, listSessions, type OwnSession } from '@weir/db/sessions';
import { Refusal } from '@weir/shared/errors';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { answerOf, cursorMeta, cursorOfPage, idInPath, nothing, sizeOf, time } from '../http/fields.ts';
import type { App } from '../http/typed-app.ts';
import { gone, writing } from '../http/writing/writing.ts';
import { personOf } from './authenticate.ts';
import type { RouteDeps } from '../route-deps.ts';

/** A session, but for the name of a column. */
type AnsweredSession = Omit<OwnSession, 'used_at'> & { last_used_at: OwnSession['used_at'] };

const sessionAnswer = answerOf<AnsweredSession>()({
  id: z.uuid(),
  created_at: time,
  last_used_at: time.meta({ description: 'To the minute.' }),
  address: z.string().nullable(),
  user_agent: z.string().nullable(),
  is_current: z.boolean().meta({ description: 'Whether it is the session that asks.' }),
}).meta({ id: 'Session' });

export function ownSessionRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.get(
    '/api/v1/auth/sessions',
    {
      onRequest: guards.person,
      schema: {
        operationId: 'listSessions',
        tags: ['Access'],
        summary: 'List one’s sessions, the last used first',
        description: 'Those that have ended are not listed.',
        querystring: z.strictObject({ cursor: cursorOfPage.optional(), limit: sizeOf('ownSessions') }),
        response: { 200: z.object({ data: z.array(sessionAnswer), meta: cursorMeta }) },
      },
    },
    async (request) => {
      const { rows, next } = await listSessions(db, whose(request), personOf(request).sessionId, request.query);
      const data = rows.map(({ used_at, ...session }) => ({ ...session, last_used_at: used_at }));
      return { data, meta: { next_cursor: next } };
    },
  );

  app.delete(
    '/api/v1/auth/sessions/:id',
    {
      onRequest: guards.person,
      schema: {
        operationId: 'deleteSession',
        tags: ['Access'],
        summary: 'End one of one’s sessions',
        params: idInPath,
        response: { 204: nothing },
      },
    },
    writing(database, (request, write) =>
      write.single(async (db) => {
        if (!(await deleteSessionOf(db, whose(request), request.params.id))) {
          throw new Refusal('not_found', 'You have no such session: see GET /api/v1/auth/sessions.');
        }
        return gone();
      }),
    ),
  );

  app.delete(
    '/api/v1/auth/sessions',
    {
      onRequest: guards.person,
      schema: {
        operationId: 'deleteOtherSessions',
        tags: ['Access'],
        summary: 'End all of one’s sessions but this one',
        response: { 204: nothing },
      },
    },
    writing(database, (request, write) =>
      write.single(async (db) => {
        await deleteSessionsOf(db, whose(request), personOf(request).sessionId);
        return gone();
      }),
    ),
  );
}

function whose(request: FastifyRequest): { organization_id: string; user_id: string } {
  return { organization_id: request.caller.organizationId, user_id: personOf(request).userId };
}
