// Postgres servers of a test's own, of the embedded programs.

import { findPostgresPrograms } from '@weir/services/postgres-programs';
import { settlePostgresFolder } from '@weir/services/postgres-folder';
import { run } from '@weir/services/run';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { until } from './harness.ts';
import { PROGRAMS } from './programs-folder.ts';

/** Where servers may have their data. */
export interface Servers {
  folder: string;
  /** Of the superuser. */
  password: string;
  initialize(data: string): Promise<void>;
  /** Gives files to the user whom the servers run as. */
  own(path: string): Promise<void>;
  /** Starts a server, and waits until it answers. */
  start(data: string, port: number): Promise<ChildProcess>;
  /** Of the database `postgres`, for the superuser. */
  urlOf(port: number): string;
  /** To be called when all of them are killed. */
  remove(): Promise<void>;
}

export async function settleServers(superuser: string): Promise<Servers> {
  const home = await mkdtemp(join(tmpdir(), 'weir-servers-'));
  await chmod(home, 0o711);
  const log = () => {};
  const { folder, user } = await settlePostgresFolder(home, log);
  const bin = await findPostgresPrograms({ path: home, programs: PROGRAMS, log, signal: undefined }, user);
  const password = 'of-the-servers';

  const urlOf = (port: number) => `postgres://${superuser}:${password}@127.0.0.1:${port}/postgres`;
  const own = async (path: string): Promise<void> => {
    if (user === undefined) return;
    const done = await run('chown', ['-R', `${user.uid}:${user.gid}`, path], { seconds: 10 });
    if (!done.ok) throw new Error(done.output);
  };
  return {
    folder,
    password,
    own,
    urlOf,
    async initialize(data) {
      const passwordFile = join(folder, 'password');
      await writeFile(passwordFile, password);
      await own(passwordFile);
      const who = [`--username=${superuser}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
      const made = await run(
        join(bin, 'initdb'),
        [`--pgdata=${data}`, '--no-sync', ...who, '--encoding=UTF8', '--locale=C'],
        { seconds: 60, cwd: folder, user },
      );
      if (!made.ok) throw new Error(`The data of Postgres could not be made: ${made.output}`);
    },
    async start(data, port) {
      const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', shared_buffers: '32MB' };
      const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
        cwd: data,
        stdio: 'ignore',
        ...user,
      });
      await until(async () => (await ask(urlOf(port), 'SELECT 1').catch(() => [])).length === 1, 'Postgres answers');
      return child;
    },
    async remove() {
      // What is left of them may write for a moment.
      for (const path of [folder, home]) await rm(path, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Its main process alone: the others notice and end. */
export async function killServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Runs one statement on a connection that may be cut off meanwhile. */
export async function ask(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(statement)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
