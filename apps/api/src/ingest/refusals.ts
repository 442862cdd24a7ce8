// What a sender is told of an event that was not taken.

import type { Admission } from '@weir/queue/admit';
import { Refusal, type ErrorCode, type Shortage } from '@weir/shared/errors';
import type { FastifyRequest } from 'fastify';
import { logDefect } from '../http/log-defect.ts';
import type { RefusedBecause } from '../http/metrics.ts';
import { statusOf } from '../http/problem.ts';

/** What a sender is told whose event was not staged; undefined for one whose event was. */
export function refusalOfAdmission(admission: Admission): Refusal | undefined {
  switch (admission.outcome) {
    case 'staged':
      return undefined;
    case 'revoked':
      return new Refusal('unauthenticated', 'The API key was deleted: use another one.');
    case 'unsure':
      return new Refusal(
        'unavailable',
        'The API key has to be checked anew, and nothing was kept: send the event again in a moment.',
        { outcome: 'not_accepted', retryAfterSeconds: 1 },
      );
    case 'held':
      return admission.isSamePayload
        ? new Refusal(
            'duplicate_event',
            'An event with this idempotency_key is already accepted: nothing is left to do.',
            {
              id: admission.id,
            },
          )
        : new Refusal(
            'idempotency_key_reused',
            'This idempotency_key belongs to an event with another payload or meter: look at that event (id), and use a new key for a new one.',
            { id: admission.id },
          );
  }
}

/** The other items of the batch may be accepted by now, so one that broke is answered by itself, too. */
export function asRefusal(request: FastifyRequest, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  logDefect(request, error, 'an event of a batch failed');
  const detail =
    'Something broke on our side, and the event may have been taken or not: send it again with the same key.';
  return new Refusal('internal_error', detail, { outcome: 'unknown' });
}

/** How many of these events may be taken when they are sent again, by why they were not. Those that were refused for good are not counted. */
export function countByReason(refused: readonly Refusal[]): Map<RefusedBecause, number> {
  const counts = new Map<RefusedBecause, number>();
  for (const { code, fields } of refused) {
    if (statusOf(code) < 500) continue;
    const reason = reasonOf(code, fields.because);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return counts;
}

function reasonOf(code: ErrorCode, because: Shortage | undefined): RefusedBecause {
  if (code === 'internal_error') return 'broken';
  return code === 'shutting_down' ? code : (because ?? 'away');
}

/** Refusals that say nothing about the event itself, so that they would be the same for any other one. */
const ABOUT_THE_REQUEST = new Set(['unavailable', 'shutting_down', 'unauthenticated']);

/**
 * When no item could be taken for a reason that lies with none of them, the request as a whole is what has to be sent
 * again. It is answered `unknown` if that is true of any item: nothing that may have been kept is called not accepted.
 * A deleted API key is such a reason also where it met only some of the items, since it opens nothing for the others either.
 */
export function throwIfAboutTheRequest(refused: readonly Refusal[]): void {
  const unknown = refused.find(({ fields }) => fields.outcome === 'unknown');
  const revoked = refused.find(({ code }) => code === 'unauthenticated');
  if (unknown === undefined && revoked !== undefined) throw revoked;
  const [first] = refused;
  if (first === undefined || !refused.every(({ code }) => ABOUT_THE_REQUEST.has(code))) return;
  if (unknown !== undefined) throw unknown;
  if (refused.every(({ code }) => code === first.code)) throw first;
}

/** What admission says, which asks for the mark of a deleted API key in the same step, and the direct way, which looks the key up. */
const KEY_IS_KNOWN = new Set<ErrorCode>(['unauthenticated', 'duplicate_event', 'idempotency_key_reused']);

/** Whether something is refused for good without anybody having asked whether its API key, which was found in memory, is deleted. */
export function leavesKeyOpen({ code }: Refusal): boolean {
  return statusOf(code) < 500 && !KEY_IS_KNOWN.has(code);
}
