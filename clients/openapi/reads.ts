// What the clients read, as the API's document has it: named objects, which typescript.ts and python.ts write down. A new read
// of the clients begins here, with a name and where its answer is.

/** The parts of a JSON schema that an answer or a query is made of. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: string;
  enum?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  description?: string;
  minimum?: number;
  maximum?: number;
  default?: string;
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: Schema }[];
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: Schema }> } } }>;
  components: { schemas: Record<string, Schema> };
}

export type Type =
  | { is: 'string' | 'integer' | 'boolean' | 'json' | 'null' }
  | { is: 'words'; words: string[] }
  | { is: 'list' | 'map'; of: Type }
  | { is: 'either'; of: Type[] }
  | { is: 'named'; name: string };

export interface Field {
  name: string;
  type: Type;
  isRequired: boolean;
  /** One line; empty where there is nothing to say. */
  about: string;
}

export interface Named {
  name: string;
  fields: Field[];
}

/** The name of each object in the clients: that of its component, or the operation that answers it, or a field of one before. */
const ANSWERS: Record<string, string> = {
  UsagePeriod: 'MeterUsage.grouped_data',
  UsageGroup: 'MeterUsage.groups',
  MeterUsage: 'MeterUsage',
  MeterOfCustomer: 'MeterOfCustomer',
  CustomerUsage: 'getCustomerUsage',
  MeterCustomer: 'CustomerOfMeter',
  PageMeta: 'PageMeta',
  MeterCustomersPage: 'listMeterCustomers',
  EventCorrection: 'EventCorrection',
  EventReceipt: 'EventReceipt',
  CursorMeta: 'CursorMeta',
  EventsPage: 'listEvents',
  Entitlement: 'Entitlement',
  Customer: 'Customer',
  CustomersPage: 'listCustomers',
  WidgetToken: 'WidgetToken',
};

/** The query of each operation that the clients ask, by its name in the TypeScript client. */
const QUERIES: Record<string, string> = {
  WindowQuery: 'getCustomerUsage',
  UsageParameters: 'getUsage',
  MeterCustomersQuery: 'listMeterCustomers',
  EventsQuery: 'listEvents',
  EntitlementsQuery: 'listEntitlements',
  CustomersQuery: 'listCustomers',
};

/** What the clients answer where the document says null: they make another one then. */
const NEVER_NULL = new Set(['WidgetToken.token']);

/** Returns the answers that the clients read. Throws where the document has none, or one of a kind that is not known here. */
export function readAnswers(document: Document): Named[] {
  const schemas = Object.entries(ANSWERS).map(([name, where]) => [name, find(document, where)] as const);
  const names = new Map(schemas.map(([name, schema]) => [JSON.stringify(schema), name]));
  return schemas.map(([name, schema]) => readObject(document, name, schema, names));
}

/** Returns the fields of an object. `names` has those that objects in it are known by, by their schemas. */
export function readObject(
  document: Document,
  name: string,
  { properties = {}, required = [] }: Schema,
  names: ReadonlyMap<string, string>,
): Named {
  const fields = Object.entries(properties).map(([field, schema]): Field => {
    const isKnown = NEVER_NULL.has(`${name}.${field}`);
    const type = typeOf(document, isKnown ? { ...schema, type: 'string' } : schema, names);
    const about = schema.description ?? '';
    const known = isKnown ? about.replace(/ Null .*/s, '') : about;
    return { name: field, type, isRequired: required.includes(field), about: known };
  });
  return { name, fields };
}

/** Returns the queries that the clients ask, like {@link readAnswers}. */
export function readQueries(document: Document): Named[] {
  return Object.entries(QUERIES).map(([name, operationId]) => {
    const asked = (findOperation(document, operationId)?.parameters ?? []).filter(
      (parameter) => parameter.in === 'query',
    );
    const fields = asked.map(({ name: field, required = false, description, schema }): Field => {
      const { minimum, maximum, default: usual } = schema;
      const about = [
        description,
        minimum !== undefined && `${minimum} to ${maximum}.`,
        usual !== undefined && usual !== '' && `Default: ${usual}.`,
      ];
      const type = typeOf(document, schema, new Map());
      return { name: field, type, isRequired: required, about: about.filter(Boolean).join(' ') };
    });
    return { name, fields };
  });
}

function find(document: Document, where: string): Schema {
  const [first = '', ...fields] = where.split('.');
  const { responses = {} } = findOperation(document, first) ?? {};
  const answered = (responses[200] ?? responses[201])?.content?.['application/json']?.schema;
  let schema = answered ?? document.components.schemas[first];
  for (const field of fields) schema = schema?.properties?.[field]?.items ?? schema?.properties?.[field];
  if (schema?.properties === undefined) throw new Error(`The document has no object ${where}.`);
  return schema;
}

function findOperation(document: Document, operationId: string): Operation | undefined {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  return operations.find((operation) => operation.operationId === operationId);
}

function typeOf(document: Document, schema: Schema, names: ReadonlyMap<string, string>): Type {
  const { $ref, oneOf, anyOf = oneOf, type, items, additionalProperties } = schema;
  const referred = $ref === undefined ? schema : document.components.schemas[$ref.split('/').at(-1) ?? ''];
  const name = names.get(JSON.stringify(referred));
  if (name !== undefined) return { is: 'named', name };
  if (anyOf !== undefined) return { is: 'either', of: anyOf.map((each) => typeOf(document, each, names)) };
  if (Array.isArray(type)) {
    return { is: 'either', of: type.map((each) => typeOf(document, { ...schema, type: each }, names)) };
  }
  if (schema.enum !== undefined) return { is: 'words', words: schema.enum };
  if (schema.const !== undefined) return { is: 'words', words: [schema.const] };
  if (type === 'string' || type === 'integer' || type === 'boolean' || type === 'null') return { is: type };
  if (type === 'array' && items !== undefined) return { is: 'list', of: typeOf(document, items, names) };
  if (type === 'object' && typeof additionalProperties === 'object') {
    const isAnything = Object.keys(additionalProperties).length === 0;
    return { is: 'map', of: isAnything ? { is: 'json' } : typeOf(document, additionalProperties, names) };
  }
  throw new Error(`The clients have no type for ${JSON.stringify(schema)}: an object needs a name in reads.ts.`);
}
