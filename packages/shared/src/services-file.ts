import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from './errors.ts';
import { type Env, isGiven, readGiven } from './given-settings.ts';

/** The settings that say which Weir is meant. */
const SERVICES = ['DATABASE_URL', 'REDIS_URL'] as const;

/** The file that `npm start` leaves for tools on the same machine: the services that it brought up, and where its API is. */
export interface ServicesFile {
  database_url?: string;
  redis_url?: string;
  base_url?: string;
  /** Where those are that it was given, without what opens them. */
  given?: Partial<Record<(typeof SERVICES)[number], string>>;
}

/** An address without user, password and options. */
export function placeOf(address: string): string {
  return address.replace(/^.*?:\/\/([^/?#]*@)?/, '').replace(/[?#].*$/, '');
}

/**
 * The environment of a command, with what `npm start` left in services.json of WEIR_HOME for what is not given: nothing of it where what
 * is given leads to another Postgres or Redis than `npm start` ran with, as one half would be of another Weir then. Throws when the
 * file cannot be read.
 */
export function withServices(env: Env): Env {
  const file = readServicesFile(env);
  if (!isOfSameWeir(file, env)) return env;
  const left = { DATABASE_URL: file.database_url, REDIS_URL: file.redis_url, PUBLIC_URL: file.base_url };
  return { ...env, ...Object.fromEntries(Object.entries(left).filter(([name]) => !isGiven(env, name))) };
}

function isOfSameWeir({ database_url = '', redis_url = '', given }: ServicesFile, env: Env): boolean {
  const places = { DATABASE_URL: placeOf(database_url), REDIS_URL: placeOf(redis_url), ...given };
  const { values } = readGiven(env, SERVICES);
  return SERVICES.filter((name) => isGiven(env, name)).every((name) => placeOf(values[name] ?? '') === places[name]);
}

function readServicesFile(env: Env): ServicesFile {
  try {
    return JSON.parse(readFileSync(join(env['WEIR_HOME'] || '.weir', 'services.json'), 'utf8')) as ServicesFile;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return {};
    throw error;
  }
}
