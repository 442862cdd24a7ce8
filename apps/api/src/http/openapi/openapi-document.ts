// Finishes the document that is made of the zod schemas: leaves out what nothing refers to, and gives an example for every body,
// every answer and every problem.

import { STATUS_CODES } from 'node:http';
import { tellOfDeprecations, type Deprecated } from './deprecations.ts';
import { exampleOf, type DocumentSchema } from './openapi-examples.ts';
import { tellOfAccess } from './openapi-access.ts';
import { operationsOf, type Parameter, type Paths } from './openapi-operations.ts';
import { tellOfRepeats } from './openapi-repeats.ts';
import { tellOfVersions } from './openapi-versions.ts';
import { problemExamples } from './problem-examples.ts';
import type { Tagged } from '../writing/versions.ts';

interface Document {
  paths: Paths;
  components: { schemas: Record<string, DocumentSchema>; examples?: Record<string, unknown> };
}

/** What the schemas of a body are named by where those of answers have the same name. */
const INPUT = 'Input';

/** The finished document; what it is given is left as it is. */
export function finishDocument<Given extends object>(
  given: Given,
  tagged: ReadonlyMap<string, Tagged>,
  deprecated: Deprecated,
): Given {
  const document = withUsedSchemas(given as unknown as Document);
  const { schemas } = document.components;
  tellOfAccess(document.paths);
  tellOfRepeats(document.paths);
  tellOfVersions(document.paths, tagged);
  tellOfDeprecations(document.paths, deprecated);
  const told = new Set<string>();
  for (const { operation } of operationsOf(document.paths)) {
    const { operationId: owner = '', parameters = [], requestBody, responses } = operation;
    for (const parameter of parameters) hoistSerialization(parameter);
    for (const content of Object.values(requestBody?.content ?? {}))
      content.example = exampleOf(content.schema ?? {}, schemas, owner);
    for (const [status, response] of Object.entries(responses)) {
      if (response.description === 'Default Response') response.description = STATUS_CODES[status] ?? status;
      for (const [type, content] of Object.entries(response.content ?? {})) {
        if (type === 'application/problem+json') {
          // The description of a problem's status is the list of its codes.
          const codes = response.description.split(', ');
          for (const code of codes) told.add(code);
          content.examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
        } else content.example = exampleOf(content.schema ?? {}, schemas, `${owner} ${status}`);
      }
    }
  }
  document.components.examples = problemExamples(told);
  return document as unknown as Given;
}

/** A schema says how its parameter is written, since zod has no place beside it; in the document it stands beside the schema. */
function hoistSerialization(parameter: Parameter): void {
  if (parameter.schema === undefined) return;
  const { style, explode, ...schema } = parameter.schema;
  if (style !== undefined) parameter.style = style;
  if (explode !== undefined) parameter.explode = explode;
  parameter.schema = schema;
}

/**
 * The document with those components only that something refers to, by name: as they come, they stand in the order in which modules were
 * loaded. Where only the form for bodies is used, it has the plain name.
 */
function withUsedSchemas(document: Document): Document {
  const { schemas } = document.components;
  const used = new Set<string>();
  const use = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      use(schemas[name] ?? {});
    }
  };
  use(document.paths);
  const named = (name: string): string => {
    const plain = name.endsWith(INPUT) ? name.slice(0, -INPUT.length) : name;
    return used.has(plain) ? name : plain;
  };
  const kept = Object.entries(schemas).flatMap(([name, schema]) =>
    used.has(name) ? [[named(name), schema] satisfies [string, DocumentSchema]] : [],
  );
  const finished: Document = {
    ...document,
    components: {
      ...document.components,
      schemas: Object.fromEntries(kept.toSorted(([one], [other]) => (one < other ? -1 : 1))),
    },
  };
  return JSON.parse(
    JSON.stringify(finished).replace(
      /"#\/components\/schemas\/(\w+)"/g,
      (_, name: string) => `"#/components/schemas/${named(name)}"`,
    ),
  ) as Document;
}
