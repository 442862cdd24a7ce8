// A real Postgres and its synchronous standby, of the embedded programs. The standby is a copy of the data folder from before its first
// start, and reads the log of the primary through a proxy, which holds it back.

import { migrate } from '@weir/db/migrate';
import { appendFile, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Edge } from '../../chaos/environment/edge.ts';
import { findFreePort } from '@weir/services/connection';
import { until } from './harness.ts';
import { ask, killServer, settleServers } from './postgres-server.ts';
import { queryOnce } from './setup/query.ts';

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
  const servers = await settleServers('weir');
  const { folder } = servers;
  const [primaryData, standbyData] = [join(folder, 'primary'), join(folder, 'standby')];
  const [primaryPort, standbyPort] = [await findFreePort(), await findFreePort()];
  const replication = new Edge(await findFreePort(), primaryPort);
  const front = new Edge(await findFreePort(), primaryPort);
  await servers.initialize(primaryData);
  await cp(primaryData, standbyData, { recursive: true, preserveTimestamps: true });
  const conninfo = `host=127.0.0.1 port=${replication.port} user=weir password=${servers.password} application_name=second`;
  await appendFile(join(standbyData, 'postgresql.conf'), `\nprimary_conninfo = '${conninfo}'\n`);
  await writeFile(join(standbyData, 'standby.signal'), '');
  await appendFile(join(primaryData, 'postgresql.conf'), `\nsynchronous_standby_names = 'second'\n`);
  await servers.own(standbyData);
  await Promise.all([replication.open(), front.open()]);
  const [primary, standby] = await Promise.all([
    servers.start(primaryData, primaryPort),
    servers.start(standbyData, standbyPort),
  ]);
  const [url, primaryUrl, standbyUrl] = [front.port, primaryPort, standbyPort].map(servers.urlOf) as [
    string,
    string,
    string,
  ];
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
      await killServer(primary);
      front.reset();
    },
    async promote() {
      await queryOnce(standbyUrl, 'SELECT pg_promote()');
      front.divert(standbyPort);
      front.reset();
    },
    async close() {
      await Promise.all([killServer(primary), killServer(standby)]);
      await Promise.all([replication.close(), front.close()]);
      await servers.remove();
    },
  };
}
