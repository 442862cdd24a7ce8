// The report, for a person and for a program.

import { FATES } from '@weir/db/accounted';
import { billingJson, describeBilling } from './billing-report.ts';
import type { EventBalance } from './events.ts';
import type { ReconcileOptions } from './reconcile-options.ts';
import type { RollupBalance, RollupBalances } from './rollups.ts';
import type { Reconciliation } from './reconcile.ts';
import { number, plural } from './words.ts';

/** The result as text: a line for each month, and one for each difference, with what it means and what to do. */
export function describe(found: Reconciliation, options: ReconcileOptions): string {
  const verdict = found.isEqual
    ? options.repair && (found.isCorrected || found.rollups.differing.length > 0)
      ? 'Repaired: all is equal now.'
      : 'All is equal.'
    : 'NOT EQUAL.';
  const billing = found.billing === undefined ? [] : ['', ...describeBilling(found.billing, options)];
  return [
    ...describeEvents(found, options),
    '',
    ...describeRollups(found.rollups, options),
    ...billing,
    '',
    verdict,
  ].join('\n');
}

function describeEvents({ events, isCorrected }: Reconciliation, { archivedThrough }: ReconcileOptions): string[] {
  const lines = ['Events, by month of receipt: accepted = recorded + rejected + duplicate + queued'];
  if (archivedThrough !== undefined) lines.push(`  (received up to ${archivedThrough}: archived, not compared)`);
  for (const month of [...new Set(events.map(({ month }) => month))].toSorted()) {
    const rows = events.filter((row) => row.month === month);
    const total = (of: (row: EventBalance) => number) => number(rows.reduce((sum, row) => sum + of(row), 0));
    const { recorded, rejected, duplicate, queued } = Object.fromEntries(
      FATES.map((fate) => [fate, total((row) => row.fates[fate])]),
    );
    const differing = rows.filter(({ difference }) => difference !== 0).length;
    const sign = differing === 0 ? '=' : '≠';
    lines.push(
      `  ${month}  ${acceptedOf(rows)} ${sign} ${recorded} + ${rejected} + ${duplicate} + ${queued}` +
        `  (${plural(rows.length, 'organization')}, ${differing === 0 ? 'equal' : `${differing} of them not equal`})`,
    );
  }
  if (events.length === 0) lines.push('  none');
  for (const row of events) if (row.difference !== 0) lines.push(`  ${describeDifference(row, isCorrected)}`);
  return lines;
}

function acceptedOf(rows: EventBalance[]): string {
  const least = rows.reduce((sum, row) => sum + row.accepted, 0);
  const most = rows.reduce((sum, row) => sum + row.acceptedAtMost, 0);
  return least === most ? number(least) : `${number(least)} to ${number(most)} (events came in meanwhile)`;
}

function describeDifference({ organizationId, month, difference }: EventBalance, isCorrected: boolean): string {
  const where = `organization ${organizationId}, ${month}:`;
  if (difference > 0) {
    return (
      `${where} ${plural(difference, 'event')} MISSING. The door accepted more than Postgres and the queue have, as far as Redis knows. ` +
      'Restore them from a backup, or, where Postgres was restored, have them sent again and write a correction; nothing of this organization is rebuilt until then. See docs/operations.md.'
    );
  }
  const uncounted = `${where} ${plural(-difference, 'event')} more than the door has counted. None is missing: the count was lost with the memory of Redis.`;
  return isCorrected
    ? `${uncounted} A correction was written to accepted_corrections.`
    : `${uncounted} --repair writes a correction.`;
}

function describeRollups({ compared, differing }: RollupBalances, { repair }: ReconcileOptions): string[] {
  const lines = ["Rollups, by month of the events' own time: rollups = events"];
  const sign = differing.length === 0 ? 'all equal' : plural(differing.length, 'difference');
  lines.push(`  ${plural(compared, 'meter')} compared, once for each month: ${sign}`);
  for (const row of differing) {
    lines.push(
      `  organization ${row.organizationId}, ${row.month}, meter ${row.meterId}: ${row.table}: ${describeRows(row)}. ${actionOn(row, repair)}`,
    );
  }
  return lines;
}

function actionOn({ isRebuilt, mayBeAllThereIs, wasLocked }: RollupBalance, repair: boolean): string {
  if (isRebuilt) return 'Rebuilt.';
  if (mayBeAllThereIs) return 'Left alone: it may be all that is left of events that are gone.';
  if (wasLocked)
    return 'Left alone: something holds a lock of its table, such as a vacuum. Run it again once that has ended.';
  return repair ? 'Left alone: events are missing.' : '--repair rebuilds them.';
}

function describeRows({ missing, extra, wrong, off }: RollupBalance): string {
  const rows = [
    ...(missing > 0 ? [`${plural(missing, 'row')} missing`] : []),
    ...(extra > 0 ? [`${plural(extra, 'row')} too many`] : []),
    ...Object.entries(wrong).map(([column, count]) => `${column} wrong in ${plural(count, 'row')}`),
  ];
  const sums = Object.entries(off).filter(([, amount]) => amount !== '0');
  return [
    ...rows,
    ...sums.map(([column, amount]) =>
      amount.startsWith('-') ? `${column} ${amount.slice(1)} too low in all` : `${column} ${amount} too high in all`,
    ),
  ].join(', ');
}

/** The result as JSON, with every organization and month. */
export function toJson({ isEqual, isCorrected, events, rollups, billing }: Reconciliation): string {
  return JSON.stringify(
    {
      equal: isEqual,
      events: events.map(({ organizationId, month, accepted, acceptedAtMost, fates, difference }) => ({
        organization_id: organizationId,
        month,
        accepted,
        accepted_at_most: acceptedAtMost,
        ...fates,
        difference,
        corrected: isCorrected && difference < 0,
      })),
      rollups: {
        compared: rollups.compared,
        differing: rollups.differing.map(
          ({ organizationId, meterId, isRebuilt, mayBeAllThereIs, wasLocked, ...difference }) => ({
            organization_id: organizationId,
            meter_id: meterId,
            ...difference,
            rebuilt: isRebuilt,
            may_be_all_there_is: mayBeAllThereIs,
            was_locked: wasLocked,
          }),
        ),
      },
      ...(billing !== undefined && { billing: billingJson(billing) }),
    },
    null,
    2,
  );
}
