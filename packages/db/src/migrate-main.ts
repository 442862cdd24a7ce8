import { databaseUrl } from './database-url.ts';
import { migrateOnceUp, MigrationFailed } from './migrate.ts';
import { explainUnreachable } from './unreachable.ts';
import { loadSettings, SettingsError } from '@weir/shared/settings';
import { exitOnSignal } from '@weir/shared/stop-signals';
import { z } from 'zod';

const USAGE = 'migrate takes no arguments: it reads DATABASE_URL (docs/operations.md)';

/** Nothing takes a migration back, so what asks for something else than to migrate must not migrate. */
function answerArguments(given: readonly string[]): void {
  if (given.includes('--help')) {
    console.log(USAGE);
    return;
  }
  console.error(USAGE);
  process.exitCode = 2;
}

async function migrateNow(): Promise<void> {
  try {
    const settings = loadSettings(z.object({ DATABASE_URL: databaseUrl }), process.env);
    const { applied, isMonthLeft } = await migrateOnceUp(settings.DATABASE_URL, (line) => console.log(line));
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
    if (isMonthLeft === true)
      console.log(
        'A month to come has no partition yet, as something holds a lock, such as a backup: a worker makes it.',
      );
  } catch (error) {
    console.error(explain(error) ?? error);
    process.exitCode = 1;
  }
}

/** The line for the person who ran the command; undefined for a defect, which is shown as it is. */
function explain(error: unknown): string | undefined {
  if (error instanceof SettingsError) return error.message;
  const [begins, reason] =
    error instanceof MigrationFailed ? [`${error.message} The reason:`, error.cause] : ['Cannot migrate:', error];
  const why = explainUnreachable(reason);
  return why === undefined ? undefined : `${begins} ${why}.`;
}

exitOnSignal();
const given = process.argv.slice(2);
if (given.length > 0) answerArguments(given);
else await migrateNow();
