// Who is asking. Each route names the guard that opens it; a guard sets request.caller or refuses with 401 or 403.
// Whether a thing belongs to the caller's organization is for the queries to say, all of which ask for it.

import type { ApiKeyGrant } from '@weir/db/api-keys';
import { findApiKeyGrant } from '@weir/db/api-keys';
import { isUnavailable, type Database } from '@weir/db/database';
import type { Scope } from '@weir/db/schema';
import { findSession } from '@weir/db/sessions';
import { findWidgetGrant } from '@weir/db/widget-tokens';
import { isRedisAway } from '@weir/queue/redis-away';
import { Refusal } from '@weir/shared/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Person } from '../http/caller.ts';
import type { ApiKeyCache, CachedKey } from './api-key-cache.ts';
import type { KeyUse } from './key-use.ts';
import { mayActInSession } from './same-origin.ts';
import { hashSecret, hashSecretText, isApiKey, isWidgetToken } from './secrets.ts';

export interface Guards {
  /** A session, of whatever role: for reading, and for what is a person's own. */
  session(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** A session of an admin: for everything that changes what the organization has. */
  admin(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** A session, or an API key with usage.read. */
  read(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /**
   * An API key with usage.write. Most answers come from memory, in the same turn of the event loop; the route must ask
   * for the key's revoked mark (`keys.revoked`) before it takes anything, as admission does.
   */
  write(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void;
  /** An API key with usage.write, looked up for this request: for routes that ask for no revoked mark. */
  writeNow(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** A widget token. Nothing else takes one, and this takes nothing else. */
  widget(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

export interface GuardDeps {
  database: Database;
  /** Where tracking finds API keys. */
  apiKeys: ApiKeyCache;
  keyUse: Pick<KeyUse, 'note'>;
  publicUrl: string | undefined;
}

export const SESSION_COOKIE = 'access_token';

const BY_WIDGET_TOKEN = 'Bearer realm="widget"';
const BY_KEY = 'ApiKey header="X-API-Key"';
const BY_SESSION = `Session cookie="${SESSION_COOKIE}"`;

export function buildGuards(app: FastifyInstance, { database, apiKeys, keyUse, publicUrl }: GuardDeps): Guards {
  // Null until a guard has run; the type says otherwise so that no route has to ask.
  app.decorateRequest('caller', null as unknown as Caller);

  const find = (keyHash: Buffer) => findApiKeyGrant(database.kysely, keyHash);

  async function session(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const token = sessionTokenOf(request);
    const found = token === undefined ? undefined : await findSession(database.kysely, hashSecret(token));
    if (found === undefined) {
      void reply.header('www-authenticate', BY_SESSION);
      throw new Refusal('unauthenticated', noSession(request, token));
    }
    requireSameOrigin(request, publicUrl);
    const { organization_id: organizationId, user_id: userId, id: sessionId, email, role } = found;
    request.caller = { organizationId, userId, person: { userId, email, role, sessionId } };
  }

  async function admin(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await session(request, reply);
    if (request.caller.person?.role !== 'admin') throw new Refusal('admin_only', ADMIN_ONLY);
  }

  async function withKey(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<void> {
    const keyHash = keyHashOf(request);
    const grant = keyHash === undefined ? undefined : await find(Buffer.from(keyHash, 'base64'));
    request.caller = callerOf(grant, scope, request, reply);
    if (grant !== undefined) keyUse.note(grant.id, grant.organization_id);
  }

  return {
    session,
    admin,
    // Someone who sends a key on purpose means the key, also from a browser that adds its cookie.
    read: (request, reply) =>
      request.headers['x-api-key'] === undefined ? session(request, reply) : withKey(request, reply, 'usage.read'),
    write(request, reply, done) {
      const settle = (grant: CachedKey | undefined) => {
        request.caller = callerOf(grant, 'usage.write', request, reply);
        if (grant === undefined) return;
        request.caller.epoch = grant.epoch;
        keyUse.note(grant.id, grant.organization_id);
      };
      try {
        const keyHash = keyHashOf(request);
        const grant = keyHash === undefined ? undefined : apiKeys.get(keyHash);
        if (grant instanceof Promise) {
          grant.then(settle).then(
            () => done(),
            (error: unknown) => done(notChecked(error)),
          );
          return;
        }
        settle(grant);
      } catch (error) {
        done(error as Error);
        return;
      }
      done();
    },
    writeNow: (request, reply) => withKey(request, reply, 'usage.write'),
    async widget(request, reply) {
      const token = bearerTokenOf(request);
      const isPossible = token !== undefined && isWidgetToken(token);
      const grant = isPossible ? await findWidgetGrant(database.kysely, hashSecret(token)) : undefined;
      if (grant === undefined) {
        void reply.header('www-authenticate', BY_WIDGET_TOKEN);
        throw new Refusal('unauthenticated', noWidget(token));
      }
      const { organization_id: organizationId, customer_external_id: customerExternalId, seconds_left } = grant;
      request.caller = { organizationId, customerExternalId, secondsLeft: seconds_left };
    },
  };
}

const ADMIN_ONLY = 'You may look at everything and change nothing: ask an admin of your organization to do this.';

/** The person of a session; for routes that a session opens and nothing else. */
export function personOf(request: FastifyRequest): Person {
  const { person } = request.caller;
  if (person === undefined) throw new Error('a route for people was opened by something else than a session');
  return person;
}

/** Refuses what a page of another site may have made a browser send. */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string | undefined): void {
  if (mayActInSession(request.method, request.headers, publicUrl)) return;
  throw new Refusal(
    'cross_origin',
    'The browser says that this request comes from another site: send it from a page of Weir.',
  );
}

/** The token in the cookie of a request. */
export function sessionTokenOf(request: FastifyRequest): string | undefined {
  const { cookie } = request.headers;
  return cookie === undefined ? undefined : request.server.parseCookie(cookie)[SESSION_COOKIE];
}

function noSession(request: FastifyRequest, token: string | undefined): string {
  if (token !== undefined) return 'The session has ended: sign in again.';
  return request.headers['x-api-key'] === undefined
    ? `Sign in first: this takes the cookie ${SESSION_COOKIE} of a session.`
    : `An API key does not open this: sign in, and send the cookie ${SESSION_COOKIE} of the session.`;
}

function bearerTokenOf({ headers }: FastifyRequest): string | undefined {
  return /^bearer +([^ ]+) *$/i.exec(headers.authorization ?? '')?.[1];
}

function noWidget(token: string | undefined): string {
  return token === undefined
    ? 'Send a widget token: Authorization: Bearer and the token.'
    : 'The widget token has ended: have the app ask for a new one.';
}

/** The hash of the key in the header in base64, or undefined for what cannot be one of our keys. */
function keyHashOf(request: FastifyRequest): string | undefined {
  const key = request.headers['x-api-key'];
  return typeof key === 'string' && isApiKey(key) ? hashSecretText(key) : undefined;
}

function callerOf(grant: ApiKeyGrant | undefined, scope: Scope, request: FastifyRequest, reply: FastifyReply): Caller {
  if (grant === undefined) {
    void reply.header('www-authenticate', BY_KEY);
    const detail =
      request.headers['x-api-key'] === undefined
        ? 'Send an API key in the header X-API-Key.'
        : 'The API key is not valid (any more): check that it is complete, or create a new one.';
    throw new Refusal('unauthenticated', detail);
  }
  if (!grant.scopes.includes(scope)) {
    throw new Refusal('missing_scope', `This API key does not have the scope ${scope}: use or create one that has it.`);
  }
  return { organizationId: grant.organization_id, apiKeyId: grant.id };
}

/** A service that tracks has to know that nothing was kept when its key could not be checked. */
function notChecked(error: unknown): Error {
  if (isUnavailable(error) || isRedisAway(error)) {
    const detail = 'The API key cannot be checked now, and nothing was kept: send the request again in a moment.';
    return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 2 }, error);
  }
  return error instanceof Error ? error : new Error(String(error));
}
