// What the document says of who may call an operation, in words, and of the refusals that follow from that, from its method and from
// its path: a route names those alone that are its own. It is made of what the operation says of its schemes, which comes from its guard.

import type { ErrorCode } from '@weir/shared/errors';
import { isUnsafe } from '../writing/repeats.ts';
import { operationsOf, putProblems, type Operation, type Paths } from './openapi-operations.ts';

/** Words for a scheme, with the role or scope that it needs. */
const WORDS: Record<string, (needs: string | undefined) => string> = {
  session: (role) => (role === 'admin' ? 'an admin who is signed in' : 'whoever is signed in'),
  serviceToken: (role) =>
    role === 'viewer'
      ? 'a service account of any role'
      : `a service account with the role ${role === 'biller' ? 'biller or admin' : 'admin'}`,
  apiKey: (scope) => `an API key with the scope ${scope}`,
  widgetToken: () => 'the customer of a widget token',
};

/** Adds all of it to the paths of a document. */
export function tellOfAccess(paths: Paths): void {
  for (const { method, url, operation } of operationsOf(paths).filter(({ url }) => url.startsWith('/api/'))) {
    const needs = needsOf(operation);
    const words = Object.entries(needs).map(([scheme, [need]]) => WORDS[scheme]?.(need) ?? scheme);
    if (words.length > 0) {
      const who = `Who may: ${words.join(', or ')}.`;
      operation.description = operation.description === undefined ? who : `${operation.description}\n\n${who}`;
    }
    putProblems(operation, [
      ...(isUnsafe(method) ? codesOfWrite(needs) : []),
      ...codesOfAccess(needs),
      ...(url.includes(':') ? (['not_found'] as const) : []),
      'invalid_request',
      'rate_limited',
      'unavailable',
    ]);
  }
}

/** Nothing, where it opens to everybody. */
function needsOf({ security = [] }: Operation): Record<string, string[]> {
  const isOptional = security.some((each) => Object.keys(each).length === 0);
  return isOptional ? {} : (Object.assign({}, ...security) as Record<string, string[]>);
}

/** A body is read before anything is done, also where none is asked for. A browser sends a cookie by itself, and no other credential. */
function codesOfWrite(needs: Record<string, string[]>): ErrorCode[] {
  const isOfBrowser = needs['session'] !== undefined || Object.keys(needs).length === 0;
  const unreadable = ['malformed_json', 'payload_too_large', 'unsupported_media_type'] as const;
  return isOfBrowser ? ['cross_origin', ...unreadable] : [...unreadable];
}

function codesOfAccess(needs: Record<string, string[]>): ErrorCode[] {
  const { session, serviceToken, apiKey } = needs;
  if (Object.keys(needs).length === 0) return [];
  const codes: ErrorCode[] = ['unauthenticated'];
  if (apiKey !== undefined) codes.push('missing_scope');
  if (session?.[0] === 'admin') codes.push('admin_only');
  if (session !== undefined) codes.push('two_credentials');
  if (session !== undefined && serviceToken === undefined) codes.push('person_only');
  if (session !== undefined && serviceToken !== undefined && serviceToken[0] !== 'viewer') codes.push('missing_role');
  return codes;
}
