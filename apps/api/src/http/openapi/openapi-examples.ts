// An example for every body and every answer of the document, made of its schemas: of a new field or operation by itself. A test
// holds each of them against its schema.

import { IDS } from './example-ids.ts';
import { LISTS } from './example-lists.ts';
import { FIELDS, OBJECTS, TIME } from './example-values.ts';

/** A JSON schema as the document has it; the keywords that say what a value may be. */
export interface DocumentSchema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  oneOf?: DocumentSchema[];
  anyOf?: DocumentSchema[];
  properties?: Record<string, DocumentSchema>;
  items?: DocumentSchema;
  format?: string;
  minimum?: number;
  additionalProperties?: unknown;
}

type Schemas = Record<string, DocumentSchema>;

/** An example of a schema; `name` is what it is called in {@link OBJECTS}. */
export function exampleOf(schema: DocumentSchema, schemas: Schemas, name: string): unknown {
  return valueOf(schema, { schemas, owner: name, whole: name, field: '' });
}

/** Where a value stands. */
interface Place {
  schemas: Schemas;
  /** The component that says what differs in its fields. */
  owner: string;
  /** The same of the body or answer, where this is the whole of it; else empty. */
  whole: string;
  field: string;
}

function valueOf(schema: DocumentSchema, place: Place): unknown {
  const { schemas, owner, whole, field } = place;
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    return valueOf(schemas[name] ?? {}, { schemas, owner: name, whole, field: '' });
  }
  const id = schema.format === 'uuid' ? (IDS[field === 'id' ? owner : field] ?? IDS['EventReceipt']) : undefined;
  for (const candidate of [...(id === undefined ? [] : [id]), ...(FIELDS[field] ?? [])])
    if (candidate === undefined || isTaken(schema, candidate)) return candidate;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.examples !== undefined) return schema.examples[0];
  const branches = schema.oneOf ?? schema.anyOf;
  if (branches !== undefined) return valueOf(branchOf(branches, place), place);
  return valueOfType(schema, place);
}

function valueOfType(schema: DocumentSchema, place: Place): unknown {
  const [type = ''] = [schema.type].flat().filter((each) => each !== 'null');
  switch (type) {
    case 'object':
      return objectOf(schema, place);
    case 'array':
      return LISTS[`${place.owner} ${place.field}`] ?? [valueOf(schema.items ?? {}, place)];
    case 'string':
      return schema.format === 'date-time' ? TIME : 'text';
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return true;
    default:
      return null;
  }
}

/** Where it is about a kind of thing, the branch of the kind that the example is about. */
function branchOf(branches: DocumentSchema[], { owner }: Place): DocumentSchema {
  const told = OBJECTS[owner] ?? {};
  const all = branches.flatMap((branch) => branch.oneOf ?? branch.anyOf ?? [branch]);
  const fits = all.find(({ properties = {}, type }) => {
    const kinds = ['type', 'model'].filter((kind) => told[kind] !== undefined && properties[kind] !== undefined);
    return type !== 'null' && kinds.length > 0 && kinds.every((kind) => isTaken(properties[kind] ?? {}, told[kind]));
  });
  return fits ?? branches.find(({ type }) => type !== 'null') ?? {};
}

function objectOf({ properties = {} }: DocumentSchema, place: Place): Record<string, unknown> {
  // What is said of an owner is said of its own fields, and not of those of objects in it.
  const told = place.field === '' ? { ...OBJECTS[place.owner], ...OBJECTS[place.whole] } : {};
  const fields = Object.entries(properties).map(([field, schema]): [string, unknown] => [
    field,
    field in told && (told[field] === undefined || isTaken(schema, told[field]))
      ? told[field]
      : valueOf(schema, { ...place, whole: '', field }),
  ]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** Whether a value is of a kind that a schema takes: what is within is left to the test. */
function isTaken(schema: DocumentSchema, value: unknown): boolean {
  const branches = schema.oneOf ?? schema.anyOf;
  if (branches !== undefined) return branches.some((branch) => isTaken(branch, value));
  if (schema.const !== undefined) return schema.const === value;
  if (schema.enum !== undefined) return schema.enum.includes(value);
  const types = [schema.type].flat();
  if (schema.$ref !== undefined || types[0] === undefined) return true;
  if (schema.format === 'date-time' && typeof value === 'string') return value.includes('T');
  return types.includes(typeOf(value)) || (types.includes('number') && typeof value === 'number');
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
