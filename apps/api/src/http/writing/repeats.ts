// Which requests take an Idempotency-Key: all that change something, but those that sign somebody in or out. A route that is neither
// made with `writing` nor named here stops the start. The header is obeyed or refused: it is never ignored.

import type { Database } from '@weir/db/database';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { createHash } from 'node:crypto';
import { credentialOf } from '../load/caller.ts';
import { KEY_HEADER, keyInHeader } from './key-header.ts';
import { invalidFields } from '../problem.ts';
import type { App } from '../typed-app.ts';
import { findFirst, isWriting, sendWritten, type Written } from './writing.ts';

/** The key of an event is the event's, for ever. */
const KEYS_OF_EVENTS: ReadonlySet<string> = new Set(['POST /api/v1/sdk/track', 'POST /api/v1/sdk/track/batch']);

const OF_A_LINK = 'is of no use here, since a link works once: leave it out';
const OF_A_SESSION = 'is of no use here, since it is not known yet whose it is: leave it out';

/** Unsafe by their method, and refused with a key: why. */
const WITHOUT_KEY: ReadonlyMap<string, string> = new Map([
  ['POST /api/v1/auth/signup', OF_A_SESSION],
  ['POST /api/v1/auth/login', OF_A_SESSION],
  ['POST /api/v1/auth/logout', 'is of no use here, since a session ends once: leave it out'],
  ['POST /api/v1/auth/password-reset/request', OF_A_SESSION],
  ['POST /api/v1/auth/password-reset', OF_A_LINK],
  ['POST /api/v1/auth/invitation', OF_A_LINK],
  ['POST /api/v1/auth/invitation/accept', OF_A_LINK],
]);

/** Takes a key, and its body is secret. */
const CHANGE_PASSWORD = '/api/v1/auth/password';

const OF_A_READ = 'is for requests that change something, and this one only reads: leave it out';

const READS = new Set(['GET', 'HEAD']);

/** Whether an operation takes the header, and repeats its first answer: of the document, with the path as Fastify has it. */
export function isRepeatable(method: string, url: string): boolean {
  const name = `${method} ${url}`;
  return isUnsafe(method) && url.startsWith('/api/') && !KEYS_OF_EVENTS.has(name) && !WITHOUT_KEY.has(name);
}

/** Whether an operation refuses the header. */
export function refusesKey(method: string, url: string): boolean {
  return whyNot(method, url) !== undefined;
}

function whyNot(method: string, url: string): string | undefined {
  if (!url.startsWith('/api/')) return undefined;
  return READS.has(method) ? OF_A_READ : WITHOUT_KEY.get(`${method} ${url}`);
}

/** Whether it may change something: also what only computes. */
export const isUnsafe = (method: string): boolean => !READS.has(method) && method !== 'OPTIONS';

/** Tells what is refused (with-outcome.ts) which requests may be sent again. Has to be set up before all that refuses. */
export function markRepeats(app: App): void {
  app.decorateRequest('isRepeatable', false);
  app.decorateRequest('mayBeKept', false);
  app.addHook('onRequest', (request, _reply, done) => {
    request.isRepeatable = isRepeatable(request.method, request.routeOptions.url ?? '');
    request.mayBeKept = isUnsafe(request.method) && !request.isRepeatable;
    done();
  });
}

/**
 * Refuses the header where it is of no use, on every route that is added after this. Throws for one that changes something and is not made
 * with `writing`. Has to be set up before what wraps handlers: a route is known by its own.
 */
export function useRepeats(app: App): void {
  app.decorateRequest('key', undefined);
  app.decorateRequest('isRepeat', false);
  app.decorateRequest('keepsChange', false);
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const why = whyNot(method, route.url);
      if (why !== undefined) route.onRequest = [route.onRequest ?? [], refuseKey(why)].flat();
      else if (isRepeatable(method, route.url) && !isWriting(route.handler))
        throw new Error(
          `${method} ${route.url} is not safe to repeat: make its handler with writing of http/writing/writing.ts`,
        );
    }
  });
}

/**
 * Answers repeats with what the first request had come to, on every route that is added after this. Has to be set up after the audit
 * log, which hears of no repeat, and before the shares of callers (read-budget.ts): a repeat takes a place and pays for its answer.
 */
export function useFirstAnswers(app: App, database: Database): void {
  app.addHook('onRoute', (route) => {
    if (![route.method].flat().some((method) => isRepeatable(method, route.url))) return;
    const { handler } = route;
    route.handler = async function onlyOnce(request, reply) {
      const first = await findAnswer(database, request);
      if (first === undefined) return await handler.call(this, request, reply);
      request.isRepeat = true;
      return sendWritten(reply, first);
    };
  });
}

function refuseKey(message: string): onRequestHookHandler {
  return (request, _reply, done) => {
    if (request.headers['idempotency-key'] === undefined) done();
    else done(invalidFields([{ path: KEY_HEADER, message }]));
  };
}

/** What the request has come to already; undefined where it has no key, or is the first with it. What was done is not done again. */
async function findAnswer(database: Database, request: FastifyRequest): Promise<Written<unknown> | undefined> {
  const sent = keyInHeader(request);
  if (sent === undefined) return undefined;
  const { organizationId } = request.caller;
  const { method, url, routeOptions } = request;
  // Nobody stores the key: without it a password cannot be tried out on this hash.
  const salt = routeOptions.url === CHANGE_PASSWORD ? [sent] : [];
  request.key = {
    organizationId,
    keyHash: hashOf(organizationId, credentialOf(request.caller), sent),
    requestHash: hashOf(...salt, method, url, request.json?.text ?? ''),
  };
  return await findFirst(database, request.key);
}

/** None of the parts but the last holds a NUL. */
const hashOf = (...parts: string[]): Buffer => createHash('sha256').update(parts.join('\0')).digest();
