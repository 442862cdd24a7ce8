// How an organization bills.

import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let session: string;

beforeAll(async () => {
  ({ session } = await signUp(weir));
});

const read = async (session: string) => (await weir.request('GET', '/api/v1/billing/settings', { session })).body;
const change = (body: unknown): Promise<Answer> => weir.request('PATCH', '/api/v1/billing/settings', { session, body });

const DEFAULTS = {
  time_zone: 'UTC',
  invoice_grace_hours: 1,
  payment_terms_days: 30,
  invoice_prefix: 'INV',
  invoice_issuer: null,
  seller: null,
  finalize: 'automatic',
};

test('a new organization bills in UTC, an hour after the boundary, due in 30 days, from INV on', async () => {
  expect(await read((await signUp(weir)).session)).toEqual(DEFAULTS);
});

test('a change changes what is sent, keeps the rest, and is of this organization alone', async () => {
  const { session: other } = await signUp(weir);
  const changes = {
    time_zone: 'America/New_York',
    invoice_grace_hours: 72,
    payment_terms_days: 0,
    invoice_prefix: 'ACME/1',
    invoice_issuer: 'Acme GmbH\nHauptstraße 1\n10115 Berlin\nUSt-IdNr. DE123456789',
    finalize: 'manual',
  };
  let expected: object = await read(session);
  for (const [field, value] of Object.entries(changes)) {
    expected = { ...expected, [field]: value };
    const { status, body } = await change({ [field]: value });
    expect([status, body]).toEqual([200, expected]);
    expect(await read(session)).toEqual(expected);
  }
  expect(await read(other)).toEqual(DEFAULTS);
});

describe('settings at their limits', () => {
  test.each([
    { invoice_grace_hours: 0 },
    { invoice_grace_hours: 72 },
    { payment_terms_days: 0 },
    { payment_terms_days: 365 },
    { invoice_prefix: 'a' },
    { invoice_prefix: `A${'9'.repeat(19)}` },
    { invoice_issuer: 'A' },
    { invoice_issuer: 'Ä'.repeat(1000) },
    { invoice_issuer: null },
    { time_zone: 'Pacific/Apia' },
    { finalize: 'manual' },
    { finalize: 'automatic' },
  ])('%j are taken', async (settings) => {
    expect(await change(settings)).toMatchObject({ status: 200, body: settings });
  });

  test.each<[field: string, value: unknown]>([
    ['invoice_grace_hours', -1],
    ['invoice_grace_hours', 73],
    ['invoice_grace_hours', 0.5],
    ['invoice_grace_hours', '1'],
    ['invoice_grace_hours', null],
    ['payment_terms_days', -1],
    ['payment_terms_days', 366],
    ['payment_terms_days', 1.5],
    ['invoice_prefix', ''],
    ['invoice_prefix', '-A'],
    ['invoice_prefix', 'A B'],
    ['invoice_prefix', `A${'9'.repeat(20)}`],
    ['invoice_prefix', 'INV\n'],
    ['invoice_prefix', null],
    ['invoice_issuer', ''],
    ['invoice_issuer', 'A'.repeat(1001)],
    ['invoice_issuer', 'A\0'],
    ['invoice_issuer', 1],
    ['time_zone', 'Mars/Olympus'],
    ['time_zone', '+01:00'],
    ['time_zone', ''],
    ['time_zone', null],
    ['finalize', 'never'],
    ['finalize', null],
    ['currency', 'USD'],
  ])('%s of %j is refused', async (field, value) => {
    const before = await read(session);
    const answer = await change({ [field]: value });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe(field);
    expect(await read(session)).toEqual(before);
  });

  test('a field that stands twice within another one is refused, whichever of the two was meant', async () => {
    const before = await read(session);
    const raw = '{"seller":{"legal_name":"Acme","tax_id":"DE1","tax_id":"DE2"}}';
    const answer = await weir.request('PATCH', '/api/v1/billing/settings', { session, raw });
    expectProblem(answer, 400, 'malformed_json');
    expect(answer.body.detail).toContain('tax_id');
    expect(await read(session)).toEqual(before);
  });

  test('a change of nothing is refused', async () => {
    expectProblem(await change({}), 422, 'invalid_request');
  });
});
