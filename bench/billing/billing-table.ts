import { markdownTable } from '../markdown-table.ts';
import { oneDigit, twoDigits, whole } from '../spread.ts';
import { trackedShare, type BillingResult } from './measure-billing.ts';
import type { MidnightKind } from './run-midnight.ts';

const TITLES: Record<MidnightKind, string> = {
  alone: 'alone',
  tracking: 'events tracked meanwhile',
  kills: 'worker killed every 10 s',
};

/** A row for each midnight. */
export function billingTable(billing: BillingResult): string {
  return markdownTable(
    [
      'one midnight',
      'all drafts, s',
      'all finalized, s',
      'worker early, MB',
      'at most, MB',
      'tracking ÷ without',
      'kills',
    ],
    billing.midnights.map((midnight) => {
      const { kind, draftsSeconds, finalizedSeconds, workerBytes, kills } = midnight;
      const share = trackedShare(midnight, billing);
      return [
        TITLES[kind],
        oneDigit(draftsSeconds),
        oneDigit(finalizedSeconds),
        workerBytes === null ? '–' : whole(workerBytes.early / 1e6),
        workerBytes === null ? '–' : whole(workerBytes.most / 1e6),
        share === null ? '–' : twoDigits(share),
        whole(kills),
      ];
    }),
  );
}
