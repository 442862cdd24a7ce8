// What is planted to see each check of the rows of billing find it. The texts name ids as `planted` of billed-organization.ts does.

import { INVOICE_FAULTS, type FaultRow } from './planted-invoice-faults.ts';

export interface Fault {
  check: string;
  what: string;
  /** Statements that break it, of the rows that billed-organization.ts makes. */
  text: string;
  /** What is said of it. */
  said: string;
}

const FAULTS: readonly FaultRow[] = [
  ...INVOICE_FAULTS,
  [
    'dues_priced',
    'a due with another price than its charge',
    `UPDATE dues SET terms = jsonb_set(terms, '{unit_price}', '"99"') WHERE charge_id = :usageA AND cycle = 2`,
    'cycle 2 has another price than charge',
  ],
  [
    'dues_priced',
    'a due of another meter than its charge',
    'UPDATE dues SET meter_id = NULL WHERE charge_id = :usageA AND cycle = 2',
    'cycle 2 is of meter none, and charge',
  ],
  [
    'due_billed',
    'a due that says another amount than its lines',
    'UPDATE dues SET billed = 0.75 WHERE charge_id = :usageA AND cycle = 0',
    'its lines add up to 0.90, last at closing 3; it says 0.75',
  ],
  [
    'due_billed',
    'a due that was closed without a line',
    `UPDATE dues SET closing = 3 WHERE charge_id = :usageA AND cycle = 2`,
    'last at closing none',
  ],
  [
    'due_billed',
    'a line that is there twice',
    `INSERT INTO invoice_lines SELECT (r).* FROM (SELECT jsonb_populate_record(l, jsonb_build_object('id', gen_random_uuid())) AS r
      FROM invoice_lines l WHERE exact_amount = '0.6') AS copied`,
    'its lines add up to 1.20',
  ],
  [
    'line_billed_before',
    'a line that forgets the lines before it',
    `UPDATE invoice_lines SET billed_before = 0.74 WHERE billed_before > 0`,
    'it says 0.74, and the lines before it add up to 0.75',
  ],
  [
    'line_billed_before',
    'a line on the invoice of another subscription',
    `UPDATE invoice_lines SET invoice_id = :invoice3 WHERE exact_amount = '0.6'`,
    'and its invoice of',
  ],
  [
    'dues_overlap',
    'two dues that hold one event',
    `UPDATE dues SET period_start = '2026-02-14' WHERE charge_id = :usageA AND cycle = 1`,
    'goes on until 2026-02-15',
  ],
  [
    'closings',
    'a closed due that goes on after all that is closed',
    `UPDATE closings SET until = '2026-03-14'`,
    'ends at 2026-03-15',
  ],
  ['closings', 'a closing that never was', 'UPDATE closings SET number = 2', 'the last one is 2'],
  [
    'closings',
    'a subscription that was settled at none',
    `UPDATE subscriptions SET closing = 4 WHERE id = :subscriptionB`,
    'it was settled at closing 4',
  ],
  [
    'closings',
    'a late event of none',
    `UPDATE late_events SET closing = 4 WHERE closing = 2`,
    'it is late for closing 4',
  ],
  [
    'late_events',
    'a late event that was never recorded',
    `UPDATE late_events SET event_id = gen_random_uuid() WHERE closing = 2`,
    'was never recorded',
  ],
  [
    'late_events',
    'a late event with another quantity',
    'UPDATE late_events SET quantity = 2 WHERE closing = 2',
    'another meter, customer, time or quantity',
  ],
  [
    'late_events',
    'an event that is void for a closing without a correction',
    'UPDATE late_events SET voids = event_id WHERE closing = 2',
    'no correction says so',
  ],
  [
    'corrections',
    'a correction of what was never recorded',
    `INSERT INTO corrections (organization_id, event_id, id, reason, closing, actor)
      SELECT organization_id, gen_random_uuid(), gen_random_uuid(), 'x', 2, 'weir' FROM late_events WHERE closing = 2 LIMIT 1`,
    'it is void, and was never recorded',
  ],
  [
    'corrections',
    'another event in place of one, of which there is none',
    `INSERT INTO corrections (organization_id, event_id, id, reason, amended_by, closing, actor)
      SELECT organization_id, event_id, gen_random_uuid(), 'x', gen_random_uuid(), 2, 'weir' FROM late_events WHERE closing = 2 LIMIT 1`,
    'counts in its place, and was never recorded',
  ],
  [
    'late_events_lost',
    'late events that no invoice will find',
    'UPDATE closings SET number = 4; UPDATE subscriptions SET closing = 4 WHERE id = :subscriptionA',
    'cycle 1 of charge',
  ],
  [
    'periods',
    'a gap between two periods',
    `UPDATE subscription_periods SET period_end = '2026-02-14' WHERE subscription_id = :subscriptionA AND cycle = 0`,
    'and the one before ends at 2026-02-14',
  ],
  [
    'periods',
    'a first period that begins before the trial is over',
    `UPDATE subscriptions SET trial_end_at = '2026-01-16' WHERE id = :subscriptionA`,
    'and not at 2026-01-16',
  ],
  [
    'periods',
    'a cycle that was left out',
    `UPDATE dues SET cycle = cycle; ALTER TABLE dues DROP CONSTRAINT dues_organization_id_subscription_id_cycle_fkey;
      DELETE FROM subscription_periods WHERE subscription_id = :subscriptionA AND cycle = 1`,
    'cycle 2 follows cycle 0',
  ],
  [
    'periods',
    'a subscription that is not in its last period',
    `UPDATE subscriptions SET current_period_end = '2026-04-16' WHERE id = :subscriptionA`,
    'it is in cycle 2',
  ],
  [
    'dues_in_periods',
    'a due that ends before its period',
    `UPDATE dues SET period_end = '2026-03-18' WHERE charge_id = :usageA AND cycle = 2`,
    'and the period from',
  ],
  [
    'dues_in_periods',
    `a due of another customer's events`,
    `UPDATE dues SET customer_external_id = 'beta' WHERE charge_id = :usageA AND cycle = 2`,
    'for beta',
  ],
  [
    'dues_missing',
    'a period without a due of a charge',
    'DELETE FROM dues WHERE charge_id = :usageA AND cycle = 2',
    'cycle 2 has no due of charge',
  ],
  [
    'dues_in_force',
    'a period that is billed by a charge which had ended',
    'UPDATE charges SET ended_at = (SELECT period_start FROM dues WHERE charge_id = :usageA AND cycle = 2) WHERE id = :usageA',
    'cycle 2 is billed by charge',
  ],
  [
    'dues_in_force',
    'one that is billed by a charge which begins later',
    `UPDATE charges SET effective_from = (SELECT period_end FROM dues WHERE charge_id = :usageA AND cycle = 2) WHERE id = :usageA`,
    'cycle 2 is billed by charge',
  ],
  [
    'billed_meters',
    'a meter that another subscription may bill meanwhile',
    `UPDATE billed_meters SET ended_at = '2026-03-15' WHERE meter_id = :sum`,
    'which is kept for',
  ],
  [
    'billed_meters',
    'a meter that is kept for none',
    'DELETE FROM billed_meters WHERE meter_id = :sum',
    'which is kept for none',
  ],
  [
    'credit_grants',
    'a grant of which too little remains',
    'UPDATE credit_grants SET remaining = 0.24 WHERE id = :drawn',
    '1.00 were granted, 0.75 drawn, 0 returned, 0 voided, and 0.24 remain',
  ],
  [
    'credit_grants',
    'a grant that is below zero',
    `ALTER TABLE credit_grants DROP CONSTRAINT credit_grants_remaining_check;
      UPDATE credit_entries SET amount = 1.25 WHERE grant_id = :drawn; UPDATE credit_grants SET remaining = -0.25 WHERE id = :drawn`,
    'and -0.25 remain',
  ],
  [
    'credit_grants',
    'a void grant of which something remains',
    `DELETE FROM credit_entries WHERE kind = 'VOID'; UPDATE credit_grants SET remaining = 5 WHERE id = :voided`,
    'and 5 remain',
  ],
  [
    'invoice_credits',
    'credits that were not drawn',
    'UPDATE invoices SET credits_applied = 0.5 WHERE id = :invoice4',
    'credits of 0.5; it drew 0.75',
  ],
  [
    'invoice_credits',
    'a void invoice that kept what it drew',
    `DELETE FROM credit_entries WHERE kind = 'RETURN'`,
    'returned 0',
  ],
  [
    'invoice_credits',
    'a total below zero that became no grant',
    'UPDATE credit_grants SET invoice_id = NULL WHERE id = :negative',
    'granted 0',
  ],
  [
    'draws',
    `a draw from another customer's grant`,
    'UPDATE credit_grants SET customer_id = :beta WHERE id = :drawn',
    'and drew from grant',
  ],
  [
    'draws',
    'a draw from a grant of another currency',
    `UPDATE credit_grants SET currency = 'EUR' WHERE id = :drawn`,
    'in EUR',
  ],
  ['feed', 'a gap in the feed', 'DELETE FROM billing_events WHERE sequence = 2', 'before it 1 are missing'],
  [
    'feed',
    'a number of the feed that is there twice',
    `ALTER TABLE billing_events DROP CONSTRAINT billing_events_pkey;
      INSERT INTO billing_events SELECT * FROM billing_events WHERE sequence = 3`,
    'it is there twice',
  ],
  [
    'feed',
    'a feed whose last numbers were taken and not written',
    'UPDATE billing_feeds SET last_sequence = 6',
    '6 numbers were taken, and the last that is written is 4',
  ],
];

export const PLANTED_FAULTS: readonly Fault[] = FAULTS.map(([check, what, text, said]) => ({
  check,
  what,
  text,
  said,
}));
