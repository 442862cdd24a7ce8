// A copy of a Postgres that runs, from which a standby starts: what pg_basebackup does, which does not come with the embedded programs.

import { chown, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { settlePostgresFolder } from './postgres-folder.ts';
import { isCode } from './processes.ts';

/** Not copied: what is of the running process, and the log, which the standby gets by streaming. */
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts', 'postgresql.auto.conf', 'standby.signal']);
const EMPTIED = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);

export interface BaseCopy {
  databaseUrl: string;
  /** The folder of Postgres that is copied from, and the home that is copied to. */
  from: string;
  to: string;
  /** Of the standby. */
  settings: Record<string, string>;
  log: (line: string) => void;
}

/** Puts a standby into a home, in place of what was there. */
export async function copyBase({ databaseUrl, from, to, settings, log }: BaseCopy): Promise<void> {
  const { folder, user } = await settlePostgresFolder(to, log);
  const data = join(folder, 'data');
  await rm(data, { recursive: true, force: true });
  const own = async (path: string) => {
    if (user !== undefined) await chown(path, user.uid, user.gid);
  };
  const write = async (name: string, text: string) => {
    await writeFile(join(data, name), text, { mode: 0o600 });
    await own(join(data, name));
  };
  const client = new pg.Client({ connectionString: databaseUrl });
  // A connection that breaks between two messages is told here; the query that was under way rejects as well.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', fast => true)");
    await copyTree(join(from, 'data'), data, own);
    const { rows } = await client.query<{ labelfile: string }>(
      'SELECT * FROM pg_backup_stop(wait_for_archive => false)',
    );
    await write('backup_label', rows[0]?.labelfile ?? '');
  } finally {
    await client.end().catch(() => {});
  }
  await write('postgresql.auto.conf', settingsText(settings));
  await write('standby.signal', '');
}

/** As in postgresql.auto.conf. */
export function settingsText(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
    .join('');
}

/** Files come and go meanwhile: what a checkpoint or a vacuum has removed by now is in the log. */
async function copyTree(from: string, to: string, own: (path: string) => Promise<void>): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  await own(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory() && EMPTIED.has(entry.name)) {
      for (const folder of entry.name === 'pg_wal' ? [target, join(target, 'archive_status')] : [target]) {
        await mkdir(folder, { mode: 0o700 });
        await own(folder);
      }
    } else if (entry.isDirectory()) await copyTree(source, target, own);
    else if (entry.isFile() && !LEFT_OUT.has(entry.name)) {
      try {
        await copyFile(source, target);
        await own(target);
      } catch (error) {
        if (!isCode(error, 'ENOENT')) throw error;
      }
    }
  }
}
