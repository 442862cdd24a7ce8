// What the document says of who may call an operation: in words, and which refusals that adds. It is made of what the operation says of
// its schemes, which comes from its guard.

import type { ErrorCode } from '@weir/shared/errors';
import { addProblem, type TellingOperation } from './openapi-problems.ts';

interface Operation extends TellingOperation {
  description?: string;
  security?: Record<string, string[]>[];
}

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
export function tellOfAccess(paths: Record<string, Record<string, Operation>>): void {
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const needs = Object.assign({}, ...(operation.security ?? [])) as Record<string, string[]>;
    const schemes = Object.keys(needs);
    if (schemes.length === 0 || isOptional(operation)) continue;
    const words = schemes.map((scheme) => WORDS[scheme]?.(needs[scheme]?.[0]) ?? scheme);
    const who = `Who may: ${words.join(', or ')}.`;
    operation.description = operation.description === undefined ? who : `${operation.description}\n\n${who}`;
    for (const code of codesOf(needs)) addProblem(operation, code);
  }
}

const isOptional = ({ security = [] }: Operation): boolean => security.some((each) => Object.keys(each).length === 0);

function codesOf({ session, serviceToken }: Record<string, string[]>): ErrorCode[] {
  if (session === undefined) return [];
  if (serviceToken === undefined) return ['two_credentials', 'person_only'];
  return serviceToken[0] === 'viewer' ? ['two_credentials'] : ['two_credentials', 'missing_role'];
}
