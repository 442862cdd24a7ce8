// Writes down lines of invoices that are being finalized, and what they settle: as they are computed, so that no more of them are held
// than are computed at once.

import type { ComputedLine } from '@weir/billing/lines';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import { updateDues, type SettledDue } from '../subscriptions/dues.ts';

/** Lines of dues, at a closing. Expects the rows of their invoices and those of their subscriptions locked. */
export async function writeLines(
  transaction: Queries,
  organizationId: string,
  lines: readonly ComputedLine[],
  closing: number,
): Promise<void> {
  await insertLines(transaction, organizationId, lines);
  await updateDues(transaction, organizationId, closing, lines.flatMap(settledDue));
}

async function insertLines(
  transaction: Queries,
  organizationId: string,
  lines: readonly ComputedLine[],
): Promise<void> {
  const ofDues = lines.flatMap(({ due, ...line }) => (due === null ? [] : [line]));
  if (ofDues.length === 0) return;
  await sql`
    INSERT INTO invoice_lines (organization_id, id, invoice_id, position, kind, description, subscription_id, cycle, charge_id,
      period_start, period_end, days_in_force, days_in_period, quantity, event_count, detail, exact_amount, billed_before,
      amount, waived, rebills, closing, rating_version)
    SELECT ${organizationId}::uuid, id, invoice_id, position, kind, description, subscription_id, cycle, charge_id,
      period_start, period_end, days_in_force, days_in_period, quantity, event_count, detail, exact_amount, billed_before,
      amount, waived, rebills, closing, rating_version
    FROM json_to_recordset(${JSON.stringify(ofDues)}::json) AS line (id uuid, invoice_id uuid, position integer, kind text,
      description text, subscription_id uuid, cycle integer, charge_id uuid, period_start timestamptz,
      period_end timestamptz, days_in_force integer, days_in_period integer, quantity numeric, event_count bigint,
      detail jsonb, exact_amount text, billed_before numeric, amount numeric, waived numeric, rebills integer, closing bigint, rating_version integer)
    ORDER BY id`.execute(transaction);
}

function settledDue({ due, billed }: ComputedLine): SettledDue[] {
  if (due === null || billed === null) return [];
  return [{ subscription_id: due.subscription_id, cycle: due.cycle, charge_id: due.charge_id, billed }];
}
