import { Refusal, type ErrorCode } from '@weir/shared/errors';
import type { FastifyRequest } from 'fastify';
import { logDefect } from './log-defect.ts';
import { BROKEN, refusalOfError } from './problem.ts';

/** What a client is told of one of several things that it asked for, where the others are there. What is a defect of Weir is logged. */
export function problemOfOne(
  error: unknown,
  request: FastifyRequest,
  which: Record<string, string>,
): { code: ErrorCode; detail: string } {
  const refusal = refusalOfError(error);
  if (refusal === undefined) logDefect(request, error, 'a part of a request failed', which);
  const { code, message } = refusal ?? new Refusal('internal_error', BROKEN);
  return { code, detail: message };
}
