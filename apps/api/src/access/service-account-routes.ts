// Service accounts and their tokens. Every request looks its token up, so whatever is changed or deleted here holds for the next
// request, on every process.

import {
  countServiceAccounts,
  deleteServiceAccount,
  deleteServiceToken,
  findServiceAccount,
  insertServiceAccount,
  insertServiceToken,
  listServiceAccounts,
  listServiceTokens,
  lockServiceAccount,
  SERVICE_ROLES,
  updateServiceAccount,
  type ServiceAccount,
  type ServiceToken,
} from '@weir/db/service-accounts';
import { holdOrganization, holdRow } from '@weir/db/hold-row';
import { newId } from '@weir/shared/ids';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { endTime, readEnd } from '../http/end-time.ts';
import {
  answerOf,
  answerPage,
  changesOf,
  displayName,
  idInPath,
  idOf,
  nothing,
  nullInRepeats,
  listQuery,
  oneOf,
  pageSchema,
  time,
} from '../http/fields.ts';
import { found, invalidFields } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, gone, made, writing } from '../http/writing/writing.ts';
import { changing, reading, type Versioned } from '../http/writing/versions.ts';
import type { RouteDeps } from '../route-deps.ts';
import { hashSecret, last4Of, newServiceToken } from './secrets.ts';

const role = oneOf(SERVICE_ROLES).meta({
  description:
    'A viewer reads. A biller also changes customers, subscriptions, credits, invoices, webhooks and alerts, and voids and amends events. ' +
    'An admin does everything that an admin who is signed in does, but nothing to people, their passwords and their sessions.',
});

const lastUse = (whose: string) =>
  time.nullable().meta({
    description: `When ${whose} was used last, to the minute and known up to two minutes later. Null: not yet.`,
  });

const accountAnswer = answerOf<ServiceAccount>()({
  id: z.uuid(),
  name: z.string(),
  role,
  token_count: z.int(),
  last_used_at: lastUse('one of its tokens'),
  created_at: time,
}).meta({ id: 'ServiceAccount' });

const tokenAnswer = answerOf<ServiceToken>()({
  id: z.uuid(),
  name: z.string(),
  last4: z.string().meta({ description: 'The last four characters of the token.' }),
  expires_at: time
    .nullable()
    .meta({ description: 'From when on it is refused. Null: until it is deleted, it is not.' }),
  last_used_at: lastUse('it'),
  created_at: time,
}).meta({ id: 'ServiceToken' });

const createdTokenAnswer = tokenAnswer
  .extend({
    token: z
      .string()
      .nullable()
      .meta({ description: `The secret. It is shown here and never again. ${nullInRepeats()}` }),
  })
  .meta({ id: 'CreatedServiceToken' });

const TOO_MANY_ACCOUNTS = `would be more than ${LIMITS.serviceAccounts} service accounts of an organization: delete some that nothing uses`;
const TOO_MANY_TOKENS = `would be more than ${LIMITS.serviceTokens} tokens of a service account: delete some that nothing uses`;

const accounts: Versioned<ServiceAccount> = {
  read: async (...which) => found(await findServiceAccount(...which)),
  hold: holdRow('service_accounts'),
  living: ['last_used_at'],
};

export function serviceAccountRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.post(
    '/api/v1/service-accounts',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'createServiceAccount',
        tags: ['Access'],
        summary: 'Create a service account',
        description: 'It opens nothing before it has a token.',
        body: z.strictObject({ name: displayName, role }),
        response: { 201: accountAnswer },
      },
    },
    writing(database, ({ caller, body }, write) =>
      write.transaction(async (transaction) => {
        const { organizationId: organization_id } = caller;
        await holdOrganization(transaction, organization_id);
        if ((await countServiceAccounts(transaction, organization_id)) >= LIMITS.serviceAccounts)
          throw invalidFields([{ path: '', message: TOO_MANY_ACCOUNTS }]);
        const id = newId();
        await insertServiceAccount(transaction, { organization_id, id, ...body });
        return made(found(await findServiceAccount(transaction, organization_id, id)));
      }),
    ),
  );

  app.get(
    '/api/v1/service-accounts',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listServiceAccounts',
        tags: ['Access'],
        summary: 'List the service accounts, newest first',
        querystring: listQuery({}),
        response: { 200: pageSchema(accountAnswer) },
      },
    },
    async ({ caller, query }) => answerPage(await listServiceAccounts(db, caller.organizationId, query)),
  );

  app.get(
    '/api/v1/service-accounts/:id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getServiceAccount',
        tags: ['Access'],
        summary: 'Read a service account',
        params: idInPath,
        response: { 200: accountAnswer },
      },
    },
    reading(database, accounts),
  );

  app.patch(
    '/api/v1/service-accounts/:id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'updateServiceAccount',
        tags: ['Access'],
        summary: 'Rename a service account, or give it another role',
        description: 'A role holds from the next request on. Entries of the audit log keep the name that it had.',
        params: idInPath,
        body: changesOf({ name: displayName, role }),
        response: { 200: accountAnswer },
      },
    },
    changing(database, accounts, ({ caller, params, body }, write) =>
      write.transaction(async (transaction) => {
        found(await updateServiceAccount(transaction, caller.organizationId, params.id, body));
        return done(found(await findServiceAccount(transaction, caller.organizationId, params.id)));
      }),
    ),
  );

  app.delete(
    '/api/v1/service-accounts/:id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'deleteServiceAccount',
        tags: ['Access'],
        summary: 'Delete a service account with its tokens',
        description:
          'No request with one of them that starts after the answer is accepted. The audit log keeps its name.',
        params: idInPath,
        response: { 204: nothing },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.single(async (db) => {
        found(await deleteServiceAccount(db, caller.organizationId, params.id));
        return gone();
      }),
    ),
  );

  app.post(
    '/api/v1/service-accounts/:id/tokens',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'createServiceToken',
        tags: ['Access'],
        summary: 'Make a token of a service account',
        description:
          'Send it as Authorization: Bearer. Only its hash is stored, so nobody can show it again. To replace one without a gap, ' +
          'make the new one, put it in place, and delete the old one.',
        params: idInPath,
        body: z.strictObject({
          name: displayName,
          expires_at: endTime('ISO 8601 with an offset: from then on it is refused. Null: it does not end.'),
        }),
        response: { 201: createdTokenAnswer },
      },
    },
    writing(database, ({ caller, params, body }, write) =>
      write.transaction(async (transaction) => {
        const { organizationId: organization_id } = caller;
        const expires_at = readEnd(body.expires_at);
        const account = found(await lockServiceAccount(transaction, organization_id, params.id, expires_at));
        if (account.isPast) throw invalidFields([{ path: 'expires_at', message: 'must be in the future' }]);
        if (account.tokens >= LIMITS.serviceTokens) throw invalidFields([{ path: '', message: TOO_MANY_TOKENS }]);
        const token = newServiceToken();
        const inserted = await insertServiceToken(transaction, {
          organization_id,
          id: newId(),
          service_account_id: params.id,
          name: body.name,
          token_hash: hashSecret(token),
          last4: last4Of(token),
          expires_at,
        });
        return made({ ...inserted, token }, ['token']);
      }),
    ),
  );

  app.get(
    '/api/v1/service-accounts/:id/tokens',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listServiceTokens',
        tags: ['Access'],
        summary: 'List the tokens of a service account, newest first',
        description: 'Never the tokens themselves. One that has ended is in the list until it is deleted.',
        params: idInPath,
        querystring: listQuery({}),
        response: { 200: pageSchema(tokenAnswer) },
      },
    },
    async ({ caller, params, query }) => {
      found(await findServiceAccount(db, caller.organizationId, params.id));
      return answerPage(await listServiceTokens(db, caller.organizationId, params.id, query));
    },
  );

  app.delete(
    '/api/v1/service-accounts/:id/tokens/:token_id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'deleteServiceToken',
        tags: ['Access'],
        summary: 'Delete a token of a service account',
        description: 'No request with it that starts after the answer is accepted, on any replica.',
        params: z.strictObject({ id: idOf(), token_id: idOf() }),
        response: { 204: nothing },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.single(async (db) => {
        found(await deleteServiceToken(db, caller.organizationId, params.id, params.token_id));
        return gone();
      }),
    ),
  );
}
