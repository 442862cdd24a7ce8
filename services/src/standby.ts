import { join } from 'node:path';
import { copyBase } from './base-copy.ts';
import { findFreePort, writePrivateFile } from './connection.ts';
import type { Home } from './home.ts';
import { settlePostgresFolder } from './postgres-folder.ts';

/** An embedded Postgres that runs, by its home and the address of a database. */
export interface Primary {
  home: string;
  databaseUrl: string;
}

/** The name that a standby goes by at its primary, for `synchronous_standby_names`. */
export const STANDBY = 'standby';

/** Puts a standby of a Postgres into a home, in place of what was there. It follows once it is started; no commit waits for it by that. */
export async function makeStandby({ path, log }: Home, primary: Primary): Promise<void> {
  const { hostname, port, username, password } = new URL(primary.databaseUrl);
  const { folder: from } = await settlePostgresFolder(primary.home, log);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} application_name=${STANDBY}`;
  const settings = { primary_conninfo: conninfo, synchronous_standby_names: '' };
  await copyBase({ databaseUrl: primary.databaseUrl, from, to: path, settings, log });
  // What is copied opens with the password of the primary.
  await writePrivateFile(join(path, 'postgres.json'), `${JSON.stringify({ port: await findFreePort(), password })}\n`);
}
