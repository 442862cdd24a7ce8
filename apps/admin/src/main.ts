// The command of whoever runs this Weir, for what its people cannot do by themselves: when the only admin has lost the password,
// say. The only file that reads the environment and the arguments.
// Exit status: 0 done, 1 there is no such account, or it may not be done, 2 it could not be done.

import { openDatabase } from '@weir/db/database';
import { requireSchema } from '@weir/db/installation';
import { explainUnreachable } from '@weir/db/unreachable';
import { SettingsError } from '@weir/shared/settings';
import { problemOfDate } from '@weir/shared/date-or-instant';
import { LIMITS } from '@weir/shared/limits';
import { exitOnSignal } from '@weir/shared/stop-signals';
import { text as textOf } from '@weir/shared/text';
import { Command, InvalidArgumentError } from 'commander';
import { describeAccounts, makeAdmin, makeResetLink, NoSuchAccount } from './accounts.ts';
import { loadAdminSettings, publicUrlOf } from './admin-settings.ts';
import { describeMoves, eraseCustomer, moveUsage, NotMoved } from './moves.ts';

exitOnSignal();
const command = new Command()
  .name('npm run admin --')
  .description('Helps people into their accounts, whichever organization they belong to, and erases their customers.')
  .addHelpText('after', '\nSettings: DATABASE_URL, and PUBLIC_URL for links; without them, what npm start brought up.')
  .configureOutput({ outputError: (text, write) => write(text.replace(/\n$/, ' (--help shows the commands)\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
command
  .command('reset-password <email>')
  .description('print a link with which the account gets a new password; it works once, for 24 hours')
  .action((email: string) => run(async (database, settings) => makeResetLink(database, email, publicUrlOf(settings))));
command
  .command('list-users')
  .description('list everybody who can sign in')
  .action(() => run(describeAccounts));
command
  .command('make-admin <email>')
  .description('give the account the role admin')
  .action((email: string) => run((database) => makeAdmin(database, email)));
command
  .command('erase-customer <email>')
  .argument('<external-id>', '', externalId)
  .description(
    'erase a customer of the organization that the account belongs to: nothing names it any more but its invoices',
  )
  .option('--copies-issued-before <date>', 'of invoices issued before, what names the customer goes as well', date)
  .action((email: string, customer: string, { copiesIssuedBefore }: { copiesIssuedBefore?: string }) =>
    run((database) => eraseCustomer(database, email, customer, copiesIssuedBefore ?? null)),
  );
command
  .command('move-usage <email>')
  .argument('<from-external-id>', '', externalId)
  .argument('<to-external-id>', '', externalId)
  .description('move all usage of one external id of that organization to another')
  .action((email: string, from: string, to: string) => run((database) => moveUsage(database, email, from, to)));
command
  .command('list-erasures <email>')
  .description('list what was erased and moved of that organization, and how far it is')
  .action((email: string) => run((database) => describeMoves(database, email)));

await command.parseAsync();

function date(text: string): string {
  const problem = problemOfDate(text);
  if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`);
  return text;
}

/** As the API takes it: no request names a customer with another one, so its usage would be billed to nobody. */
function externalId(text: string): string {
  const { error } = textOf(1, LIMITS.key).safeParse(text);
  if (error !== undefined) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`);
  return text;
}

/** Does something with the database and prints what it returns. */
async function run(
  action: (
    database: ReturnType<typeof openDatabase>,
    settings: ReturnType<typeof loadAdminSettings>,
  ) => Promise<string>,
): Promise<void> {
  try {
    const settings = loadAdminSettings(process.env);
    const database = openDatabase(settings.DATABASE_URL, {
      connectionsMax: 1,
      statementTimeoutMs: 30_000,
      onConnectionError: () => {},
    });
    try {
      await requireSchema(database);
      console.log(await action(database, settings));
    } finally {
      await database.close();
    }
  } catch (error) {
    process.exitCode = error instanceof NoSuchAccount || error instanceof NotMoved ? 1 : 2;
    const line = explain(error);
    console.error(line === undefined ? error : `admin: ${line}`);
  }
}

/** The line for the person who ran the command; undefined for a defect, which is shown as it is. */
function explain(error: unknown): string | undefined {
  if (error instanceof SettingsError || error instanceof NoSuchAccount || error instanceof NotMoved)
    return error.message;
  const why = explainUnreachable(error);
  return why === undefined ? undefined : `Postgres cannot be read: ${why}.`;
}
