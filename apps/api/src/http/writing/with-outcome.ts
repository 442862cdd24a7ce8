// What a request that cannot be done now is answered with: whether this attempt may have made its change all the same. Whoever is told
// `not_accepted` may send it again as it is, and whoever is told `unknown` may not, without the same Idempotency-Key.

import { Refusal, type ErrorCode } from '@weir/shared/errors';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is made with `writing`. */
    isRepeatable: boolean;
    /** Whether something of its change may be kept, where it fails now. Of what is not made with `writing` nobody knows. */
    mayBeKept: boolean;
    /** Whether it failed, and nothing of it was kept. */
    isNotAccepted: boolean;
  }
}

const UNKNOWN = 'The database did not answer in the end, so it is not known whether this was done:';

const WITH_KEY = `${UNKNOWN} send it again with the same Idempotency-Key, and it is done once.`;

const WITHOUT_KEY = `${UNKNOWN} look whether it was before you send it again. With an Idempotency-Key it can be sent again at once.`;

/** Of a sign-up or a link: its first answer is not kept. */
const TAKES_NO_KEY = `${UNKNOWN} where it was to make an account or to set a password, try first to sign in with that; else send it again.`;

/** Of these it makes no difference whether they were done before: who is told to try again may do so. */
const HARMLESS: ReadonlySet<string | undefined> = new Set([
  '/api/v1/auth/login',
  '/api/v1/auth/logout',
  '/api/v1/auth/invitation',
]);

const NOT_NOW: ReadonlySet<ErrorCode> = new Set(['unavailable', 'shutting_down']);

/** The refusal that an error comes to, with its outcome where it says that Weir cannot do it now: each 503 has one. */
export function withOutcome(refusal: Refusal, error: unknown, request: FastifyRequest): Refusal {
  const { isRepeatable, mayBeKept, key, routeOptions } = request;
  if (!NOT_NOW.has(refusal.code)) return refusal;
  const { outcome = mayBeKept ? 'unknown' : 'not_accepted' } = refusal.fields;
  request.isNotAccepted = outcome === 'not_accepted';
  const isUnclear = outcome === 'unknown' && refusal !== error && !HARMLESS.has(routeOptions.url);
  const withoutKey = isRepeatable ? WITHOUT_KEY : TAKES_NO_KEY;
  const detail = isUnclear ? (key === undefined ? withoutKey : WITH_KEY) : refusal.message;
  return new Refusal(refusal.code, detail, { ...refusal.fields, outcome });
}
