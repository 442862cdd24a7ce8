// What no endpoint takes, sent to every endpoint of the OpenAPI document: each answers with the right status and a problem
// document, and keeps nothing. What is particular to events is in hostile-input.test.ts, to HTTP in hostile-http.test.ts.

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type Organization, type RequestOptions } from '../support/harness.ts';
import { hostileBodies, hostileTypes } from '../support/hostile/bodies.ts';
import { goodBodyOf as goodBody, makeThings, pathOf, type Things } from '../support/hostile/things.ts';
import {
  hostileCredentials,
  hostileFields,
  hostileIds,
  hostileQueries,
  hostileQueryForms,
} from '../support/hostile/values.ts';
import { readKept, type Kept } from '../support/kept.ts';
import {
  listsWithin,
  readOpenapi,
  type OpenapiDocument,
  type Operation,
  type Parameter,
  type Schema,
} from '../support/openapi-document.ts';
import { ownWeir } from '../support/use-weir.ts';

/** No answer takes this long, whatever was sent. */
const ANSWER_MS_MAX = 5_000;

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let apiKey: string;
let widgetToken: string;
let things: Things;
let openapi: OpenapiDocument;
let kept: Kept;

beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  const widget = { apiKey, body: { customer_external_id: 'acme' } };
  widgetToken = (await weir.request('POST', '/api/v1/widget/token', widget)).body.token;
  things = await makeThings(weir, admin);
  openapi = await readOpenapi(weir);
  kept = await readKept(weir);
});

/** Whatever came before: what is valid is served. */
async function expectServed(): Promise<void> {
  expect((await weir.request('GET', '/api/v1/auth/me', { session: admin.session })).status).toBe(200);
}
afterEach(expectServed);

/**
 * The last test of a block: nothing is kept of what those before it sent. All rows are read once for all of them: run the tests of a block
 * one by one to find the one that left something.
 */
function expectNothingKept(): void {
  test('and nothing of it is kept', async () => expect(await readKept(weir)).toEqual(kept));
}

async function ask(operation: Operation, path: string, options: RequestOptions): Promise<Answer> {
  const startedAt = performance.now();
  const answer = await weir.request(operation.method, path, options);
  expect(performance.now() - startedAt, `milliseconds until ${operation.name} answers`).toBeLessThan(ANSWER_MS_MAX);
  return answer;
}

/** The credential that opens an operation. */
function openerOf({ security }: Operation): RequestOptions {
  const schemes = security.flatMap((each) => Object.keys(each));
  if (schemes.includes('session')) return { session: admin.session };
  if (schemes.includes('apiKey')) return { apiKey };
  return schemes.includes('widgetToken') ? { headers: { authorization: `Bearer ${widgetToken}` } } : {};
}

/** Who needs no credential may send 16 KiB, and is not read any further. */
function isTooLargeForStrangers({ security }: Operation, raw: string | Uint8Array): boolean {
  return security.length === 0 && Buffer.byteLength(raw) > 16_384;
}

/** As many items as a body has room for. */
const LONG_LIST = `[${Array(520_000).fill(0).join()}]`;

/** How many operations are attacked at the same time. */
const AT_ONCE = 4;

/** Attacks all of these operations, some at the same time, and says of which one an answer was wrong. */
async function each(
  operations: Operation[],
  attack: (operation: Operation) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  expect(operations.length).toBeGreaterThan(0);
  const left = operations.values();
  const attackOneByOne = async () => {
    for (const operation of left) {
      await attack(operation).catch((error: unknown) => {
        if (error instanceof Error) error.message = `${operation.name}: ${error.message}`;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, attackOneByOne));
}

const ofTheApi = () => openapi.operations.filter(({ path }) => path.startsWith('/api/'));
const withBody = () => openapi.operations.filter(({ body }) => body !== undefined);
const goodBodyOf = (operation: Operation) => goodBody(operation, things);
const schemaOf = ({ body = {} }: Operation): Schema => body;
const parametersOf = ({ parameters }: Operation, place: string) => parameters.filter((each) => each.in === place);

test('every operation that takes a body has a good one in the document, which is valid by it', () => {
  for (const operation of withBody())
    expect(openapi.isValid(schemaOf(operation), JSON.parse(goodBodyOf(operation))), operation.name).toBe(true);
});

/**
 * Each value is sent to every second field, parameter or operation, and each of them gets every second value; HOSTILE_FIELDS_APART=1
 * sends all to all. One parser reads all bodies, one all queries and paths, and one guard all credentials.
 */
const FIELDS_APART = Number(process.env['HOSTILE_FIELDS_APART'] ?? 2);

/** The operations that the row of a table is sent to: every second one, and each of those that read their bodies by themselves. */
const partOf = (operations: Operation[], row: number) =>
  operations.filter(({ path }, index) => path.includes('/sdk/') || (index + row) % FIELDS_APART === 0);

const rowOf = (table: readonly (readonly [title: string, ...unknown[]])[], title: string): number =>
  table.findIndex(([each]) => each === title);

describe('in a body', () => {
  describe.each(hostileBodies)('a body that $title', (body) => {
    const { spoil, status, code, isEmpty = false } = body;
    test('is refused by every endpoint that takes one', () =>
      each(
        code === 'malformed_json' && !isEmpty
          ? partOf(withBody(), hostileBodies.indexOf(body))
          : withBody().filter((operation) => !isEmpty || !openapi.isValid(schemaOf(operation), null)),
        async (operation) => {
          const raw = spoil(goodBodyOf(operation), operation);
          const answer = await ask(operation, pathOf(operation, things), { ...openerOf(operation), raw });
          if (isTooLargeForStrangers(operation, raw)) expectProblem(answer, 413, 'payload_too_large');
          else expectProblem(answer, status, code);
        },
      ));
  });

  test.each(hostileTypes)('a body with the header %j is refused by every endpoint that takes one', (headers) =>
    each(partOf(withBody(), hostileTypes.indexOf(headers)), async (operation) => {
      const options = { ...openerOf(operation), headers, raw: goodBodyOf(operation) };
      expectProblem(await ask(operation, pathOf(operation, things), options), 415, 'unsupported_media_type');
    }),
  );
  expectNothingKept();
});

describe('in a field', () => {
  test.each(hostileFields)(
    '%s is refused in every field that does not take it',
    (title, literal, isNeverTaken = false) => {
      const row = rowOf(hostileFields, title);
      return each(withBody(), async (operation) => {
        const good = JSON.parse(goodBodyOf(operation)) as Record<string, unknown>;
        const fields = new Set(
          branchesOf(schemaOf(operation)).flatMap(({ properties = {} }) => Object.keys(properties)),
        );
        expect(fields.size).toBeGreaterThan(0);
        for (const [index, field] of [...fields].entries()) {
          if ((index + row) % FIELDS_APART !== 0) continue;
          const { [field]: _replaced, ...others } = good;
          const members = Object.entries(others).map(
            ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
          );
          const raw = `{${[...members, `${JSON.stringify(field)}:${literal}`].join()}}`;
          if (!isNeverTaken && isValidText(schemaOf(operation), raw)) continue;
          const answer = await ask(operation, pathOf(operation, things), { ...openerOf(operation), raw });
          // The events of a batch are judged one by one, and here none is taken.
          if (field === 'events' && answer.status === 207) continue;
          if (isTooLargeForStrangers(operation, raw)) {
            expectProblem(answer, 413, 'payload_too_large');
            continue;
          }
          expect(answer.status, `${field}, ${operation.name}`).toBe(422);
          expectProblem(answer, 422, 'invalid_request');
        }
      });
    },
  );
  expectNothingKept();
});

test('a list as long as a body is refused for its length wherever one is taken, and for no item', () =>
  each(
    withBody().filter((operation) => listsWithin(schemaOf(operation)).length > 0),
    async (operation) => {
      for (const { at, bodyWith } of listsWithin(schemaOf(operation))) {
        const raw = bodyWith(LONG_LIST);
        const answer = await ask(operation, pathOf(operation, things), { ...openerOf(operation), raw });
        expectProblem(answer, 422, 'invalid_request');
        const paths = answer.body.errors.map((error: { path: string }) => error.path);
        expect(paths).toContain(at);
        expect(paths.filter((path: string) => path.startsWith(`${at}[`))).toEqual([]);
      }
    },
  ));

/** A schema, and all of those that it leaves a choice between. */
function branchesOf(schema: Schema): Schema[] {
  return [schema, ...[...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].flatMap(branchesOf)];
}

/** What is nested too deep for the validator is too deep for the API. */
function isValidText(schema: Schema, raw: string): boolean {
  return raw.length < 100_000 && openapi.isValid(schema, JSON.parse(raw));
}

describe('in a path', () => {
  test.each(hostileIds)('%s in a path is no thing', (title, id, status = 404, code = 'not_found') =>
    each(
      partOf(
        openapi.operations.filter((operation) => parametersOf(operation, 'path').length > 0),
        rowOf(hostileIds, title),
      ),
      async (operation) => {
        for (const { name } of parametersOf(operation, 'path')) {
          const body = operation.body === undefined ? {} : { raw: goodBodyOf(operation) };
          const path = pathOf(operation, things, { [name]: id });
          expectProblem(await ask(operation, path, { ...openerOf(operation), ...body }), status, code);
        }
      },
    ),
  );
  expectNothingKept();
});

describe('in a query', () => {
  const withQuery = () => openapi.operations.filter((operation) => parametersOf(operation, 'query').length > 0);

  /** The query with what the operation asks for, and a parameter as it is given. */
  function urlOf(operation: Operation, parameter: Parameter, part: string): string {
    const required = parametersOf(operation, 'query').filter((each) => each.required === true && each !== parameter);
    const values: Record<string, string> = { meter_token: things.meterToken, customer_external_id: 'acme' };
    expect(Object.keys(values)).toEqual(expect.arrayContaining(required.map(({ name }) => name)));
    const parts = [...required.map(({ name }) => `${name}=${values[name]}`), part];
    return `${pathOf(operation, things)}?${parts.join('&')}`;
  }

  test.each(hostileQueries)('%s is refused for every parameter that does not take it', (title, value) => {
    const row = rowOf(hostileQueries, title);
    return each(withQuery(), async (operation) => {
      for (const [index, parameter] of parametersOf(operation, 'query').entries()) {
        if ((index + row) % FIELDS_APART !== 0 || isTaken(parameter, decodeURIComponent(value))) continue;
        const url = urlOf(operation, parameter, `${parameter.name}=${value}`);
        expectProblem(await ask(operation, url, openerOf(operation)), 422, 'invalid_request');
      }
    });
  });

  test.each(hostileQueryForms)(
    '%s is refused for every parameter',
    (title, form, status = 422, code = 'invalid_request') => {
      const row = rowOf(hostileQueryForms, title);
      return each(withQuery(), async (operation) => {
        for (const [index, parameter] of parametersOf(operation, 'query').entries()) {
          if ((index + row) % FIELDS_APART !== 0) continue;
          const url = urlOf(operation, parameter, form(parameter.name));
          expectProblem(await ask(operation, url, openerOf(operation)), status, code);
        }
      });
    },
  );

  /** Of times and time zones the document only says that they are texts, and none of the values here is one. */
  function isTaken({ name, schema }: Parameter, value: string): boolean {
    if (['start_date', 'end_date', 'timezone', 'from', 'to'].includes(name)) return false;
    // A text that may be anything is a token that nobody has, or finds nothing.
    if (schema.type === 'integer') return /^(?:0|[1-9]\d*)$/.test(value) && openapi.isValid(schema, Number(value));
    return openapi.isValid(schema, value);
  }
  expectNothingKept();
});

test.each(hostileCredentials)('%s opens no operation that asks for credentials', (title, headers) =>
  each(
    partOf(
      openapi.operations.filter(
        ({ security }) => security.length > 0 && security.every((each) => Object.keys(each).length > 0),
      ),
      rowOf(hostileCredentials, title),
    ),
    async (operation) => {
      const body = operation.body === undefined ? {} : { raw: goodBodyOf(operation) };
      expectProblem(
        await ask(operation, pathOf(operation, things), { headers: { ...headers }, ...body }),
        401,
        'unauthenticated',
      );
    },
  ),
);

test('a process that gets many of the worst bodies at once lives on and serves, and holds less than 600 MB', async () => {
  const { url: baseUrl, child } = await weir.spawnApi({
    REQUESTS_IN_FLIGHT_MAX: '10000',
    EVENT_LOOP_DELAY_MS_MAX: '60000',
    // By default some of them would not be read at all.
    BODIES_BYTES_MAX: '134217728',
  });
  const worst = [
    '['.repeat(1_000_000),
    '['.repeat(500_000) + ']'.repeat(500_000),
    `{${Array.from({ length: 80_000 }, (_, index) => `"f${index}":1`).join()}}`,
    `{"events":[${Array(1_000)
      .fill(`{"metadata":{"a":"${'x'.repeat(9_000)}"}}`)
      .join()}]}`,
    '9'.repeat(1_000_000),
  ];
  const path = '/api/v1/sdk/track/batch';
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, index) =>
      weir.request('POST', path, { baseUrl, apiKey, raw: worst[index % worst.length] ?? '' }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400, 422, 207]));
  expect(child.exitCode).toBeNull();
  const isServed = async () =>
    (await weir.request('GET', '/api/v1/auth/me', { baseUrl, session: admin.session })).status === 200;
  await until(isServed, 'what is valid is served again');
  const raw = `{"event_types":${LONG_LIST}}`;
  const long = { baseUrl, session: admin.session, raw };
  const lists = Array.from({ length: 3 }, () => weir.request('POST', '/api/v1/webhook-endpoints', long));
  for (const answer of await Promise.all(lists)) expectProblem(answer, 422, 'invalid_request');
  const { body: metrics } = await weir.request('GET', '/metrics', { baseUrl });
  const resident = Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]);
  expect(resident).toBeGreaterThan(0);
  expect(resident).toBeLessThan(600_000_000);
});

/** The paths of the errors of a request that is refused with 422. */
async function refusedPaths(operation: Operation, at: string, sent: RequestOptions): Promise<string[]> {
  const opener = openerOf(operation);
  const answer = await ask(operation, at, { ...opener, ...sent, headers: { ...opener.headers, ...sent.headers } });
  expectProblem(answer, 422, 'invalid_request');
  return answer.body.errors.map((error: { path: string }) => error.path);
}

test('what Postgres does not answer in time is 503, and says when to come back and what became of it', async () => {
  const { url: baseUrl, close } = await weir.startApi({ DATABASE_STATEMENT_TIMEOUT_MS: '200' });
  const locking = await weir.pool.connect();
  await locking.query(`
    BEGIN;
    DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT oid::regclass FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition LOOP
        EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', name);
      END LOOP;
    END $$`);
  const [served, unknown, told]: [string[], string[], string[]] = [[], [], []];
  try {
    // Tracking answers without Postgres what it knows: see dependencies-gone.test.ts.
    const others = ofTheApi().filter(({ path }) => !path.includes('/sdk/'));
    const attack = async (operation: Operation): Promise<void> => {
      const body = operation.body === undefined ? {} : { raw: goodBodyOf(operation) };
      const answer = await ask(operation, pathOf(operation, things), { baseUrl, ...openerOf(operation), ...body });
      if (answer.status !== 503) return void served.push(operation.name);
      expectProblem(answer, 503, 'unavailable');
      if (answer.body.outcome === 'unknown') unknown.push(operation.name);
      if (answer.body.detail.includes('is not known whether')) told.push(operation.name);
    };
    // They only wait for their time to be over.
    await each(others, attack, 3 * AT_ONCE);
  } finally {
    await locking.query('ROLLBACK');
    locking.release();
    await close();
  }
  const ofAccess = (paths: string[]) => paths.map((path) => `post /api/v1/auth/${path}`);
  // Nothing is looked up for these: what the document has for a token is none.
  const links = ofAccess(['invitation', 'invitation/accept', 'password-reset', 'password-reset/request']);
  expect(served.toSorted()).toEqual(['get /api/v1/auth/options', ...links]);
  expect(unknown.toSorted()).toEqual(ofAccess(['login', 'logout', 'signup']));
  // Who signs in or out is told to try again, and nothing of accounts.
  expect(told).toEqual(ofAccess(['signup']));
});

test('what no operation takes is refused by each, in its query and where it has no body, and not ignored', () =>
  each(ofTheApi(), async (operation) => {
    const path = pathOf(operation, things);
    const refused = (at: string, body: unknown) => refusedPaths(operation, at, { ...(body !== undefined && { body }) });
    expect(await refused(`${path}?no_such=1`, operation.example), operation.name).toContain('no_such');
    if (operation.body !== undefined) return;
    // The body of a GET is not even read.
    const isRead = operation.method !== 'GET';
    expect(await refused(path, { no_such: 1 }), operation.name).toEqual([isRead ? 'no_such' : '']);
    for (const body of [['x'], 'x']) expect(await refused(path, body), operation.name).toEqual(['']);
  }));

test('If-Match is refused by each operation that is no PATCH, and not ignored', () =>
  each(
    ofTheApi().filter(({ method }) => method !== 'PATCH'),
    async (operation) => {
      const headers = { 'if-match': '*' };
      expect(await refusedPaths(operation, pathOf(operation, things), { headers })).toEqual(['If-Match']);
    },
  ));

expectNothingKept();
