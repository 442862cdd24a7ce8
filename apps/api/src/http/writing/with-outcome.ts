// What a change that failed for now is answered with: whether something of it may be kept all the same. Whoever is told `not_accepted`
// may send it again as it is, and whoever is told `unknown` may not, without the same Idempotency-Key.

import { Refusal } from '@weir/shared/errors';
import type { FastifyRequest } from 'fastify';
import { refusalOfError } from '../problem.ts';

const UNKNOWN = 'The database did not answer in the end, so it is not known whether this was done:';

const WITH_KEY = `${UNKNOWN} send it again with the same Idempotency-Key, and it is done once.`;

const WITHOUT_KEY = `${UNKNOWN} look whether it was before you send it again. With an Idempotency-Key it can be sent again at once.`;

/** The error of a change, with its outcome where it says that Weir cannot do it now. */
export function withOutcome(error: unknown, { mayBeKept, key }: FastifyRequest): unknown {
  const refusal = refusalOfError(error);
  if (refusal?.code !== 'unavailable' || refusal.fields.outcome !== undefined) return error;
  const fields = { ...refusal.fields, outcome: mayBeKept ? 'unknown' : 'not_accepted' } as const;
  const isUnclear = mayBeKept && refusal !== error;
  const detail = isUnclear ? (key === undefined ? WITHOUT_KEY : WITH_KEY) : refusal.message;
  return new Refusal(refusal.code, detail, fields, error);
}
