import { buildApiKeyCache } from '@weir/api/access/api-key-cache';
import { buildApp } from '@weir/api/app';
import type { App } from '@weir/api/http/typed-app';
import { buildMetrics } from '@weir/api/http/metrics';
import { LOOKED_INTO_MAX } from '@weir/api/http/body/json-decimals';
import { Ingest } from '@weir/api/ingest/ingest';
import { apiSettings } from '@weir/api/settings';
import { raiseTotals } from '@weir/db/accepted';
import { openDatabase } from '@weir/db/database';
import { identify, requireSchema } from '@weir/db/installation';
import { Ownership } from '@weir/queue/ownership';
import { Closer } from '@weir/shared/closer';
import { createLog } from '@weir/shared/log';
import { loadSettings } from '@weir/shared/settings';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listsWithin, readOpenapi, type OpenapiDocument, type Schema } from '../support/openapi-document.ts';
import { ownWeir } from '../support/use-weir.ts';

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; schema?: object }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
}
interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, object>;
    examples: Record<string, { summary: string; value: object }>;
    securitySchemes: Record<string, { type: string }>;
  };
}

const UNUSED = { note() {}, write: () => Promise.resolve(), close: () => Promise.resolve() };
const IDLE = { batches: 0, memoryShare: 0, claimSeconds: 60, isSynced: true };

const closer = new Closer();
const weir = ownWeir({ withWorker: false });
let app: App;
let document: Document;
let openapi: OpenapiDocument;
let operations: [name: string, operation: Operation][];

beforeAll(async () => {
  document = (await weir.request('GET', '/openapi.json')).body;
  openapi = await readOpenapi(weir);
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  );

  const log = createLog('api', 'silent');
  const connections = { connectionsMax: 1, statementTimeoutMs: 1_000, onConnectionError: () => {} };
  const database = openDatabase(weir.databaseUrl, connections);
  closer.add('the database', () => database.close());
  const ownership = new Ownership({
    queue: weir.queue,
    database: {
      requireSchema: () => requireSchema(database),
      identify: (drained) => identify(database, drained),
      raiseTotals: (remembered) => raiseTotals(database, remembered),
    },
    log,
    intervalMs: 1_000,
  });
  closer.add('the watch on the queue', () => ownership.close());
  const ingest = new Ingest({
    refusal: () => undefined,
    isDirect: () => false,
    refusalOfRedis: () => undefined,
    leaveRedis: () => {},
    direct: { record: () => Promise.resolve([]), isPostgresAway: () => false, onAnswered: () => {} },
    admit: () => Promise.resolve([]),
    enqueue: () => {},
    onAdmitted: () => {},
    onUnsure: () => {},
  });
  closer.add('the buffer', () => ingest.close());
  app = await buildApp({
    settings: loadSettings(apiSettings, weir.env),
    database,
    lookups: database,
    probe: database,
    databaseWatch: { away: () => undefined, close: () => {} },
    queue: weir.queue,
    apiKeys: buildApiKeyCache({
      database,
      epoch: () => ownership.epoch(),
      isRevoked: () => Promise.resolve(false),
      log,
    }),
    keyUse: UNUSED,
    tokenUse: UNUSED,
    ownership,
    log,
    metrics: buildMetrics({ bufferDepth: () => 0, isDirect: () => false, queue: () => IDLE }),
    ingest,
    isRedisAway: () => false,
    billingJobs: { wakeRun: () => {} },
    consoleFolder: '/nowhere',
    schema: () => undefined,
    isDraining: () => false,
  });
  closer.add('the app', () => app.close());
  await app.ready();
});
afterAll(() => closer.close());

/** Every route of the app, such as `get /api/v1/events/{id}`, from the tree that Fastify prints. */
function routesOf(tree: string): string[] {
  const parents: string[] = [];
  return [...tree.matchAll(/^((?:[│ ] {3})*)[├└]── (\S+) \(([A-Z, ]+)\)$/gm)].flatMap(
    ([, indent = '', part = '', methods = '']) => {
      const level = indent.length / 4;
      parents[level] = (parents[level - 1] ?? '') + part;
      const path = parents[level]?.replace(/:([a-z_]+)/g, '{$1}');
      return methods.split(', ').map((method) => `${method.toLowerCase()} ${path}`);
    },
  );
}

test('the document holds every route of the API, and no other', () => {
  const routes = routesOf(app.printRoutes({ commonPrefix: false })).filter(
    // Pages and numbers for people and for Prometheus are no part of the interface; HEAD comes with every GET, and OPTIONS with
    // those that pages of other origins may send.
    (route) => !/^head |^options | \/docs| \/embed(\/|$)| \/metrics$| \/openapi\.json$/.test(route),
  );
  expect(routes).toContain('post /api/v1/sdk/track');
  expect(operations.map(([name]) => name).toSorted()).toEqual(routes.toSorted());
});

describe('the document is one of OpenAPI 3.1', () => {
  test('with a title, a version, a server and the ways to authenticate', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: 'Weir', version: expect.stringMatching(/\S/) });
    expect(document.servers.map(({ url }) => url)).toEqual([expect.stringMatching(/\S/)]);
    expect(Object.values(document.components.securitySchemes).map(({ type }) => type)).toContain('apiKey');
  });

  test('every reference in it leads somewhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '');
    expect(references.length).toBeGreaterThan(10);
    for (const reference of new Set(references)) {
      expect(reference).toMatch(/^#\//);
      const found = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document);
      expect(found, reference).toBeTypeOf('object');
    }
  });

  test('every operation has an id of its own, which begins with a verb', () => {
    const ids = operations.map(([name, { operationId }]) => {
      expect(operationId, name).toMatch(
        /^(?:accept|add|amend|cancel|change|create|delete|end|erase|evaluate|finalize|get|invite|list|mark|move|pay|preview|recompute|remove|replay|request|reset|retry|rotate|settle|sign|test|track|update|void)[A-Z][A-Za-z]*$/,
      );
      return operationId;
    });
    expect(new Set(ids).size).toBe(operations.length);
  });

  test('every operation says what it does, belongs to a group, and names ways to authenticate that exist', () => {
    const groups = document.tags.map(({ name }) => name);
    for (const [name, { summary, tags, security }] of operations) {
      expect(summary, name).toMatch(/\S/);
      expect(tags?.length, name).toBe(1);
      expect(groups, name).toContain(tags?.[0]);
      for (const scheme of (security ?? []).flatMap((each) => Object.keys(each)))
        expect(Object.keys(document.components.securitySchemes), name).toContain(scheme);
    }
  });

  test('every parameter in a path is declared and required', () => {
    for (const [name, { parameters = [] }] of operations) {
      const inPath = [...name.matchAll(/\{([^}]+)\}/g)].map(([, parameter]) => String(parameter));
      const declared = parameters.filter((each) => each.in === 'path');
      expect(declared.map((each) => each.name).toSorted(), name).toEqual(inPath.toSorted());
      expect(
        declared.every(({ required }) => required === true),
        name,
      ).toBe(true);
      for (const { schema } of parameters) expect(schema, name).toBeTypeOf('object');
    }
  });

  test('every operation has an answer that is a success, and every failure is a problem document', () => {
    for (const [name, { responses }] of operations) {
      const answers = Object.entries(responses);
      expect(
        answers.some(([status]) => status.startsWith('2')),
        name,
      ).toBe(true);
      for (const [, { description }] of answers) expect(description, name).toMatch(/\S/);
      for (const [status, { content }] of answers.filter(([status]) => status >= '400'))
        expect(Object.keys(content ?? {}), `${name} ${status}`).toEqual(['application/problem+json']);
    }
  });

  test('every operation that asks for credentials says that they may be refused', () => {
    // Signing out without a session is no mistake: it is done already.
    const guarded = operations.filter(
      ([name, { security = [] }]) => security.length > 0 && name !== 'post /api/v1/auth/logout',
    );
    expect(guarded.length).toBeGreaterThan(20);
    for (const [name, { responses }] of guarded) expect(Object.keys(responses), name).toContain('401');
  });

  test('every operation of the interface may be refused under a rate limit, and while a part is away', () => {
    const limited = operations.filter(([name]) => name.includes(' /api/'));
    expect(limited.length).toBeGreaterThan(30);
    for (const [name, { responses }] of limited)
      expect(Object.keys(responses), name).toEqual(expect.arrayContaining(['429', '503']));
  });

  test('a body is always JSON with a schema', () => {
    const bodies = operations.flatMap(([, { requestBody }]) =>
      requestBody === undefined ? [] : [requestBody.content],
    );
    expect(bodies.length).toBeGreaterThan(5);
    for (const content of bodies)
      expect(content).toEqual({ 'application/json': { schema: expect.any(Object), example: expect.any(Object) } });
  });
});

describe('examples', () => {
  /** All that a body or an answer may hold, by where it stands. */
  const contents = () =>
    operations.flatMap(([name, { requestBody, responses }]) => [
      ...Object.values(requestBody?.content ?? {}).map((content): [string, Content] => [
        `the body of ${name}`,
        content,
      ]),
      ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.values(content).map((each): [string, Content] => [`${status} of ${name}`, each]),
      ),
    ]);

  test('every body and every answer has one, which is what its schema says', () => {
    const withExample = contents().filter(([, { examples }]) => examples === undefined);
    expect(withExample.length).toBeGreaterThan(80);
    for (const [name, { schema = {}, example }] of withExample) {
      expect(example, name).toBeDefined();
      expect(openapi.isValid(schema, example), `${name}: ${JSON.stringify(example)}`).toBe(true);
    }
  });

  test('every problem has one for each of its codes, with the status that it stands under', () => {
    const problems = contents().filter(([, { examples }]) => examples !== undefined);
    expect(problems.length).toBeGreaterThan(200);
    for (const [name, { schema = {}, examples = {} }] of problems) {
      expect(Object.keys(examples).length, name).toBeGreaterThan(0);
      for (const [code, { $ref }] of Object.entries(examples)) {
        expect($ref).toBe(`#/components/examples/${code}`);
        const { value } = document.components.examples[code] ?? {};
        expect(value, name).toMatchObject({ code, status: Number(name.slice(0, 3)) });
        expect(openapi.isValid(schema, value), `${name}: ${JSON.stringify(value)}`).toBe(true);
      }
    }
  });

  test('none holds what nobody can read', () => {
    const texts = contents().map(([, { example }]) => JSON.stringify(example));
    expect(texts.filter((text) => text?.includes('"text"'))).toEqual([]);
  });
});

test('every schema and every example among the components is referred to', () => {
  const text = JSON.stringify(document);
  for (const kind of ['schemas', 'examples'] as const)
    for (const name of Object.keys(document.components[kind])) expect(text).toContain(`"#/components/${kind}/${name}"`);
});

test('every list that may be sent says how many items it has at most', () => {
  const sent = openapi.operations.flatMap(({ name, body = {}, parameters }) =>
    [body, ...parameters.map(({ schema }) => schema)].flatMap((schema) =>
      listsWithin(schema).map(({ at, list }) => ({ list: `${at} of ${name}`, max: list.maxItems })),
    ),
  );
  expect(sent.length).toBeGreaterThan(15);
  expect(sent.filter(({ max }) => max === undefined)).toEqual([]);
});

test('a body that is taken has no more values than are looked into', () => {
  const bodies = openapi.operations.flatMap(({ name, body }) => (body === undefined ? [] : [{ name, body }]));
  expect(bodies.filter(({ body }) => valuesOf(body) > LOOKED_INTO_MAX / 2)).toEqual([]);
  expect(Math.max(...bodies.map(({ body }) => valuesOf(body)))).toBeGreaterThan(10_000);
});

/** How many items, objects and lists may be in it, but for metadata, which is read by itself. */
function valuesOf({ oneOf, anyOf, properties, items, maxItems = Infinity }: Schema): number {
  const branches = [...(oneOf ?? []), ...(anyOf ?? [])].map(valuesOf);
  const members = Object.entries(properties ?? {}).map(([name, each]) => (name === 'metadata' ? 0 : valuesOf(each)));
  const own = properties === undefined ? 0 : 1 + members.reduce((sum, each) => sum + each, 0);
  const listed = items === undefined ? 0 : 1 + maxItems * (1 + valuesOf(items));
  return own + listed + Math.max(0, ...branches);
}

/** Lists that come whole, and what bounds them. */
const BOUNDED_LISTS: Record<string, string> = {
  '/api/v1/events/rejections': 'the most frequent 100',
  '/api/v1/customers/{id}/usage': 'the meters of an organization',
  '/api/v1/widget/usage': 'the meters that are shown',
  '/api/v1/widget/billing-period': 'the meters that are shown',
  '/api/v1/widget/balance': 'the currencies of the invoices and credits of a customer',
  '/api/v1/entitlements': 'the features of an organization',
  '/api/v1/customers/{id}/entitlements': 'the features of an organization',
  '/api/v1/subscriptions/{id}/usage': 'the charges of a period',
  '/api/v1/subscriptions/{id}/periods': 'the periods since the start, by contract all of them: some hundred bytes each',
};

test('every list is read by cursor and limit, or something else bounds it', () => {
  const lists = operations.filter(([name, { responses }]) => {
    if (!name.startsWith('get ')) return false;
    const named = responses['200']?.content?.['application/json']?.schema ?? {};
    const schema = (document.components.schemas[named.$ref?.split('/').at(-1) ?? ''] ?? named) as Schema;
    return [schema, ...(schema.anyOf ?? [])].some(({ properties }) => properties?.['data']?.type === 'array');
  });
  expect(lists.length).toBeGreaterThan(20);
  const unbounded = lists.filter(([, { parameters = [] }]) => {
    const names = new Set(parameters.map(({ name }) => name));
    return !(names.has('limit') && names.has('cursor'));
  });
  expect(unbounded.map(([name]) => name.replace('get ', '')).toSorted()).toEqual(Object.keys(BOUNDED_LISTS).toSorted());
});

test('tracking is described by the fields of the interface document', () => {
  const text = JSON.stringify(document);
  for (const field of ['meter_token', 'customer_external_id', 'quantity', 'timestamp', 'idempotency_key', 'metadata'])
    expect(text).toContain(`"${field}":{`);
  expect(document.paths['/api/v1/sdk/track']?.['post']?.responses).toHaveProperty('201');
});

test('how a parameter is written into an address stands beside its schema, as generated clients want it', () => {
  const parameters = operations.flatMap(([, { parameters: all = [] }]) => all);
  const filters = parameters.filter(({ name }) => name === 'filter');
  expect(filters.length).toBeGreaterThan(0);
  for (const filter of filters) expect(filter).toMatchObject({ style: 'deepObject', explode: true });
  for (const { schema } of parameters) {
    expect(schema).not.toHaveProperty('style');
    expect(schema).not.toHaveProperty('explode');
  }
});
