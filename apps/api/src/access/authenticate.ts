// Who is asking. Each route names the guard that opens it; a guard sets request.caller or refuses with 401 or 403.
// Whether a thing belongs to the caller's organization is for the queries to say, all of which ask for it.

import type { ApiKeyGrant } from '@weir/db/api-keys';
import { findApiKeyGrant } from '@weir/db/api-keys';
import { isUnavailable, type Database } from '@weir/db/database';
import type { Scope } from '@weir/db/schema';
import { findServiceGrant, reaches } from '@weir/db/service-accounts';
import { findSession } from '@weir/db/sessions';
import { findWidgetGrant } from '@weir/db/widget-tokens';
import { isRedisAway } from '@weir/queue/redis-away';
import { Refusal } from '@weir/shared/errors';
import { SparseLog } from '@weir/shared/sparse-log';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bearerTokenOf } from '../http/bearer-token.ts';
import type { Caller, Person } from '../http/load/caller.ts';
import type { ApiKeyCache, CachedKey } from './api-key-cache.ts';
import type { LastUse } from './last-use.ts';
import { OPENINGS, SESSION_COOKIE, tellOfGuards, type Opening } from './openings.ts';
import { mayActInSession } from './same-origin.ts';
import { hashSecret, hashSecretText, isApiKey, isServiceToken, isSessionToken, isWidgetToken } from './secrets.ts';

type Guard = (request: FastifyRequest) => Promise<void>;

/** By what it opens: openings.ts says who may. That of tracking calls back, mostly in the same turn of the event loop. */
export type Guards = Record<Exclude<keyof typeof OPENINGS, 'write'>, Guard> & {
  write(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void;
};

export interface GuardDeps {
  database: Database;
  /** Where tracking finds API keys. */
  apiKeys: ApiKeyCache;
  keyUse: Pick<LastUse, 'note'>;
  tokenUse: Pick<LastUse, 'note'>;
  publicUrl: string | undefined;
}

export function buildGuards(
  app: FastifyInstance,
  { database, apiKeys, keyUse, tokenUse, publicUrl }: GuardDeps,
): Guards {
  // Null until a guard has run; the type says otherwise so that no route has to ask.
  app.decorateRequest('caller', null as unknown as Caller);

  const sparse = new SparseLog();
  const find = (keyHash: Buffer) => findApiKeyGrant(database.kysely, keyHash);

  async function bySession(request: FastifyRequest, { session }: Opening): Promise<void> {
    const token = sessionTokenOf(request);
    const onUnwritten = (err: unknown) =>
      sparse.warn(request.log, 'session', { err }, 'the last use of a session could not be written down');
    const found = token === undefined ? undefined : await findSession(database.kysely, hashSecret(token), onUnwritten);
    if (found === undefined) throw new Refusal('unauthenticated', noSession(request, token));
    requireSameOrigin(request, publicUrl);
    const { organization_id: organizationId, user_id: userId, id: sessionId, email, role } = found;
    if (session === 'admin' && role !== 'admin') throw new Refusal('admin_only', ADMIN_ONLY);
    request.caller = { organizationId, userId, person: { userId, email, role, sessionId } };
  }

  async function byServiceToken(
    request: FastifyRequest,
    token: string,
    { serviceToken: least }: Opening,
  ): Promise<void> {
    const isPossible = isServiceToken(token);
    const grant = isPossible ? await findServiceGrant(database.kysely, hashSecret(token)) : undefined;
    if (grant === undefined) throw new Refusal('unauthenticated', NO_SERVICE_TOKEN);
    const { id, organization_id: organizationId, token_id, name, role } = grant;
    if (least === undefined) throw new Refusal('person_only', PERSON_ONLY);
    if (!reaches(role, least))
      throw new Refusal('missing_role', `This takes the role ${least}: the role of ${name} is ${role}.`);
    request.caller = { organizationId, serviceAccount: { id, name, role } };
    tokenUse.note(token_id, organizationId);
  }

  async function withKey(request: FastifyRequest, scope: Scope): Promise<void> {
    const keyHash = keyHashOf(request);
    const grant = keyHash === undefined ? undefined : await find(Buffer.from(keyHash, 'base64'));
    request.caller = callerOf(grant, scope, request);
    if (grant !== undefined) keyUse.note(grant.id, grant.organization_id);
  }

  /** For all that people open. */
  const guardOf =
    (opening: Opening): Guard =>
    async (request) => {
      // Someone who sends a key on purpose means the key, also from a browser that adds its cookie.
      const scope = request.headers['x-api-key'] === undefined ? undefined : opening.apiKey;
      const token = bearerTokenOf(request);
      if (token !== undefined) {
        // Which of two is meant is not for us to guess: they may belong to different organizations.
        if (request.headers['x-api-key'] !== undefined || sessionTokenOf(request) !== undefined)
          throw new Refusal('two_credentials', TWO_CREDENTIALS);
        await byServiceToken(request, token, opening);
      } else if (scope !== undefined) await withKey(request, scope);
      else await bySession(request, opening);
    };

  const guards: Guards = {
    person: guardOf(OPENINGS.person),
    adminPerson: guardOf(OPENINGS.adminPerson),
    viewer: guardOf(OPENINGS.viewer),
    biller: guardOf(OPENINGS.biller),
    admin: guardOf(OPENINGS.admin),
    read: guardOf(OPENINGS.read),
    write(request, _reply, done) {
      const settle = (grant: CachedKey | undefined) => {
        request.caller = callerOf(grant, OPENINGS.write.apiKey, request);
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
    writeNow: (request) => withKey(request, OPENINGS.writeNow.apiKey),
    async widget(request) {
      const token = bearerTokenOf(request);
      const isPossible = token !== undefined && isWidgetToken(token);
      const grant = isPossible ? await findWidgetGrant(database.kysely, hashSecret(token)) : undefined;
      if (grant === undefined) throw new Refusal('unauthenticated', noWidget(token));
      const { organization_id: organizationId, customer_external_id: customerExternalId, seconds_left } = grant;
      request.caller = { organizationId, customerExternalId, secondsLeft: seconds_left };
    },
  };
  const names = Object.keys(guards) as (keyof Guards)[];
  tellOfGuards(app, new Map(names.map((name) => [guards[name], OPENINGS[name]])));
  return guards;
}

const TWO_CREDENTIALS =
  'Send one credential: a token in the header Authorization, and beside it neither a session nor an API key.';
const TWO_SESSIONS = `Two cookies are named ${SESSION_COOKIE}: have the browser delete the cookies of this site and of its parent domain, and sign in again.`;
const NO_SERVICE_TOKEN =
  'No service account has this token (any more): check that it is complete and has not ended, or make a new one.';
const PERSON_ONLY = 'A service account does not open this: sign in, and send the cookie of the session.';
export const ADMIN_ONLY =
  'You may look at everything and change nothing: ask an admin of your organization to do this.';

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

/**
 * The tokens in the cookies of a request, each once. There may be two: a page of a sibling domain can set a cookie for this one, which a
 * browser sends first where its path is longer. What another program there keeps under that name is none, unless it is all there is.
 */
export function sessionTokensOf({ headers: { cookie = '' }, server }: FastifyRequest): string[] {
  const values = cookie.split(';').map((part) => server.parseCookie(part)[SESSION_COOKIE]);
  const all = [...new Set(values.filter((value) => value !== undefined))];
  const tokens = all.filter(isSessionToken);
  return tokens.length > 0 ? tokens : all.slice(0, 1);
}

/** The token in the cookie of a request. Refuses two: they may belong to different organizations. */
function sessionTokenOf(request: FastifyRequest): string | undefined {
  const [token, other] = sessionTokensOf(request);
  if (other !== undefined) throw new Refusal('two_credentials', TWO_SESSIONS);
  return token;
}

function noSession(request: FastifyRequest, token: string | undefined): string {
  if (token !== undefined) return 'The session has ended: sign in again.';
  return request.headers['x-api-key'] === undefined
    ? `Sign in first, or send the token of a service account: this takes the cookie ${SESSION_COOKIE}, or Authorization: Bearer.`
    : 'An API key does not open this: sign in, or send the token of a service account.';
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

/**
 * Throws the 401 of a tracking request whose API key was deleted since, though the guard had it in memory. Where Redis has no mark of that,
 * and Postgres does not answer, the key is taken for what it was. It costs Redis a question, and Postgres one at a time for each key in
 * use; neither for a key that nobody has.
 */
export async function refuseDeleted(apiKeys: ApiKeyCache, request: FastifyRequest): Promise<void> {
  const keyHash = keyHashOf(request);
  if (keyHash !== undefined && (await apiKeys.isGone(keyHash))) throw noKey(request);
}

function callerOf(grant: ApiKeyGrant | undefined, scope: Scope, request: FastifyRequest): Caller {
  if (grant === undefined) throw noKey(request);
  if (!grant.scopes.includes(scope)) {
    throw new Refusal('missing_scope', `This API key does not have the scope ${scope}: use or create one that has it.`);
  }
  return { organizationId: grant.organization_id, apiKeyId: grant.id };
}

function noKey(request: FastifyRequest): Refusal {
  const detail =
    request.headers['x-api-key'] === undefined
      ? 'Send an API key in the header X-API-Key.'
      : 'The API key is not valid (any more): check that it is complete, or create a new one.';
  return new Refusal('unauthenticated', detail);
}

/** A service that tracks has to know that nothing was kept when its key could not be checked. */
function notChecked(error: unknown): Error {
  if (isUnavailable(error) || isRedisAway(error)) {
    const detail = 'The API key cannot be checked now, and nothing was kept: send the request again in a moment.';
    return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 2 }, error);
  }
  return error instanceof Error ? error : new Error(String(error));
}
