import { parseArgs } from 'node:util';
import { isUuid } from '@weir/shared/ids';

/** What was asked for makes no sense; the message is for the person who asked. */
export class OptionError extends Error {}

export interface ReconcileOptions {
  organizationId: string | undefined;
  /** `2026-11`. */
  month: string | undefined;
  /** Months of receipt up to this one are not compared: their events were taken out of the database. */
  archivedThrough: string | undefined;
  repair: boolean;
  json: boolean;
}

export const usage = `Proves that no event got lost and that the rollups are what the events give.

npm run reconcile -- [options]

  --organization ID          only this organization
  --month 2026-11            only this month (UTC)
  --archived-through 2026-01 the events received up to the end of this month were archived: do not look for them
  --repair                   rebuild the rollups that differ, and write down counts that Redis lost
  --json                     print the result as JSON

Settings: DATABASE_URL and REDIS_URL; without them, what npm start brought up.
Exit status: 0 all is equal (after --repair: is now), 1 something differs, 2 it could not be found out.`;

/** Undefined when help was asked for. Throws an OptionError that names the option at fault. */
export function parseOptions(argv: string[]): ReconcileOptions | undefined {
  const given = readArguments(argv);
  if (given.help) return undefined;
  const { organization: organizationId, month, 'archived-through': archivedThrough, repair, json } = given;
  if (organizationId !== undefined && !isUuid(organizationId)) {
    throw new OptionError(`--organization ${organizationId} is no id of an organization`);
  }
  requireMonth('--month', month);
  requireMonth('--archived-through', archivedThrough);
  if (repair && month !== undefined) {
    throw new OptionError('--repair looks at whole organizations: leave out --month');
  }
  return { organizationId: organizationId?.toLowerCase(), month, archivedThrough, repair, json };
}

function readArguments(argv: string[]) {
  const string = { type: 'string' } as const;
  const boolean = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({
      args: argv,
      options: {
        organization: string,
        month: string,
        'archived-through': string,
        repair: boolean,
        json: boolean,
        help: { ...boolean, short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
}

function requireMonth(option: string, month: string | undefined): void {
  if (month !== undefined && !/^2\d{3}-(0[1-9]|1[0-2])$/.test(month)) {
    throw new OptionError(`${option} ${month} is no month: write it as 2026-11`);
  }
}
