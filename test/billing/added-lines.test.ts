// Lines that a program adds to a draft, one for each order: a draft takes so many of them, and they weigh where drafts are finalized
// together. A draft that had more before there was a limit is read and finalized all the same.

import { cutByWeight } from '@weir/db/billing/invoices/cut-by-weight';
import { LIMITS } from '@weir/shared/limits';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRows } from '../support/copy-rows.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let billing: Billed;
beforeAll(async () => {
  billing = await startBilled(weir);
});
afterAll(() => billing.close());

const LINE = { description: 'An order', amount: '1' };
const add = (id: string) => billing.request('POST', `/invoices/${id}/lines`, LINE);

/** A draft of 10.00 in advance for a new customer, on which an admin has put so many lines of 1.00. */
async function draftOf(added: number): Promise<string> {
  const { id: customer } = await billing.customer();
  const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '10' }]);
  const { id: subscription } = await billing.subscribe(plan.id, customer);
  const [draft] = await billing.drafts(subscription);
  const id = draft?.id ?? '';
  const line = await billing.post(`/invoices/${id}/lines`, LINE, 201);
  await weir.pool.query(
    copyRows('invoice_lines', `'id', gen_random_uuid(), 'position', n`, { times: added - 1, where: 't.id = $1' }),
    [line.id],
  );
  return id;
}

test('are as many as the limit says, and one that is taken off makes room', async () => {
  const id = await draftOf(LIMITS.addedLines - 1);
  const last = await add(id);
  expect(last.status).toBe(201);
  const refused = await add(id);
  expectProblem(refused, 422, 'invalid_request');
  expect(refused.body.errors).toEqual([
    { path: '', message: expect.stringContaining(`more than the ${LIMITS.addedLines} that a draft takes`) },
  ]);
  await billing.request('DELETE', `/invoices/${id}/lines/${last.body.id}`);
  expect((await add(id)).status).toBe(201);
  const total = `${LIMITS.addedLines + 10}.00`;
  expect(await billing.post(`/invoices/${id}/finalize`)).toMatchObject({ total, lines_total: LIMITS.addedLines + 1 });
});

test('that were more before there was a limit are read and finalized', async () => {
  const added = 2 * LIMITS.addedLines + 5;
  const id = await draftOf(added);
  expectProblem(await add(id), 422, 'invalid_request');
  const whole = { total: `${added + 10}.00`, lines_total: added + 1 };
  expect(await billing.get(`/invoices/${id}`)).toMatchObject(whole);
  expect(await billing.post(`/invoices/${id}/finalize`)).toMatchObject({ status: 'OPEN', ...whole });
  const { rows } = await weir.pool.query(
    'SELECT count(DISTINCT position)::integer AS lines, max(position) AS last FROM invoice_lines WHERE invoice_id = $1',
    [id],
  );
  expect(rows).toEqual([{ lines: added + 1, last: added }]);
});

test('weigh where drafts are finalized together: those with many of them are in other transactions', async () => {
  const heavy = [await draftOf(5_000), await draftOf(5_000), await draftOf(1), await draftOf(1)];
  const chunks = await cutByWeight(billing.database.kysely, billing.admin.id, heavy);
  expect(chunks).toEqual([heavy.slice(0, 1), heavy.slice(1, 2), heavy.slice(2)]);
});

test('on a draft that cannot be computed do not keep those behind it from being finalized', async () => {
  const [broken, large, last] = [await draftOf(5_000), await draftOf(5_000), await draftOf(1)];
  const setPrice = (price: string) =>
    weir.pool.query(
      `UPDATE dues SET terms = jsonb_set(terms, '{unit_price}', to_jsonb($2::text))
       WHERE subscription_id = (SELECT subscription_id FROM invoices WHERE id = $1)`,
      [broken, price],
    );
  await setPrice('many');
  const outcomes = async (...ids: string[]) => {
    const { data } = await billing.post('/invoices/finalize', { ids });
    return data.map(({ outcome }: { outcome: string }) => outcome);
  };
  expect(await outcomes(broken, large, last)).toEqual(['not_computed', 'finalized', 'not_reached']);
  expect(await outcomes(broken, large, last)).toEqual(['not_computed', 'invoice_not_draft', 'finalized']);
  await setPrice('10');
  expect(await outcomes(broken)).toEqual(['finalized']);
});
