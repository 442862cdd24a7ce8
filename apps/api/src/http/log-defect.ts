import { errorCodeOf } from '@weir/shared/errors';
import { SparseLog } from '@weir/shared/sparse-log';
import type { FastifyRequest } from 'fastify';

const sparseLog = new SparseLog();

/**
 * Writes an `error` line of what Weir is to blame for. All requests, and all events of a batch, may meet the same: of those alike on a route,
 * and of the same thing, some have a line, which says how many others there were.
 */
export function logDefect(
  request: FastifyRequest,
  error: unknown,
  message: string,
  which: Record<string, string> = {},
): void {
  const path = request.routeOptions.url;
  // What Postgres says in words may name a value.
  const what = errorCodeOf(error) ?? (error instanceof Error ? error.message : typeof error);
  const kind = [path, message, what, ...Object.values(which)].join(' ');
  sparseLog.write(request.log, 'error', kind, { err: error, path, ...which }, message);
}
