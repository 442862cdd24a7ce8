// The organization and its people.

import { holdOrganization } from '@weir/db/hold-row';
import { getOrganization, renameOrganization, type OrganizationSince } from '@weir/db/organizations';
import { deleteUser, findUser, holdUser, listUsers, updateRole, type User, type UserOutcome } from '@weir/db/users';
import { Refusal } from '@weir/shared/errors';
import { z } from 'zod';
import { answerOf, answerPage, displayName, idInPath, nothing, listQuery, pageSchema, time } from '../http/fields.ts';
import { NO_SUCH_THING, found, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, gone, writing } from '../http/writing/writing.ts';
import { changing, reading, type Versioned } from '../http/writing/versions.ts';
import { role } from './accounts.ts';
import type { RouteDeps } from '../route-deps.ts';

const userAnswer = answerOf<User>()({
  id: z.uuid(),
  email: z.string(),
  role,
  created_at: time,
  last_seen_at: time.nullable().meta({ description: 'To the minute. Null: not since this is written down.' }),
}).meta({ id: 'User' });

const organizationAnswer = answerOf<OrganizationSince>()({ id: z.uuid(), name: z.string(), created_at: time }).meta({
  id: 'Organization',
});

const organizations: Versioned<OrganizationSince> = { read: getOrganization, hold: holdOrganization };

const users: Versioned<User> = {
  read: async (...which) => found(await findUser(...which)),
  hold: holdUser,
  living: ['last_seen_at'],
};

export function userRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.get(
    '/api/v1/organization',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getOrganization',
        tags: ['Access'],
        summary: 'Read the organization',
        response: { 200: organizationAnswer },
      },
    },
    reading(database, organizations),
  );

  app.patch(
    '/api/v1/organization',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'updateOrganization',
        tags: ['Access'],
        summary: 'Rename the organization',
        body: z.strictObject({ name: displayName }),
        response: { 200: organizationAnswer },
      },
    },
    changing(database, organizations, ({ caller, body }, write) =>
      write.single(async (db) => done(await renameOrganization(db, { id: caller.organizationId, name: body.name }))),
    ),
  );

  app.get(
    '/api/v1/users',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listUsers',
        tags: ['Access'],
        summary: 'List the people of the organization, oldest first',
        querystring: listQuery({}),
        response: { 200: pageSchema(userAnswer) },
      },
    },
    async (request) => answerPage(await listUsers(db, request.caller.organizationId, request.query)),
  );

  app.get(
    '/api/v1/users/:id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getUser',
        tags: ['Access'],
        summary: 'Read a user',
        params: idInPath,
        response: { 200: userAnswer },
      },
    },
    reading(database, users),
  );

  app.patch(
    '/api/v1/users/:id',
    {
      onRequest: guards.adminPerson,
      schema: {
        operationId: 'updateUser',
        tags: ['Access'],
        summary: 'Give a user another role',
        description: 'It holds from the user’s next request on. The last admin stays admin.',
        params: idInPath,
        body: z.strictObject({ role }),
        response: { 200: userAnswer, ...problemResponses('last_admin') },
      },
    },
    changing(database, users, async (request, write) => {
      const { organizationId } = request.caller;
      const { id } = request.params;
      return await write.transaction(async (transaction) => {
        requireDone(await updateRole(transaction, organizationId, id, request.body.role));
        return done(found(await findUser(transaction, organizationId, id)));
      });
    }),
  );

  app.delete(
    '/api/v1/users/:id',
    {
      onRequest: guards.adminPerson,
      schema: {
        operationId: 'deleteUser',
        tags: ['Access'],
        summary: 'Delete a user',
        description: 'All sessions of that person end at once. The last admin stays.',
        params: idInPath,
        response: { 204: nothing, ...problemResponses('last_admin') },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.transaction(async (transaction) => {
        requireDone(await deleteUser(transaction, caller.organizationId, params.id));
        return gone();
      }),
    ),
  );
}

function requireDone(outcome: UserOutcome): void {
  switch (outcome) {
    case 'done':
      return;
    case 'not_found':
      throw new Refusal('not_found', NO_SUCH_THING);
    case 'last_admin':
      throw new Refusal('last_admin', 'This is the only admin of the organization: make somebody else an admin first.');
  }
}
