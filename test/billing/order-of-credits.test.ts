// Credits are drawn in the order of the numbers of invoices, whatever is finalized at once.

import { expect, test } from 'vitest';
import { startInvoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();

test('no invoice draws, when it is finalized, from a grant that one with a later number makes', async () => {
  const billing = await startInvoicing(weir);
  const { id: customer } = await billing.customer();
  const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '31' }]);
  await billing.moveTo('2025-01-01T00:00:00Z');
  const subscriptions: string[] = [];
  for (let index = 0; index < 12; index += 1) subscriptions.push((await billing.subscribe(plan.id, customer)).id);
  for (const month of ['01', '02', '03', '04']) {
    await billing.moveTo(`2025-${month}-01T00:00:00Z`, ...subscriptions);
    const drafts = (await Promise.all(subscriptions.map((id) => billing.drafts(id)))).flat();
    expect(drafts).toHaveLength(subscriptions.length);
    // Every third gives money, of which the others may draw.
    for (const [index, { id }] of drafts.entries())
      if (index % 3 === 0) await billing.post(`/invoices/${id}/lines`, { description: 'Sorry', amount: '-200' }, 201);
    await Promise.all(drafts.map(({ id }) => billing.post(`/invoices/${id}/finalize`)));
  }
  // What it says to have drawn in the moment that it was finalized, and what of its draws is of earlier numbers.
  const { rows } = await weir.pool.query<{ number: string; told: string; earlier: string }>(
    `SELECT drawer.invoice_number AS number, (told.data ->> 'credits_applied')::numeric::text AS told,
       coalesce(sum(e.amount) FILTER (WHERE maker.invoice_number < drawer.invoice_number), 0)::numeric(20, 2)::text AS earlier
     FROM invoices drawer
     JOIN billing_events told ON told.organization_id = drawer.organization_id AND told.type = 'invoice.finalized'
       AND told.data ->> 'id' = drawer.id::text
     LEFT JOIN credit_entries e ON e.organization_id = drawer.organization_id AND e.invoice_id = drawer.id AND e.kind = 'DRAW'
     LEFT JOIN credit_grants g ON g.organization_id = e.organization_id AND g.id = e.grant_id
     LEFT JOIN invoices maker ON maker.organization_id = g.organization_id AND maker.id = g.invoice_id
     WHERE drawer.organization_id = $1 GROUP BY 1, 2 ORDER BY 1`,
    [billing.admin.id],
  );
  expect(rows).toHaveLength(4 * subscriptions.length);
  for (const { number, told, earlier } of rows) expect([number, told]).toEqual([number, earlier]);
  expect(rows.filter(({ told }) => Number(told) > 0).length).toBeGreaterThan(4);
  await billing.close();
}, 60_000);
