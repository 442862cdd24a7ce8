// The OpenAPI document as the API serves it, taken apart into operations, so that what a test says about every operation
// holds for a new one by itself.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Weir } from './harness.ts';

/** A JSON schema of draft 2020-12; only the keywords that the document uses and tests look at. */
export interface Schema {
  $ref?: string;
  type?: string;
  const?: string;
  enum?: unknown[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  pattern?: string;
  format?: string;
  examples?: unknown[];
  minProperties?: number;
  additionalProperties?: boolean | Schema;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

/** One operation, with the references in the schema of its body resolved. */
export interface Operation {
  /** Such as `post /api/v1/features`. */
  name: string;
  method: string;
  path: string;
  security: Record<string, string[]>[];
  parameters: Parameter[];
  body: Schema | undefined;
  /** The example of the body. */
  example: unknown;
  responses: Record<string, { description?: string; content?: Record<string, { schema?: Schema }> }>;
}

interface Document {
  paths: Record<
    string,
    Record<string, Omit<Operation, 'name' | 'body' | 'example'> & { requestBody?: { content: Content } }>
  >;
  components: { schemas: Record<string, Schema> };
}
type Content = Record<string, { schema: Schema; example?: unknown }>;

export interface OpenapiDocument {
  operations: Operation[];
  /** Whether a value is what a schema of the document says. */
  isValid(schema: Schema, value: unknown): boolean;
  /** What is wrong with an answer by the document; undefined when it is one that the document allows. */
  problemOfAnswer(
    operation: Operation,
    answer: { status: number; headers: Headers; body: unknown },
  ): string | undefined;
}

export async function readOpenapi(weir: Weir): Promise<OpenapiDocument> {
  const document = (await weir.request('GET', '/openapi.json')).body as Document;
  // What OpenAPI adds to JSON Schema is none of ajv's business.
  const validators = (allErrors: boolean): ((schema: Schema) => ValidateFunction) => {
    const ajv = new Ajv2020({ strict: false, allErrors });
    formats.default(ajv);
    ajv.addFormat('password', true);
    ajv.addSchema(document, 'openapi');
    const compiled = new Map<Schema | string, ValidateFunction>();
    return (schema) => {
      const known = compiled.get(schema);
      if (known !== undefined) return known;
      const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
      // Hundreds of answers are the same problem.
      const validator = compiled.get(text) ?? ajv.compile(JSON.parse(text) as Schema);
      compiled.set(text, validator).set(schema, validator);
      return validator;
    };
  };
  // What is only asked whether it is valid does not need every error of a long list.
  const [judging, telling] = [validators(false), validators(true)];
  const resolve = (schema: Schema): Schema => resolved(schema, document.components.schemas);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, ...operation }]): Operation => {
      const { schema: body, example } = requestBody?.content['application/json'] ?? {};
      return {
        ...operation,
        name: `${method} ${path}`,
        method: method.toUpperCase(),
        path,
        security: operation.security ?? [],
        parameters: operation.parameters ?? [],
        body: body === undefined ? undefined : resolve(body),
        example,
      };
    }),
  );
  return {
    operations,
    isValid: (schema, value) => judging(schema)(value),
    problemOfAnswer(operation, { status, headers, body }) {
      const response = operation.responses[String(status)];
      if (response === undefined) return `the document has no status ${status} for it`;
      const contents = Object.entries(response.content ?? {});
      const sent = headers.get('content-type')?.split(';')[0];
      const [type, { schema }] = contents.find(([each]) => each === sent) ??
        contents[0] ?? [undefined, { schema: undefined }];
      if (sent !== type) return `it is ${sent ?? 'nothing'}, and the document says ${type ?? 'nothing'}`;
      if (schema === undefined) return body === '' ? undefined : 'it has a body, and the document shows none';
      const validator = telling(schema);
      if (validator(body)) return undefined;
      return `it is not what the document shows: ${JSON.stringify(validator.errors)}`;
    },
  };
}

/** The schema with every reference replaced by what it refers to; no schema of the document refers to itself. */
function resolved(schema: Schema, schemas: Record<string, Schema>): Schema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1];
  if (name !== undefined) return resolved(schemas[name] ?? {}, schemas);
  return JSON.parse(JSON.stringify(schema), (_key, value: Schema) =>
    typeof value === 'object' && value !== null && value.$ref !== undefined ? resolved(value, schemas) : value,
  ) as Schema;
}

/** A list that a body may hold. */
export interface ListWithin {
  /** As the errors of a refusal name it. */
  at: string;
  list: Schema;
  /** A body with this literal in the place of the list. It lacks all else, but for what tells the alternatives of a schema apart. */
  bodyWith(literal: string): string;
}

export function listsWithin(schema: Schema): ListWithin[] {
  const members = Object.entries(schema.properties ?? {});
  const constants = members.flatMap(([name, { const: only, enum: [value = only] = [] }]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`],
  );
  const ofMembers = members.flatMap(([name, member]) =>
    listsWithin(member).map((each) => ({
      ...each,
      at: /^$|^\[/.test(each.at) ? `${name}${each.at}` : `${name}.${each.at}`,
      bodyWith: (literal: string) => `{${[...constants, `${JSON.stringify(name)}:${each.bodyWith(literal)}`].join()}}`,
    })),
  );
  const ofBranches = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].flatMap(listsWithin);
  if (schema.items === undefined) return [...ofMembers, ...ofBranches];
  const ofItems = listsWithin(schema.items).map((each) => ({
    ...each,
    at: /^$|^\[/.test(each.at) ? `[0]${each.at}` : `[0].${each.at}`,
    bodyWith: (literal: string) => `[${each.bodyWith(literal)}]`,
  }));
  return [{ at: '', list: schema, bodyWith: (literal: string) => literal }, ...ofItems];
}
