// Makes src/api/openapi.d.ts of the API's own document. test/console/openapi-types.test.ts keeps the file true, and writes
// it anew with `-u`.

import openapiTypescript, { astToString } from 'openapi-typescript';

interface Operation {
  parameters?: { in?: string }[];
  responses?: Record<string, { headers?: unknown }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, unknown>;
}

/** Every refusal has one shape, so that one answer for all of them says as much as one for each status. */
const REFUSAL = {
  description: 'A refusal',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

/**
 * Returns the types of an OpenAPI document as TypeScript. Left out is what no type is made of, examples, and what only
 * `api/client.ts` has to do with, headers.
 */
export async function openapiTypes(document: object): Promise<string> {
  const shortened = JSON.parse(JSON.stringify(document, withoutExamples)) as Document;
  shortened.components.responses = { Refusal: REFUSAL };
  for (const operation of Object.values(shortened.paths).flatMap((methods) => Object.values(methods))) {
    operation.parameters = operation.parameters?.filter((parameter) => parameter.in !== 'header') ?? [];
    if (operation.responses === undefined) continue;
    const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
    for (const [, success] of successes) delete success.headers;
    operation.responses = {
      ...Object.fromEntries(successes),
      default: { $ref: '#/components/responses/Refusal' } as object,
    };
  }
  const types = astToString(await openapiTypescript(JSON.stringify(shortened), { defaultNonNullable: false }));
  // What there is not need not be said: a member that is missing is as good as one that is never there.
  return types
    .replaceAll(/^ +\w+\?: never;\n/gm, '')
    .replaceAll(/^ +(?:parameters|headers): \{\s+(?:\[name: string\]: unknown;\s+)?\};\n/gm, '');
}

/** What is named so is no field of Weir's; one that came to be would be missed by whoever reads it. */
function withoutExamples(key: string, value: unknown): unknown {
  return key === 'example' || key === 'examples' ? undefined : value;
}
