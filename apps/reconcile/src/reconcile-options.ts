import { isUuid } from '@weir/shared/ids';
import { AHEAD_DAYS_MAX } from '@weir/shared/limits';
import { utcMonthOf } from '@weir/shared/months';
import { DAY_MS } from '@weir/shared/time-zone';
import { InvalidArgumentError, type Command } from 'commander';

export interface ReconcileOptions {
  organizationId: string | undefined;
  /** `2026-11`. */
  month: string | undefined;
  /** Months of receipt up to this one are not compared: their events were taken out of the database. */
  archivedThrough: string | undefined;
  repair: boolean;
  /** Compute every finalized invoice again. */
  invoices: boolean;
  json: boolean;
}

interface Values {
  organization?: string;
  month?: string;
  archivedThrough?: string;
  repair?: true;
  invoices?: true;
  json?: true;
}

const HELP = `
Settings: DATABASE_URL, REDIS_URL and QUEUE_PREFIX, as the processes have them; without them, what npm start brought up.
Exit status: 0 all is equal (after --repair: is now), 1 something differs, 2 it could not be found out.`;

/**
 * Ends the process after the help, and with a message that names the option at fault: also where nothing would be compared, and all would
 * be said to be equal.
 */
export function parseReconcileOptions(
  args: readonly string[],
  command: Command,
  now: Date = new Date(),
): ReconcileOptions {
  const { organization, month, archivedThrough, repair, invoices, json } = command
    .name('npm run reconcile --')
    .description(
      'Proves that no event got lost, that the rollups are what the events give, and that each is billed once.',
    )
    .option('--organization <id>', 'only this organization', organizationId)
    .option('--month <month>', 'only this month (UTC), such as 2026-11', monthOf)
    .option('--archived-through <month>', 'events received up to its end were archived: do not look for them', monthOf)
    .option('--repair', 'rebuild the rollups that differ, and write down counts that Redis lost')
    .option('--invoices', 'compute every finalized invoice again')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .parse(args, { from: 'user' })
    .opts<Values>();
  if (repair === true && month !== undefined) {
    command.error('error: --repair looks at whole organizations: leave out --month');
  }
  const present = utcMonthOf(now.getTime());
  if (archivedThrough !== undefined && archivedThrough >= present) {
    command.error(`error: --archived-through ${archivedThrough}: that month has not ended yet`);
  }
  if (month !== undefined && month > utcMonthOf(now.getTime() + AHEAD_DAYS_MAX * DAY_MS)) {
    command.error(`error: --month ${month}: no event may be so far ahead, and there is nothing to compare`);
  }
  if (month !== undefined && archivedThrough !== undefined && month <= archivedThrough) {
    command.error(
      `error: --archived-through ${archivedThrough} leaves out --month ${month}: nothing would be compared`,
    );
  }
  return {
    organizationId: organization,
    month,
    archivedThrough,
    repair: repair === true,
    invoices: invoices === true,
    json: json === true,
  };
}

function organizationId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It is no id of an organization.');
  return text.toLowerCase();
}

function monthOf(text: string): string {
  if (!/^2\d{3}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('A month is written as 2026-11.');
  return text;
}
