// Makes src/api/openapi.d.ts of the API's own document. test/console/openapi-types.test.ts keeps the file true, and writes
// it anew with `-u`.

import openapiTypescript, { astToString } from 'openapi-typescript';

interface Operation {
  parameters?: { in?: string }[];
  responses?: Record<string, { headers?: unknown }>;
  security?: Record<string, string[]>[];
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks?: unknown;
  components: { schemas: Record<string, unknown> };
}

/**
 * Returns the types of an OpenAPI document as TypeScript: of what a session opens, or nobody has to be signed in for. Left out is
 * what no type is made of, examples and descriptions, and what only `api/client.ts` has to do with, headers and refusals.
 */
export async function openapiTypes(document: object): Promise<string> {
  const shortened = JSON.parse(JSON.stringify(document, withoutExamples)) as Document;
  delete shortened.webhooks;
  for (const [path, methods] of Object.entries(shortened.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!isForThePage(operation)) delete methods[method];
      operation.parameters = operation.parameters?.filter((parameter) => parameter.in !== 'header') ?? [];
      const successes = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith('2'));
      for (const [, success] of successes) delete success.headers;
      operation.responses = Object.fromEntries(successes);
    }
    if (Object.keys(methods).length === 0) delete shortened.paths[path];
  }
  const asked = schemasIn(shortened.paths, shortened.components.schemas);
  for (const name of Object.keys(shortened.components.schemas))
    if (!asked.has(name)) delete shortened.components.schemas[name];
  const types = astToString(await openapiTypescript(JSON.stringify(shortened), { defaultNonNullable: false }));
  return (
    types
      .replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '')
      // What there is not need not be said: a member that is missing is as good as one that is never there.
      .replaceAll(/^ +\w+\?: never;\n/gm, '')
      .replaceAll(/^ +(?:parameters|headers): \{\s+(?:\[name: string\]: unknown;\s+)?\};\n/gm, '')
  );
}

/** Returns the names of the schemas that a part of the document leads to. */
function schemasIn(part: unknown, schemas: Record<string, unknown>, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g))
    if (!found.has(name)) schemasIn(schemas[name], schemas, found.add(name));
  return found;
}

const isForThePage = ({ security = [] }: Operation): boolean =>
  security.length === 0 || security.some((opens) => 'session' in opens || Object.keys(opens).length === 0);

/** What is named so is no field of Weir's; one that came to be would be missed by whoever reads it. */
function withoutExamples(key: string, value: unknown): unknown {
  return key === 'example' || key === 'examples' ? undefined : value;
}
