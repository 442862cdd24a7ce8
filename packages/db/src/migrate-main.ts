import { migrate } from './migrate.ts';
import { explainUnreachable } from './unreachable.ts';
import { databaseUrl, loadSettings, SettingsError } from '@weir/shared/settings';
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
    const { applied, isMonthLeft } = await migrate(settings.DATABASE_URL, undefined, (line) => console.log(line));
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
    if (isMonthLeft === true)
      console.log(
        'A month to come has no partition yet, as something holds a lock, such as a backup: a worker makes it.',
      );
  } catch (error) {
    const why = explainUnreachable(error);
    if (error instanceof SettingsError) console.error(error.message);
    else console.error(why === undefined ? error : `Cannot migrate: ${why}.`);
    process.exitCode = 1;
  }
}

exitOnSignal();
const given = process.argv.slice(2);
if (given.length > 0) answerArguments(given);
else await migrateNow();
