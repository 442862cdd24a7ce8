// What a request that cannot be done now is answered with: whether its change may be there all the same. Whoever is told `not_accepted`
// may send it again as it is, and whoever is told `unknown` may not, without the same Idempotency-Key.

import { Refusal } from '@weir/shared/errors';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Whether a request before this one may have made its change: it has a key, which is not in hand yet. Undefined of what is not made
     * with `writing`.
     */
    mayBeRepeat: boolean | undefined;
    /** Whether something of its change may be kept, where it fails now. */
    mayBeKept: boolean;
    /** Whether it failed, and nothing of it was kept. */
    isNotAccepted: boolean;
  }
}

const UNKNOWN = 'The database did not answer in the end, so it is not known whether this was done:';

const WITH_KEY = `${UNKNOWN} send it again with the same Idempotency-Key, and it is done once.`;

const WITHOUT_KEY = `${UNKNOWN} look whether it was before you send it again. With an Idempotency-Key it can be sent again at once.`;

/** Of a request of which nothing was kept, where it has a key. */
const BEFORE =
  'If you have sent it before, it is not known whether it was done then: with the same Idempotency-Key it is done once.';

/** The refusal that an error comes to, with its outcome where it says that Weir cannot do it now. What is no `writing` has its own. */
export function withOutcome(refusal: Refusal, error: unknown, request: FastifyRequest): Refusal {
  const { mayBeRepeat, mayBeKept, key } = request;
  const { outcome = mayBeKept ? 'unknown' : 'not_accepted' } = refusal.fields;
  if (refusal.code !== 'unavailable' || mayBeRepeat === undefined) {
    request.isNotAccepted = refusal.fields.outcome === 'not_accepted';
    return refusal;
  }
  request.isNotAccepted = outcome === 'not_accepted';
  if (mayBeRepeat && outcome === 'not_accepted')
    return new Refusal(refusal.code, `${refusal.message} ${BEFORE}`, { ...refusal.fields, outcome: 'unknown' });
  const isUnclear = outcome === 'unknown' && refusal !== error;
  const detail = isUnclear ? (key === undefined ? WITHOUT_KEY : WITH_KEY) : refusal.message;
  return new Refusal(refusal.code, detail, { ...refusal.fields, outcome });
}
