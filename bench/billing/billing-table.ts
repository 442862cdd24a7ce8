import { markdownTable } from '../markdown-table.ts';
import { oneDigit, twoDigits, whole } from '../spread.ts';
import type { BillingResult } from './measure-billing.ts';
import type { MidnightKind } from './run-midnight.ts';

const TITLES: Record<MidnightKind, string> = {
  alone: 'alone',
  tracking: 'events tracked meanwhile',
  kills: 'worker killed every 10 s',
};

/** A row for each midnight. */
export function billingTable({ midnights }: BillingResult): string {
  return markdownTable(
    [
      'one midnight',
      'all drafts, s',
      'all finalized, s',
      'worker early, MB',
      'at most, MB',
      'tracking ÷ before',
      'kills',
    ],
    midnights.map(({ kind, draftsSeconds, finalizedSeconds, workerBytes, trackedShare, kills }) => [
      TITLES[kind],
      oneDigit(draftsSeconds),
      oneDigit(finalizedSeconds),
      workerBytes === null ? '–' : whole(workerBytes.early / 1e6),
      workerBytes === null ? '–' : whole(workerBytes.most / 1e6),
      trackedShare === null ? '–' : twoDigits(trackedShare),
      whole(kills),
    ]),
  );
}
