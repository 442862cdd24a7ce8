// Every operation of the document that changes something is sent twice with one Idempotency-Key, and every other one is asked with a
// key. A new one is tried by itself.

import { AUDITED } from '@weir/api/access/audited-operations';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { calls, openersOf, type Call } from '../support/fuzz/calls.ts';
import { makeWorld, type World } from '../support/fuzz/world.ts';
import type { Answer } from '../support/harness.ts';
import { readOpenapi, type OpenapiDocument, type Operation } from '../support/openapi-document.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let world: World;
let openapi: OpenapiDocument;

beforeAll(async () => {
  world = await makeWorld(weir);
  openapi = await readOpenapi(weir);
});

const TRACKING = /\/sdk\//;
const isUnsafe = ({ method, path }: Operation) => method !== 'GET' && !TRACKING.test(path);
const takesKey = (operation: Operation) =>
  isUnsafe(operation) && operation.parameters.some(({ name }) => name === 'idempotency-key');

/** Calls that are valid by the document, of which some may be refused for what exists. */
function* callsTo(operation: Operation): Generator<Call> {
  const [opener] = openersOf(operation);
  // The first of them are often enough, and each takes its time to make.
  for (let part = 0; part < 40; part += 1) {
    const sample = fc.sample(calls([operation]), { numRuns: 10, seed: 20_260_101 + part });
    yield* sample.filter(({ isValid, credential }) => isValid && credential === opener);
  }
}

const withKey = (call: Call, key: string): Call => ({ ...call, header: { ...call.header, 'idempotency-key': key } });

/** Sends calls to an operation, each with a key of its own, until one succeeds. */
async function succeed(operation: Operation): Promise<{ call: Call; answer: Answer }> {
  const refused: unknown[] = [];
  for (const generated of callsTo(operation)) {
    const call = withKey(await world.fill(generated), randomUUID());
    const answer = await world.send(operation, call);
    if (answer.status < 300) return { call, answer };
    refused.push(answer.body);
  }
  throw new Error(`${operation.name} never succeeded: ${JSON.stringify(refused.slice(0, 5))}`);
}

const auditEntries = async () => (await weir.pool.query('SELECT id, is_done FROM audit_entries ORDER BY id')).rows;

test('what the audit log knows as a change takes a key, by the document', () => {
  const named = openapi.operations
    .filter(takesKey)
    .map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`);
  expect(named.length).toBeGreaterThan(35);
  expect(Object.keys(AUDITED).filter((name) => !named.includes(name))).toEqual([]);
});

test(
  'each is done once, and answered the second time as the first, but for what is secret',
  { timeout: 300_000 },
  async () => {
    const secrets: string[] = [];
    for (const operation of openapi.operations.filter(takesKey)) {
      const { name } = operation;
      const { call, answer: first } = await succeed(operation);
      expect(first.headers.get('idempotent-replay'), name).toBeNull();
      const entries = await auditEntries();
      const second = await world.send(operation, call);
      expect(second.headers.get('idempotent-replay'), `${name}: ${JSON.stringify(second.body)}`).toBe('true');
      const withheld = second.headers.get('idempotent-withheld')?.split(', ') ?? [];
      for (const member of withheld) secrets.push(first.body[member]);
      const expected =
        withheld.length === 0
          ? first.body
          : { ...first.body, ...Object.fromEntries(withheld.map((member) => [member, null])) };
      expect({ status: second.status, body: second.body }, name).toEqual({ status: first.status, body: expected });
      expect(openapi.problemOfAnswer(operation, second), name).toBeUndefined();
      expect(await auditEntries(), name).toEqual(entries);
    }
    // An API key, a token of a service account, a widget token, two secrets of a webhook endpoint and two kinds of links are shown once, and kept nowhere.
    expect(secrets).toHaveLength(7);
    const { rows } = await weir.pool.query('SELECT * FROM request_keys');
    const kept = JSON.stringify(rows);
    for (const secret of secrets) expect(kept).not.toContain(secret.replace(/^.*#/, ''));
  },
);

describe('where a key would be without effect', () => {
  test('it is refused, by every operation that does not take it', async () => {
    const others = openapi.operations.filter(
      (operation) => !takesKey(operation) && operation.path.startsWith('/api/') && !TRACKING.test(operation.path),
    );
    expect(others.length).toBeGreaterThan(40);
    for (const operation of others) {
      const [generated] = callsTo(operation);
      if (generated === undefined) throw new Error(`no call is valid for ${operation.name}`);
      const answer = await world.send(operation, withKey(await world.fill(generated), randomUUID()));
      expect({ name: operation.name, status: answer.status, errors: answer.body.errors }).toEqual({
        name: operation.name,
        status: 422,
        errors: [{ path: 'Idempotency-Key', message: expect.stringMatching(/leave it out/) }],
      });
      expect(openapi.problemOfAnswer(operation, answer), operation.name).toBeUndefined();
    }
  });
});
