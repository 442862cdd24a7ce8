// API keys: made, listed, and revoked on every replica before the answer is given.

import { countApiKeys, insertApiKey, listApiKeys, revokeApiKey, type ApiKey } from '@weir/db/api-keys';
import { holdOrganization } from '@weir/db/hold-row';
import { mapPage } from '@weir/db/page';
import { SCOPES } from '@weir/db/schema';
import type { QueueConnection } from '@weir/queue/connection';
import { NotCopied } from '@weir/queue/redis-away';
import { markRevoked } from '@weir/queue/revoked-keys';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { newId } from '@weir/shared/ids';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import { gone, made, writing } from '../http/writing/writing.ts';
import {
  answerOf,
  answerPage,
  displayName,
  idInPath,
  nothing,
  nullInRepeats,
  listQuery,
  oneOf,
  pageSchema,
  time,
} from '../http/fields.ts';
import { found, invalidFields } from '../http/problem.ts';
import { CACHED_KEY_SECONDS_MAX } from './api-key-cache.ts';
import { hashSecret, last4Of, newApiKey } from './secrets.ts';
import type { RouteDeps } from '../route-deps.ts';

export interface ApiKeyDeps extends RouteDeps {
  queue: QueueConnection;
}

/** Twice as long as any process goes on using a key from memory. */
const REVOKED_SECONDS = 2 * CACHED_KEY_SECONDS_MAX;

const TOO_MANY_KEYS = `would be more than ${LIMITS.apiKeys} API keys of an organization: delete some that nothing uses`;

const NOT_TOLD =
  'Redis did not answer, so the key was not deleted, and may be refused all the same until it is: delete it again in a moment.';

const NOT_COPIED =
  'No replica of Redis acknowledged it, so the key was not deleted, and may be refused all the same until it is: bring a replica back, ' +
  'or set REDIS_COPIES=1, and delete it again.';

const scopes = z
  .array(oneOf(SCOPES))
  .min(1, 'must hold at least one scope')
  .max(SCOPES.length, `must hold at most ${SCOPES.length} scopes`)
  .refine((list) => new Set(list).size === list.length, 'must not hold a scope twice')
  .meta({ uniqueItems: true });

const apiKeyAnswer = answerOf<ApiKey & { status: 'ACTIVE' }>()({
  id: z.uuid(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  status: z.literal('ACTIVE'),
  last4: z
    .string()
    .nullable()
    .meta({ description: 'The last four characters of the key; null for one that was made before these were kept.' }),
  last_used_at: time.nullable().meta({
    description: 'When the key was used last, to the minute and known up to two minutes later. Null: not yet.',
  }),
  created_at: time,
}).meta({ id: 'ApiKey' });

const createdAnswer = apiKeyAnswer
  .extend({
    key: z
      .string()
      .nullable()
      .meta({ description: `The secret. It is shown here and never again. ${nullInRepeats()}` }),
  })
  .meta({ id: 'CreatedApiKey' });

export function apiKeyRoutes(app: App, { database, queue, guards }: ApiKeyDeps): void {
  const db = database.kysely;

  app.post(
    '/api/v1/api-keys',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'createApiKey',
        tags: ['Access'],
        summary: 'Create an API key',
        description:
          'Keep the key: only its hash is stored, so nobody can show it again. A lost one is deleted and replaced.',
        body: z.strictObject({ name: displayName, scopes }),
        response: { 201: createdAnswer },
      },
    },
    writing(database, ({ caller, body }, write) => {
      const key = newApiKey();
      const apiKey = {
        organization_id: caller.organizationId,
        id: newId(),
        key_hash: hashSecret(key),
        last4: last4Of(key),
        ...body,
      };
      return write.transaction(async (transaction) => {
        await holdOrganization(transaction, caller.organizationId);
        if ((await countApiKeys(transaction, caller.organizationId)) >= LIMITS.apiKeys)
          throw invalidFields([{ path: '', message: TOO_MANY_KEYS }]);
        return made({ ...answerApiKey(await insertApiKey(transaction, apiKey)), key }, ['key']);
      });
    }),
  );

  app.get(
    '/api/v1/api-keys',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listApiKeys',
        tags: ['Access'],
        summary: 'List the API keys, newest first',
        description: 'Never the keys themselves. A deleted key is not in the list.',
        querystring: listQuery({}),
        response: { 200: pageSchema(apiKeyAnswer) },
      },
    },
    async (request) => {
      const found = await listApiKeys(db, request.caller.organizationId, request.query);
      return answerPage(mapPage(found, answerApiKey));
    },
  );

  app.delete(
    '/api/v1/api-keys/:id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'deleteApiKey',
        tags: ['Access'],
        summary: 'Delete an API key',
        description: 'It is revoked at once: no request that starts after the answer is accepted, on any replica.',
        params: idInPath,
        response: { 204: nothing },
      },
    },
    writing(database, async (request, write) => {
      const { id } = request.params;
      return await write.transaction(async (transaction) => {
        found(await revokeApiKey(transaction, request.caller.organizationId, id));
        // Before the commit: where Redis cannot be told, the key is not deleted either, since processes that have it
        // in memory would go on taking it. If that fails, or the commit after it, the key may be refused without being gone,
        // for as long as a mark lives. It is the side to err on, and deleting it again mends that. To take the mark back might come
        // after another deletion, which was answered.
        write.goOutside();
        await tellRevoked(queue, id);
        return gone();
      });
    }),
  );
}

/** Keeps out a deleted key that some process still has in memory. */
async function tellRevoked(queue: QueueConnection, apiKeyId: string): Promise<void> {
  try {
    await markRevoked(queue, apiKeyId, REVOKED_SECONDS);
  } catch (error) {
    throw new Refusal('unavailable', error instanceof NotCopied ? NOT_COPIED : NOT_TOLD, {}, error);
  }
}

function answerApiKey(apiKey: ApiKey): z.output<typeof apiKeyAnswer> {
  return { ...apiKey, status: 'ACTIVE' };
}
