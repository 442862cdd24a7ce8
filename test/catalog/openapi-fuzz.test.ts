// The OpenAPI document is taken at its word: whatever it says can be sent is sent, and nearly that, and every answer has to be
// one that it says can come. FUZZ_RUNS and FUZZ_SEED make it look further and elsewhere; what fails prints the seed.

import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { calls, openersOf, type Call } from '../support/fuzz/calls.ts';
import { jsonOf, textOf, type Value } from '../support/fuzz/values.ts';
import { makeWorld, type World } from '../support/fuzz/world.ts';
import type { Answer } from '../support/harness.ts';
import { readOpenapi, type OpenapiDocument, type Operation } from '../support/openapi-document.ts';
import { ownWeir } from '../support/use-weir.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 800);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_101);

/** So many more calls an operation gets that has not answered with a success. */
const MORE_RUNS = 40;

/** No answer takes this long. */
const ANSWER_MS_MAX = 5_000;

// Without a mail server, links cannot be asked for; this one is away, which fails nothing.
const mail = { SMTP_URL: 'smtp://127.0.0.1:1', SMTP_FROM: 'weir@example.com', PUBLIC_URL: 'http://127.0.0.1' };
const weir = ownWeir({ api: mail });
let world: World;
let openapi: OpenapiDocument;
/** The statuses that each operation was seen to answer with. */
const seen = new Map<string, Set<number>>();

beforeAll(async () => {
  world = await makeWorld(weir);
  openapi = await readOpenapi(weir);
});

/** Fields that are refused in some cases only, of which the document tells in words. */
const RULES: { operation: string; path: string; rule: string }[] = [
  { operation: 'patch /api/v1/features/{id}', path: 'unit', rule: 'only features of type meter have a unit' },
  ...['days_in_force', 'days_in_period'].map((path) => ({
    operation: 'post /api/v1/charges/evaluate',
    path,
    rule: 'the days in force stand beside those of the period',
  })),
  ...[
    ['customer_id', 'a customer is named by one of its ids, and not by both'],
    ['billing_interval', 'it is that of the plan'],
    ['trial_end_date', 'a trial does not end before the start, or a hundred years later'],
  ].flatMap(([path = '', rule = '']) =>
    ['post /api/v1/subscriptions', 'post /api/v1/subscriptions/preview'].map((operation) => ({
      operation,
      path,
      rule,
    })),
  ),
  {
    operation: 'post /api/v1/erasures',
    path: 'customer_id',
    rule: 'a customer is named by one of its ids, and not by both',
  },
  ...['get /api/v1/meters/{id}/usage', 'get /api/v1/usage'].flatMap((operation) => [
    { operation, path: 'filter', rule: 'it is by one of the keys that the meter names' },
    { operation, path: 'filter[model]', rule: 'the keys of a meter may have been changed' },
    { operation, path: 'groups_limit', rule: 'groups and periods together are not too many' },
    { operation, path: 'group_by_metadata', rule: 'it is one of the keys that the meter names' },
  ]),
  { operation: 'post /api/v1/customers/{id}/credits', path: 'amount', rule: 'a currency has so many digits' },
  { operation: 'post /api/v1/auth/password', path: 'current_password', rule: 'it is the password of the account' },
  { operation: 'post /api/v1/api-keys', path: 'scopes', rule: 'a key has each scope once' },
  { operation: 'post /api/v1/alerts', path: 'meter_id', rule: 'an alert watches a meter or amounts' },
  { operation: 'post /api/v1/alerts', path: '', rule: 'an organization has so many alerts' },
];

/** What is wrong with an answer to a call; undefined when all is well. */
function problemOf(operation: Operation, call: Call, answer: Answer): string | undefined {
  const { status, body } = answer;
  if (status >= 500) return `it failed: ${JSON.stringify(body)}`;
  const undocumented = openapi.problemOfAnswer(operation, answer);
  if (undocumented !== undefined) return undocumented;
  if (!openersOf(operation).includes(call.credential)) {
    // What is too long for a path leads nowhere, whoever asks.
    const leadsNowhere = status === 404 && Object.values(call.path).some((value) => textOf(value).length > 512);
    return leadsNowhere || [401, 403].includes(status) ? undefined : 'this credential must not open it';
  }
  // The events of a batch are judged one by one.
  const isTaken = status < 300 && status !== 207;
  if (isTaken && !isValidCall(operation, call)) return 'it took what the document does not allow';
  return call.isValid ? problemOfRefusal(operation, answer) : undefined;
}

/** A valid request is refused for what exists or does not, and never for what it looks like. */
function problemOfRefusal({ name }: Operation, { status, body }: Answer): string | undefined {
  const isAboutItsForm = [400, 403, 405, 413, 415].includes(status) || body.code === 'invalid_request';
  const isByRule = RULES.some(({ operation, path }) => operation === name && body.errors?.[0]?.path === path);
  const isSignedOut = status === 401 && name !== 'post /api/v1/auth/login';
  return (isAboutItsForm && !isByRule) || isSignedOut
    ? `it refused a valid request: ${JSON.stringify(body)}`
    : undefined;
}

/** Whether the document allows all of a call, after what was spoiled in it. */
function isValidCall(operation: Operation, call: Call): boolean {
  const areValid = operation.parameters.every(({ name, in: place, required, schema }) => {
    const value = { path: call.path, query: call.query, header: call.header }[place]?.[name];
    if (value === undefined) return required !== true;
    return openapi.isValid(schema, schema.type === 'integer' ? numberOf(value) : textOf(value));
  });
  if (!areValid || operation.body === undefined || call.body === undefined) return areValid;
  return openapi.isValid(operation.body, JSON.parse(jsonOf(call.body)));
}

const numberOf = (value: Value): Value => (/^\d+$/.test(textOf(value)) ? Number(textOf(value)) : null);

/** Sends a call, and holds the answer against the document. */
async function tryOut(generated: Call): Promise<void> {
  const call = await world.fill(generated);
  const operation = openapi.operations.find(({ name }) => name === call.operation);
  if (operation === undefined) throw new Error(`the document has no operation ${call.operation}`);
  const startedAt = performance.now();
  const answer = await world.send(operation, call);
  expect(performance.now() - startedAt).toBeLessThan(ANSWER_MS_MAX);
  seen.set(operation.name, (seen.get(operation.name) ?? new Set()).add(answer.status));
  const problem = problemOf(operation, call, answer);
  expect(problem, `${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`).toBeUndefined();
}

const hasSucceeded = ({ name }: Operation) => [...(seen.get(name) ?? [])].some((status) => status < 300);

test(
  `${RUNS} valid and nearly valid requests get nothing but answers that the document allows`,
  { timeout: RUNS * 120 },
  async () => {
    await fc.assert(fc.asyncProperty(calls(openapi.operations), tryOut), { numRuns: RUNS, seed: SEED });
  },
);

test('every operation of the document was reached: each has answered with a success', async () => {
  // Of some dozens of calls to one operation few may be right: those that had no luck are called some more.
  for (const operation of openapi.operations.filter((each) => !hasSucceeded(each)))
    for (const call of fc.sample(calls([operation]), { numRuns: MORE_RUNS, seed: SEED }))
      if (!hasSucceeded(operation)) await tryOut(call);
  const unreached = openapi.operations.filter((operation) => !hasSucceeded(operation));
  expect(unreached.map(({ name }) => `${name}: ${[...(seen.get(name) ?? [])].join(', ')}`)).toEqual([]);
});

test('afterwards everything that was taken is recorded, and the API serves', async () => {
  await weir.drained();
  const ready = await weir.request('GET', '/readyz');
  expect(ready).toMatchObject({ status: 200, body: { status: 'ok', redis: 'ok', postgres: 'ok' } });
});
