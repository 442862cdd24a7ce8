// Writes down who changes what. The entry is there before the change begins, and is marked as done before the answer leaves: no
// crash leaves a change without an entry, and a success means that it is in the log. What is refused and changes nothing leaves none,
// where Postgres can take it back.

import {
  completeAuditEntry,
  deleteAuditEntry,
  insertAuditEntry,
  type Actor,
  type NewAuditEntry,
} from '@weir/db/audit-log';
import { isUnavailable, type Database } from '@weir/db/database';
import { newId } from '@weir/shared/ids';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readExact } from '../http/body/json.ts';
import { withRoundedAsText } from '../http/body/json-decimals.ts';
import type { App } from '../http/typed-app.ts';
import { AUDITED, NOT_AUDITED, type AuditedOperation } from './audited-operations.ts';
import { withoutSecrets } from './without-secrets.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its entry in the audit log, while it is not known what comes of it. */
    auditEntryId: string | undefined;
  }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** As much of what a browser calls itself as tells one from another. */
const USER_AGENT_CHARACTERS_MAX = 500;

/**
 * Sets the log up for every route that is added after this. Throws for an unsafe route of which it does not know the name. Has to be
 * set up before the shares of callers (read-budget.ts): what waits for its share, or is refused for it, has written nothing.
 */
export function useAudit(app: App, database: Database): void {
  app.decorateRequest('auditEntryId', undefined);
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      if (SAFE_METHODS.has(method) || !route.url.startsWith('/api/')) continue;
      const name = `${method} ${route.url}`;
      const operation = AUDITED[name];
      if (operation !== undefined) {
        const { handler } = route;
        const beginEntry = begin(database, operation);
        route.handler = async function audited(request, reply) {
          await beginEntry(request);
          return await handler.call(this, request, reply);
        };
        route.onSend = [route.onSend ?? [], end(database, operation)].flat();
      } else if (!NOT_AUDITED.has(name)) {
        throw new Error(`${name} has no name in the audit log: give it one in access/audited-operations.ts`);
      }
    }
  });
}

function begin(database: Database, operation: AuditedOperation) {
  return async (request: FastifyRequest): Promise<void> => {
    const { organizationId: organization_id } = request.caller;
    const params = request.params as Record<string, string>;
    const within = Object.entries(operation.within ?? {}).map(([param, name]) => [name, params[param]]);
    const changes = { ...Object.fromEntries(within), ...sentWithoutSecrets(request) };
    const entry: NewAuditEntry = {
      organization_id,
      id: newId(),
      action: operation.action,
      resource_id: resourceOf(request, operation) ?? null,
      ...actorOf(request),
      changes: Object.keys(changes).length === 0 ? null : changes,
      is_done: false,
    };
    // Where the answer of Postgres to it is lost, the entry may be there all the same, and is taken back with what was not done.
    request.auditEntryId = entry.id;
    // Its commit waits for the synchronous standby, with all before it: what is refused since it is made already is made there, too.
    await insertAuditEntry(database.kysely, entry);
  };
}

function end(database: Database, operation: AuditedOperation) {
  return async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    const { auditEntryId: id } = request;
    if (id === undefined) return payload;
    request.auditEntryId = undefined;
    const { organizationId } = request.caller;
    const { kysely } = database;
    try {
      // What another request had come to, which has its entry.
      if (request.isRepeat) await deleteAuditEntry(kysely, organizationId, id);
      else if (isDone(reply) || request.keepsChange) {
        const resourceId = operation.resource === 'answer' ? idIn(payload) : resourceOf(request, operation);
        await completeAuditEntry(kysely, organizationId, id, resourceId ?? null);
      } else if (isRefused(reply) || request.isNotAccepted) await deleteAuditEntry(kysely, organizationId, id);
      // Else something broke, and it is not known what came of the change: the entry stays, and says so.
    } catch (error) {
      // The change is made, and its entry is there. Telling the client that it failed would have it made again.
      // That Postgres went away in between happens; anything else is a fault of ours.
      const level = isUnavailable(error) ? 'warn' : 'error';
      request.log[level]({ err: error, entry: id }, 'an entry of the audit log could not be marked as done');
    }
    return payload;
  };
}

const isDone = ({ statusCode }: FastifyReply): boolean => statusCode < 300;
const isRefused = ({ statusCode }: FastifyReply): boolean => Math.floor(statusCode / 100) === 4;

function resourceOf(request: FastifyRequest, { resource }: AuditedOperation): string | undefined {
  switch (resource) {
    case 'organization':
      return request.caller.organizationId;
    case 'self':
      return request.caller.userId;
    case 'answer':
    case null:
      return undefined;
    case 'id':
    case 'charge_id':
    case 'line_id':
    case 'token_id':
    case 'payment_id':
      return (request.params as Record<string, string>)[resource];
  }
}

function idIn(payload: unknown): string | undefined {
  if (typeof payload !== 'string') return undefined;
  const { id } = JSON.parse(payload) as { id?: unknown };
  return typeof id === 'string' ? id : undefined;
}

/** Who sent a request, by its credential, and from where. */
function actorOf(request: FastifyRequest): Actor {
  const { person, serviceAccount, apiKeyId = null } = request.caller;
  const origin = originOf(request);
  if (person !== undefined)
    return { actor_type: 'user', actor_id: person.userId, actor_email: person.email, ...origin };
  if (serviceAccount !== undefined) {
    const { id, name } = serviceAccount;
    return { actor_type: 'service_account', actor_id: id, actor_email: null, actor_name: name, ...origin };
  }
  return { actor_type: 'api_key', actor_id: apiKeyId, actor_email: null, ...origin };
}

/** From where a request came, and with what. */
export function originOf(request: FastifyRequest): { address: string; user_agent: string | null } {
  const agent = request.headers['user-agent'];
  return { address: request.ip, user_agent: agent?.slice(0, USER_AGENT_CHARACTERS_MAX) ?? null };
}

/** The body as it was sent, with every digit of a number, and not as it was read, where defaults are filled in. */
export function sentWithoutSecrets(request: FastifyRequest): Record<string, unknown> | null {
  const { json } = request;
  const sent = json === null ? null : withoutSecrets(readExact(request, withRoundedAsText(json.text)).value);
  return typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? { ...sent } : null;
}
