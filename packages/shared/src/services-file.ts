import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from './errors.ts';

/** The file that `npm start` leaves for tools on the same machine: the services that it brought up, and where its API is. */
export interface ServicesFile {
  database_url?: string;
  redis_url?: string;
  base_url?: string;
}

/** Reads services.json in WEIR_HOME; nothing is in it where there is none. Throws when it cannot be read. */
export function loadServicesFile(env: Record<string, string | undefined>): ServicesFile {
  try {
    return JSON.parse(readFileSync(join(env['WEIR_HOME'] || '.weir', 'services.json'), 'utf8')) as ServicesFile;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return {};
    throw error;
  }
}
