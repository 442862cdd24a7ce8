// What charges come to in a period, before and after invoices settled it.

import type { AskedPeriod, DueName } from '@weir/billing/due';
import { microsOfText } from '@weir/shared/instant';
import type { AggregationType } from '@weir/shared/meter';
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Queries } from '../../database.ts';
import type { Tables } from '../../schema.ts';
import { completeFrom } from '../../months-taken-out.ts';
import { runsOf } from '../../runs.ts';
import type { DueUsageQuestion } from '../usage/due-question.ts';
import { findTakenOut } from '../usage/due-taken-out.ts';
import { QUESTIONS_AT_ONCE } from '../usage/due-usage.ts';

/** A row of dues, and how its meter counts; null where it has none. */
export type DueRow = Selectable<Tables['dues']> & { aggregation: AggregationType | null };

/** The dues of some periods, in the order of periods and charges. */
export async function findDues(
  db: Queries,
  organizationId: string,
  periods: readonly AskedPeriod[],
): Promise<DueRow[]> {
  if (periods.length === 0) return [];
  const { rows } = await sql<DueRow>`
    SELECT d.*, m.aggregation_type AS aggregation
    FROM unnest(
      ${periods.map(({ subscription_id }) => subscription_id)}::uuid[],
      ${periods.map(({ cycle }) => cycle)}::integer[],
      ${periods.map(({ inAdvanceOnly }) => inAdvanceOnly)}::boolean[]
    ) AS asked (subscription_id, cycle, in_advance_only)
    CROSS JOIN LATERAL (
      SELECT * FROM dues WHERE organization_id = ${organizationId}::uuid
        AND subscription_id = asked.subscription_id AND cycle = asked.cycle
        AND (NOT asked.in_advance_only OR terms ->> 'timing' = 'in_advance') OFFSET 0
    ) AS d
    LEFT JOIN LATERAL (
      SELECT aggregation_type FROM meters WHERE organization_id = d.organization_id AND id = d.meter_id LIMIT 1
    ) AS m ON true
    ORDER BY d.subscription_id, d.cycle, d.charge_id`.execute(db);
  return rows;
}

/**
 * What dues say, in any order; nothing of one that is not there. All of a period are looked at, since the index of their charges
 * leads to the dues of everybody on a plan.
 */
export async function readDues(db: Queries, organizationId: string, dues: readonly DueName[]): Promise<DueRow[]> {
  if (dues.length === 0) return [];
  const { rows } = await sql<DueRow>`
    SELECT d.*, m.aggregation_type AS aggregation FROM ${duesNamed(organizationId, dues)}`.execute(db);
  return rows;
}

/** SQL for these dues `d` and their meters `m`. */
function duesNamed(organizationId: string, dues: readonly DueName[]): RawBuilder<unknown> {
  return sql`(
      SELECT subscription_id, cycle, array_agg(charge_id) AS charge_ids FROM unnest(
        ${dues.map(({ subscription_id }) => subscription_id)}::uuid[],
        ${dues.map(({ cycle }) => cycle)}::integer[],
        ${dues.map(({ charge_id }) => charge_id)}::uuid[]
      ) AS named (subscription_id, cycle, charge_id) GROUP BY subscription_id, cycle
    ) AS asked
    CROSS JOIN LATERAL (
      SELECT * FROM dues WHERE organization_id = ${organizationId}::uuid AND subscription_id = asked.subscription_id
        AND cycle = asked.cycle AND (charge_id = ANY (asked.charge_ids)) IS TRUE OFFSET 0
    ) AS d
    LEFT JOIN LATERAL (
      SELECT aggregation_type FROM meters WHERE organization_id = d.organization_id AND id = d.meter_id LIMIT 1
    ) AS m ON true`;
}

/** The settlement of a due by a line. */
export interface SettledDue extends DueName {
  /** The sum of all lines of the due by now. */
  billed: string;
}

/** Writes down what was settled of dues at a closing, each due once. Expects the rows of their subscriptions locked. */
export async function updateDues(
  transaction: Queries,
  organizationId: string,
  closing: number,
  settled: readonly SettledDue[],
): Promise<void> {
  if (settled.length === 0) return;
  await sql`
    UPDATE dues d SET closing = ${closing}, billed = settled.billed, rebilling = false
    FROM unnest(
      ${settled.map(({ subscription_id }) => subscription_id)}::uuid[],
      ${settled.map(({ cycle }) => cycle)}::integer[],
      ${settled.map(({ charge_id }) => charge_id)}::uuid[],
      ${settled.map(({ billed }) => billed)}::numeric[]
    ) AS settled (subscription_id, cycle, charge_id, billed)
    WHERE d.organization_id = ${organizationId}::uuid AND d.subscription_id = settled.subscription_id
      AND d.cycle = settled.cycle AND ${isOfCharge('settled')}`.execute(transaction);
}

/**
 * Lets the dues of an invoice be billed again by the next one of their subscription: what it billed counts no more. With `givenBack` only
 * those that it took something away from. Expects the row of the subscription locked, and the invoice to be void. Throws a MonthTakenOut
 * where the usage of one cannot be told: each later invoice of the subscription would wait for it.
 */
export async function rebillDues(
  transaction: Queries,
  organizationId: string,
  invoiceId: string,
  { givenBack = false } = {},
): Promise<void> {
  const which = sql`invoice_id = ${invoiceId}::uuid AND (organization_id = ${organizationId}::uuid) IS TRUE
    AND charge_id IS NOT NULL AND (NOT ${givenBack} OR amount < 0)`;
  await expectTold(transaction, organizationId, which);
  const { rows: lines } = await sql<LineOfDue>`
    SELECT id, invoice_id, subscription_id, cycle, charge_id, amount FROM invoice_lines WHERE ${which}`.execute(
    transaction,
  );
  await takeOffDues(transaction, organizationId, lines, { isBilledAgain: true });
}

/**
 * Throws a MonthTakenOut where the usage of some lines cannot be told. It reads no usage, and of the dues only those that may have some in a
 * month that was taken out, of which there is none as a rule.
 */
async function expectTold(db: Queries, organizationId: string, which: RawBuilder<unknown>): Promise<void> {
  const asked = sql`SELECT min(period_start) AS since, ${organizationId}::uuid AS organization_id FROM invoice_lines WHERE ${which}`;
  const { rows: names } = await sql<DueName & { complete_from: string }>`
    SELECT subscription_id, cycle, charge_id, complete_from
    FROM (SELECT ${sql.raw(completeFrom('asked.since', '= asked.organization_id'))} AS complete_from FROM (${asked}) AS asked OFFSET 0) AS found
    JOIN invoice_lines ON period_start < complete_from + interval '1 hour' AND ${which}`.execute(db);
  for (let from = 0; from < names.length; from += QUESTIONS_AT_ONCE) {
    const some = names.slice(from, from + QUESTIONS_AT_ONCE);
    const questions = await readQuestions(db, organizationId, some);
    const before = microsOfText(some[0]?.complete_from ?? '');
    const takenOut = await findTakenOut(runsOf(db), questions, 'rollups', before);
    for (const why of takenOut.values()) throw why;
  }
}

interface Metered {
  meter_id: string;
  aggregation: AggregationType;
  customer_external_id: string;
  period_start: string;
  period_end: string;
}

/** What is asked of those of some dues that have a meter. */
async function readQuestions(
  db: Queries,
  organizationId: string,
  dues: readonly DueName[],
): Promise<DueUsageQuestion[]> {
  const { rows } = await sql<Metered>`
    SELECT d.meter_id, m.aggregation_type AS aggregation, d.customer_external_id, d.period_start, d.period_end
    FROM ${duesNamed(organizationId, dues)} WHERE m.aggregation_type IS NOT NULL`.execute(db);
  return rows.map((due) => ({
    organizationId,
    meterId: due.meter_id,
    customerExternalId: due.customer_external_id,
    aggregation: due.aggregation,
    start: microsOfText(due.period_start),
    end: microsOfText(due.period_end),
    closing: null,
  }));
}

/** SQL for whether something of the subscription `s` is to be billed again. It is no EXISTS, of which Postgres may read all there are. */
export const isRebilling: RawBuilder<boolean> = sql`coalesce((SELECT true FROM dues r
  WHERE r.organization_id = s.organization_id AND r.subscription_id = s.id AND r.rebilling LIMIT 1), false)`;

/** Whether something of a subscription is to be billed again. */
export async function hasRebilling(db: Queries, organizationId: string, subscriptionId: string): Promise<boolean> {
  const { rows } = await sql<{ is_rebilling: boolean }>`
    SELECT ${isRebilling} AS is_rebilling
    FROM (SELECT ${organizationId}::uuid AS organization_id, ${subscriptionId}::uuid AS id) AS s`.execute(db);
  return rows[0]?.is_rebilling ?? false;
}

/**
 * Whether a due `d` is of the charge of a row that names one. Postgres takes a range for many rows, so that the index of charges alone, which
 * leads to the dues of everybody on a plan, is no way to one of them; and by the primary key it finds that one, and not all of the period.
 */
function isOfCharge(row: string) {
  const charge = sql.ref(`${row}.charge_id`);
  return sql`d.charge_id >= ${charge} AND d.charge_id <= ${charge}`;
}

/** A due that was to be billed again and comes to what was billed, as it was read. */
export interface IdleDue extends DueName {
  rebills: number;
}

/** Bills dues no more that were to be billed again, but those of which another line was taken off since they were read. */
export async function endRebilling(
  transaction: Queries,
  organizationId: string,
  dues: readonly IdleDue[],
): Promise<void> {
  await sql`
    UPDATE dues d SET rebilling = false
    FROM unnest(
      ${dues.map(({ subscription_id }) => subscription_id)}::uuid[],
      ${dues.map(({ cycle }) => cycle)}::integer[],
      ${dues.map(({ charge_id }) => charge_id)}::uuid[],
      ${dues.map(({ rebills }) => rebills)}::integer[]
    ) AS idle (subscription_id, cycle, charge_id, rebills)
    WHERE d.organization_id = ${organizationId}::uuid AND d.subscription_id = idle.subscription_id
      AND d.cycle = idle.cycle AND ${isOfCharge('idle')} AND d.rebills = idle.rebills`.execute(transaction);
}

/** A line, the due that it settled, and by how much. */
export interface LineOfDue extends DueName {
  id: string;
  invoice_id: string;
  amount: string;
}

/**
 * Takes what lines have billed, or given back, off their dues: from now on it does not count. Each line says from which of the due's
 * changes of this kind on. With `isBilledAgain` the next invoice bills the dues, whatever they come to. Expects the row of the
 * subscription locked. Lines are found by their invoices: by their ids alone Postgres may walk over all of an organization.
 */
export async function takeOffDues(
  transaction: Queries,
  organizationId: string,
  lines: readonly LineOfDue[],
  { isBilledAgain }: { isBilledAgain: boolean },
): Promise<void> {
  if (lines.length === 0) return;
  await sql`
    WITH taken AS MATERIALIZED (
      SELECT subscription_id, cycle, charge_id, sum(amount) AS amount FROM unnest(
        ${lines.map(({ subscription_id }) => subscription_id)}::uuid[],
        ${lines.map(({ cycle }) => cycle)}::integer[],
        ${lines.map(({ charge_id }) => charge_id)}::uuid[],
        ${lines.map(({ amount }) => amount)}::numeric[]
      ) AS own (subscription_id, cycle, charge_id, amount)
      GROUP BY 1, 2, 3
    ), waiting AS (
      UPDATE dues d SET billed = d.billed - taken.amount, rebills = d.rebills + 1, rebilling = d.rebilling OR ${isBilledAgain}
      FROM taken
      WHERE d.organization_id = ${organizationId}::uuid AND d.subscription_id = taken.subscription_id
        AND d.cycle = taken.cycle AND ${isOfCharge('taken')}
      RETURNING d.subscription_id, d.cycle, d.charge_id, d.rebills
    )
    UPDATE invoice_lines l SET rebilled = waiting.rebills
    FROM waiting
    WHERE l.invoice_id = ANY (${[...new Set(lines.map(({ invoice_id }) => invoice_id))]}::uuid[])
      AND (l.organization_id = ${organizationId}::uuid) IS TRUE AND (l.id = ANY (${lines.map(({ id }) => id)}::uuid[])) IS TRUE
      AND (l.subscription_id, l.cycle, l.charge_id) = (waiting.subscription_id, waiting.cycle, waiting.charge_id)`.execute(
    transaction,
  );
}
