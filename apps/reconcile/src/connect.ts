// What the commands of this folder share: a command line, where Postgres and Redis are, and what is said when one is away.

import { databaseUrl } from '@weir/db/database-url';
import { explainUnreachable } from '@weir/db/unreachable';
import { RedisUnreachable, isRedisAway } from '@weir/queue/redis-away';
import { withServices } from '@weir/shared/services-file';
import { SettingsError, loadSettings, queuePrefix, redisUrl } from '@weir/shared/settings';
import { Command } from 'commander';
import { z } from 'zod';

const settingsSchema = z.object({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  QUEUE_PREFIX: queuePrefix,
});

/** A command whose options can be told; arguments that make no sense end the process with status 2. */
export function newCommand(): Command {
  return new Command()
    .configureOutput({ outputError: (text, write) => write(text.replace(/\n$/, ' (--help shows the options)\n')) })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}

/** The settings of a command; without them, the services that npm start brought up. */
export function loadCommandSettings(env: NodeJS.ProcessEnv): z.output<typeof settingsSchema> {
  return loadSettings(settingsSchema, withServices(env));
}

/** The line for the person who ran the command; undefined for a defect, which is shown as it is. */
export function explainFailure(error: unknown): string | undefined {
  if (error instanceof SettingsError) return error.message;
  if (isRedisAway(error)) {
    const why = error instanceof RedisUnreachable ? error.cause : error;
    return `Redis cannot be reached (${messageOf(why)}). Check REDIS_URL, or start Weir with npm start.`;
  }
  const why = explainUnreachable(error);
  return why === undefined ? undefined : `Postgres cannot be read: ${why}.`;
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
