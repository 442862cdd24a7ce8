// A real Postgres and its synchronous standby, of the embedded programs. The standby is a copy of the data folder from before its first
// start, and reads the log of the primary through a proxy, which holds it back.

import { findPostgresPrograms } from '@weir/services/postgres-programs';
import { settlePostgresFolder } from '@weir/services/postgres-folder';
import { run, type User } from '@weir/services/run';
import { migrate } from '@weir/db/migrate';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Edge } from '../../chaos/environment/edge.ts';
import { findFreePort } from '@weir/services/connection';
import { until } from './harness.ts';
import { queryOnce } from './setup/query.ts';

const PASSWORD = 'of-the-pair';

const WAITING = `SELECT pid FROM pg_stat_activity WHERE application_name = 'weir' AND wait_event = 'SyncRep'`;

export interface PostgresPair {
  /** The address of whichever is the primary, as Patroni or a cloud has one. Its database is migrated. */
  url: string;
  primaryUrl: string;
  standbyUrl: string;
  /** What the standby reads from the primary comes through it. */
  replication: Edge;
  /** The process ids of the sessions of Weir that wait for the standby. */
  waiting(): Promise<number[]>;
  /** Ends the sessions that wait for the standby: what they wrote is there on the primary alone. */
  endWaiting(): Promise<void>;
  /** Ends the primary as a crash does, for good. */
  killPrimary(): Promise<void>;
  /** Has the standby take over, and the address lead to it. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the pair. It takes some two seconds. */
export async function openPostgresPair(): Promise<PostgresPair> {
  const home = await mkdtemp(join(tmpdir(), 'weir-pair-'));
  await chmod(home, 0o711);
  const programs = process.env['WEIR_HOME'] || fileURLToPath(new URL('../../.weir', import.meta.url));
  const log = () => {};
  const { folder, user } = await settlePostgresFolder(home, log);
  const bin = await findPostgresPrograms({ path: home, programs, log, signal: undefined }, user);
  const [primaryData, standbyData] = [join(folder, 'primary'), join(folder, 'standby')];
  const [primaryPort, standbyPort] = [await findFreePort(), await findFreePort()];
  const replication = new Edge(await findFreePort(), primaryPort);
  const front = new Edge(await findFreePort(), primaryPort);
  await initialize(bin, folder, primaryData, user);
  await cp(primaryData, standbyData, { recursive: true, preserveTimestamps: true });
  const conninfo = `host=127.0.0.1 port=${replication.port} user=weir password=${PASSWORD} application_name=second`;
  await appendFile(join(standbyData, 'postgresql.conf'), `\nprimary_conninfo = '${conninfo}'\n`);
  await writeFile(join(standbyData, 'standby.signal'), '');
  await appendFile(join(primaryData, 'postgresql.conf'), `\nsynchronous_standby_names = 'second'\n`);
  await own(standbyData, user);
  await Promise.all([replication.open(), front.open()]);
  const [primary, standby] = await Promise.all([
    start(bin, primaryData, primaryPort, user),
    start(bin, standbyData, standbyPort, user),
  ]);
  const [url, primaryUrl, standbyUrl] = [front.port, primaryPort, standbyPort].map(urlOf) as [string, string, string];
  await until(async () => {
    const rows = await ask(primaryUrl, 'SELECT sync_state FROM pg_stat_replication').catch(() => []);
    return rows[0]?.['sync_state'] === 'sync';
  }, 'the standby is synchronous');
  await migrate(url);
  const waiting = async () => (await ask(primaryUrl, WAITING)).map(({ pid }) => Number(pid));
  return {
    url,
    primaryUrl,
    standbyUrl,
    replication,
    waiting,
    async endWaiting() {
      await until(async () => (await waiting()).length > 0, 'a session waits for the standby');
      await ask(primaryUrl, `SELECT pg_terminate_backend(pid) FROM (${WAITING}) AS waiting`);
    },
    async killPrimary() {
      await kill(primary);
      front.reset();
    },
    async promote() {
      await queryOnce(standbyUrl, 'SELECT pg_promote()');
      front.divert(standbyPort);
      front.reset();
    },
    async close() {
      await Promise.all([kill(primary), kill(standby)]);
      await Promise.all([replication.close(), front.close()]);
      // What is left of them may write for a moment.
      for (const path of [folder, home]) await rm(path, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function initialize(bin: string, folder: string, data: string, user: User | undefined): Promise<void> {
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, PASSWORD);
  await own(passwordFile, user);
  const args = ['--username=weir', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'];
  const made = await run(join(bin, 'initdb'), [`--pgdata=${data}`, '--no-sync', ...args], {
    seconds: 60,
    cwd: folder,
    user,
  });
  if (!made.ok) throw new Error(`The data of Postgres could not be made: ${made.output}`);
}

async function start(bin: string, data: string, port: number, user: User | undefined): Promise<ChildProcess> {
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', shared_buffers: '32MB' };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
    cwd: data,
    stdio: 'ignore',
    ...user,
  });
  await until(async () => (await ask(urlOf(port), 'SELECT 1').catch(() => [])).length === 1, 'Postgres answers');
  return child;
}

/** Its main process alone: the others notice and end. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function own(path: string, user: User | undefined): Promise<void> {
  if (user === undefined) return;
  const done = await run('chown', ['-R', `${user.uid}:${user.gid}`, path], { seconds: 10 });
  if (!done.ok) throw new Error(done.output);
}

const urlOf = (port: number) => `postgres://weir:${PASSWORD}@127.0.0.1:${port}/postgres`;

async function ask(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(statement)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
