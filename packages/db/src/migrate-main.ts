import { migrate } from './migrate.ts';
import { databaseUrl, loadSettings, SettingsError } from '@weir/shared/settings';
import { z } from 'zod';

try {
  const settings = loadSettings(z.object({ DATABASE_URL: databaseUrl }), process.env);
  const { applied } = await migrate(settings.DATABASE_URL);
  console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
} catch (error) {
  if (error instanceof SettingsError) console.error(error.message);
  else console.error(error);
  process.exitCode = 1;
}
