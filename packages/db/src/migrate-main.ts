import { errorCodeOf } from '@weir/shared/errors';
import { isUnavailable } from './database.ts';
import { migrate } from './migrate.ts';
import { databaseUrl, loadSettings, SettingsError } from '@weir/shared/settings';
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
    const { applied } = await migrate(settings.DATABASE_URL);
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
  } catch (error) {
    if (error instanceof SettingsError) console.error(error.message);
    // Away, unknown database, wrong password: what Postgres or the network says is all there is to know.
    else if (isUnavailable(error) || errorCodeOf(error)?.startsWith('28') === true || errorCodeOf(error) === '3D000') {
      console.error(`Cannot migrate: ${(error as Error).message}. Check DATABASE_URL, and that Postgres runs.`);
    } else console.error(error);
    process.exitCode = 1;
  }
}

const given = process.argv.slice(2);
if (given.length > 0) answerArguments(given);
else await migrateNow();
