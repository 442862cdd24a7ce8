// Makes src/api/openapi.d.ts of the API's own document. test/console/openapi-types.test.ts keeps the file true, and writes
// it anew with `-u`.

import openapiTypescript, { astToString } from 'openapi-typescript';

interface Document {
  paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
}

/** Every refusal has one shape, so that one answer for all of them says as much as one for each status. */
const PROBLEM = {
  description: 'A refusal',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

/** Returns the types of an OpenAPI document as TypeScript. */
export async function openapiTypes(document: object): Promise<string> {
  const shortened = structuredClone(document) as Document;
  for (const operation of Object.values(shortened.paths).flatMap((methods) => Object.values(methods))) {
    if (operation.responses === undefined) continue;
    const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
    operation.responses = { ...Object.fromEntries(successes), default: PROBLEM };
  }
  return astToString(await openapiTypescript(JSON.stringify(shortened), { defaultNonNullable: false }));
}
