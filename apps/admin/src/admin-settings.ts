import { databaseUrl } from '@weir/db/database-url';
import { withServices } from '@weir/shared/services-file';
import { SettingsError, loadSettings, publicUrl } from '@weir/shared/settings';
import { z } from 'zod';

const settingsSchema = z.object({ DATABASE_URL: databaseUrl, PUBLIC_URL: publicUrl.optional() });

export type AdminSettings = z.output<typeof settingsSchema>;

/** The settings of the command; without them, what npm start brought up. Throws a SettingsError. */
export function loadAdminSettings(env: Record<string, string | undefined>): AdminSettings {
  return loadSettings(settingsSchema, withServices(env));
}

/** Where links lead to. Throws a SettingsError where nobody has said so. */
export function publicUrlOf({ PUBLIC_URL }: AdminSettings): string {
  if (PUBLIC_URL === undefined) {
    throw new SettingsError('PUBLIC_URL is not set: it is the address that people use, to which the link leads.');
  }
  return PUBLIC_URL;
}
