// A plan whose prices were changed for years: what ended before a period begins is without number, and costs nobody who opens one.

import { readPlans } from '@weir/db/billing/subscriptions/open-periods';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const ENDED = 20_000;
const weir = ownWeir();

let billing: Invoicing;
let plan: { id: string; charges: string[] };
beforeAll(async () => {
  billing = await startInvoicing(weir);
  plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '10', timing: 'in_advance' }]);
  // Half of them ended in the past, and half were announced for the future and taken back.
  await weir.pool.query(
    `INSERT INTO charges SELECT (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(),
       'effective_from', at - taken_back, 'ended_at', at))).*
     FROM charges AS c, generate_series(1, ${ENDED / 2}) AS n,
       (VALUES (timestamptz '2024-12-30', interval '1 minute'), ('2026-06-01', '0')) AS ended (at, taken_back)
     WHERE c.id = $1`,
    plan.charges,
  );
});
afterAll(() => billing.close());

test('who subscribes is given the charges that a period may be billed by, and none that ended before', async () => {
  const { id: customer } = await billing.customer();
  const { id } = await billing.subscribe(plan.id, customer, { start_date: '2024-12-31' });
  const { rows } = await weir.pool.query('SELECT FROM charges WHERE plan_id = $1', [plan.id]);
  expect(rows).toHaveLength(1 + ENDED);
  const row = await billing.database.kysely
    .selectFrom('subscriptions')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const read = await readPlans(billing.database.kysely, billing.admin.id, [row]);
  expect(read.get(plan.id)?.charges.map((charge) => charge.id)).toEqual(plan.charges);
});
