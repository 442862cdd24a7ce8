// What is planted to see each check of invoices and their lines find it. See planted-faults.ts.

export type FaultRow = [check: string, what: string, text: string, said: string];

export const INVOICE_FAULTS: readonly FaultRow[] = [
  [
    'invoice_totals',
    'a subtotal that its lines do not add up to',
    'UPDATE invoices SET subtotal = 3.59, total = 3.59 WHERE id = :invoice3',
    'its lines add up to 3.58, its subtotal is 3.59',
  ],
  [
    'invoice_totals',
    'a total that is not the subtotal',
    'UPDATE invoices SET total = 3.57 WHERE id = :invoice3',
    'its total 3.57',
  ],
  [
    'invoice_totals',
    'a finalized invoice without lines',
    'DELETE FROM invoice_lines WHERE invoice_id = :invoice3',
    'its lines add up to nothing',
  ],
  [
    'invoice_status',
    'a paid invoice of which something is due',
    'UPDATE invoices SET amount_paid = 19.99 WHERE id = :invoice1',
    'it is PAID',
  ],
  [
    'invoice_status',
    'an open one of which nothing is',
    'UPDATE invoices SET amount_paid = 3.58 WHERE id = :invoice3',
    'it is OPEN',
  ],
  [
    'invoice_status',
    'more credits than the total',
    'UPDATE invoices SET credits_applied = 1 WHERE id = :invoice5',
    'credits of 1',
  ],
  [
    'invoice_payments',
    'a payment that counts no more',
    'UPDATE payments SET taken_back_at = now() WHERE invoice_id = :invoice1',
    '20.00 of it are paid, and its payments add up to 0',
  ],
  [
    'invoice_payments',
    'a payment that nobody counted',
    `INSERT INTO payments (organization_id, invoice_id, id, amount, paid_at)
      SELECT organization_id, id, gen_random_uuid(), 0.58, now() FROM invoices WHERE id = :invoice3`,
    '0.00 of it are paid, and its payments add up to 0.58',
  ],
  [
    'invoice_parties',
    'an invoice of another customer',
    'UPDATE invoices SET customer_id = :beta WHERE id = :invoice1',
    'it is for customer',
  ],
  [
    'invoice_parties',
    'an invoice in another currency than its subscription',
    `UPDATE invoices SET currency = 'EUR' WHERE id = :invoice3`,
    'in EUR, and its subscription',
  ],
  [
    'line_rounding',
    'an amount that is not its exact amount, rounded',
    `UPDATE invoice_lines SET exact_amount = '0.605' WHERE exact_amount = '0.6'`,
    '0.60 is not 0.605 rounded',
  ],
  [
    'line_rounding',
    'a fraction that is rounded to another amount',
    `UPDATE invoice_lines SET exact_amount = '25/6' WHERE exact_amount = '25/7'`,
    '3.57 is not 25/6 rounded',
  ],
  [
    'line_rounding',
    'what was billed before not taken off',
    'UPDATE invoice_lines SET billed_before = 0 WHERE billed_before > 0',
    '0.15 is not 0.9 rounded, less 0',
  ],
  [
    'line_rounding',
    'an exact amount that is no number',
    `UPDATE invoice_lines SET exact_amount = '1e3' WHERE exact_amount = '0.6'`,
    '1e3',
  ],
  [
    'line_rounding',
    'an amount with more digits than its currency',
    'UPDATE invoice_lines SET amount = 0.155, billed_before = 0.745 WHERE billed_before > 0',
    '0.155',
  ],
  [
    'invoice_numbers',
    'a number that is missing',
    `UPDATE invoices SET invoice_number = 'INV-2026-000007' WHERE id = :invoice5;
      UPDATE invoice_numbers SET last_number = 7`,
    'before its number, INV-2026-000007, 2 of the year are missing',
  ],
  [
    'invoice_numbers',
    'a first number that is missing',
    `UPDATE invoices SET invoice_number = 'INV-2026-000006' WHERE id = :invoice1;
      UPDATE invoice_numbers SET last_number = 6`,
    'before its number, INV-2026-000002, 1 of the year are missing',
  ],
  [
    'invoice_numbers',
    'a number that is given twice, under two prefixes',
    `UPDATE invoices SET invoice_number = 'ACME-2026-000004' WHERE id = :invoice5;
      UPDATE invoice_numbers SET last_number = 4`,
    '-2026-000004 is given twice',
  ],
  [
    'invoice_numbers',
    'a counter that is ahead of the numbers',
    'UPDATE invoice_numbers SET last_number = 6',
    '6 numbers were taken, and the last that is given is 5',
  ],
  [
    'invoice_numbers',
    'a number of another year',
    `UPDATE invoices SET issue_date = '2025-12-31' WHERE id = :invoice1`,
    'is none of an invoice that was issued on 2025-12-31',
  ],
  [
    'invoice_order',
    'a later cycle that was finalized first',
    `UPDATE invoices SET invoice_number = 'x' WHERE id = :invoice1;
      UPDATE invoices SET invoice_number = 'INV-2026-000001' WHERE id = :invoice5; UPDATE invoices SET invoice_number = 'INV-2026-000005' WHERE id = :invoice1`,
    'has a smaller number than the one before',
  ],
  [
    'invoice_order',
    'a draft before a finalized invoice',
    `UPDATE invoices SET status = 'DRAFT', invoice_number = NULL WHERE id = :invoice4`,
    'and the one before is a draft',
  ],
  [
    'invoice_order',
    'two invoices of one boundary',
    `ALTER TABLE invoices DROP CONSTRAINT invoices_organization_id_subscription_id_cycle_key;
      UPDATE invoices SET cycle = 1 WHERE id = :invoice5`,
    'has another invoice',
  ],
  [
    'invoices_missing',
    'a boundary without its invoice',
    'UPDATE invoices SET cycle = 9 WHERE id = :invoice4',
    'something is due at boundary 1',
  ],
  [
    'invoices_missing',
    'the end of a subscription without its invoice',
    'UPDATE invoices SET cycle = 9 WHERE id = :invoice3',
    'something is due at boundary 2',
  ],
  [
    'dues_left_open',
    'a due that its invoice did not close',
    'UPDATE dues SET closing = NULL WHERE charge_id = :usageA AND cycle = 1',
    'is open, and invoice',
  ],
];
