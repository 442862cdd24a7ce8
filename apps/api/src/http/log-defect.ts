import { errorCodeOf } from '@weir/shared/errors';
import { SparseLog } from '@weir/shared/sparse-log';
import type { FastifyRequest } from 'fastify';

const sparseLog = new SparseLog();

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/**
 * Writes an `error` line of what Weir is to blame for. All requests, and all events of a batch, may meet the same: of those alike on a route
 * some have a line, which says how many others there were. Ids make no difference: a line has those that it is of.
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
  const kind = [path, message, what.replaceAll(ID, 'id')].join(' ');
  sparseLog.write(request.log, 'error', kind, { err: error, path, ...which }, message);
}
