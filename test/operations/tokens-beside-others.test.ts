// A widget token that is made beside what ends all tokens of its external id: an erasure, a move of usage, a customer who gets that id.

import { keepExternalId } from '@weir/db/customers';
import { insertWidgetToken } from '@weir/db/widget-tokens';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askMeanwhile } from '../support/beside-other.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let billing: Invoicing;
beforeAll(async () => {
  billing = await startInvoicing(weir);
});
afterAll(() => billing.close());

const TOKENS = 'SELECT FROM widget_tokens WHERE organization_id = $1 AND customer_external_id = $2';

test.each([
  ['/erasures', 'shown by its record', (id: string) => ({ customer_id: id })],
  ['/erasures', 'shown without one', () => ({ customer_external_id: 'shown without one' })],
  ['/usage-moves', 'shown before', () => ({ from_external_id: 'shown before', to_external_id: 'shown behind' })],
])('no widget token is made while usage is asked for: %s, %s', async (path, customer_external_id, bodyOf) => {
  const apiKey = await billing.admin.createKey('usage.write');
  const hasRecord = customer_external_id === 'shown by its record';
  const id = hasRecord ? (await billing.post('/customers', { external_id: customer_external_id }, 201)).id : '';
  const [moving, token] = await askMeanwhile(
    weir,
    billing.admin.id,
    () => billing.request('POST', path, bodyOf(id)),
    () => weir.request('POST', '/api/v1/widget/token', { apiKey, body: { customer_external_id } }),
  );
  expect(moving.status).toBe(202);
  expectProblem(token, 409, 'usage_moving');
  expect((await weir.pool.query(TOKENS, [billing.admin.id, customer_external_id])).rowCount).toBe(0);
});

test('a widget token of an external id that was made before a customer got it ends with that', async () => {
  const { id: organization_id } = billing.admin;
  const { id } = await billing.post('/customers', { external_id: 'to be renamed' }, 201);
  const apiKey = await billing.admin.createKey('usage.write');
  const shown = { organization_id, customer_external_id: 'renamed' };
  const { rows } = await weir.pool.query('SELECT id FROM api_keys WHERE organization_id = $1 LIMIT 1', [
    organization_id,
  ]);
  const renaming = await billing.database.kysely.transaction().execute(async (transaction) => {
    await keepExternalId(transaction, organization_id, shown.customer_external_id);
    await insertWidgetToken(transaction, { ...shown, token_hash: Buffer.from(apiKey), api_key_id: rows[0].id });
    const begun = { answer: billing.request('PATCH', `/customers/${id}`, { external_id: 'renamed' }) };
    await Promise.race([untilWaiting(weir), begun.answer]);
    return begun;
  });
  expect((await renaming.answer).status).toBe(200);
  expect((await weir.pool.query(TOKENS, [organization_id, 'renamed'])).rowCount).toBe(0);
});
