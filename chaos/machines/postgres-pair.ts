// A Postgres primary and its synchronous standby, each in the folder of its machine.

import { copyBase, settingsText } from '@weir/services/base-copy';
import { writePrivateFile } from '@weir/services/connection';
import type { Home } from '@weir/services/home';
import { settlePostgresFolder } from '@weir/services/postgres-folder';
import { preparePostgres, type PreparedPostgres } from '@weir/services/postgres';
import { STANDBY } from '@weir/services/standby';
import { chown, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Child } from '../environment/child.ts';
import { withClient } from '../environment/billing-time.ts';
import type { PostgresName } from './placement.ts';
import { killTree } from './process-tree.ts';

export interface PostgresNode {
  name: PostgresName;
  /** The folder of its machine. */
  folder: string;
  port: number;
  /** The way on which it follows the other one when it is the standby. */
  replicationPort: number;
  child: Child;
}

export interface PairOptions {
  nodes: readonly [PostgresNode, PostgresNode];
  password: string;
  homeAt(folder: string): Home;
  log: (line: string) => void;
}

export class PostgresPair {
  readonly #options: PairOptions;
  readonly #prepared = new Map<PostgresName, PreparedPostgres>();
  primary: PostgresNode;

  constructor(options: PairOptions) {
    this.#options = options;
    [this.primary] = options.nodes;
  }

  get standby(): PostgresNode {
    const [first, second] = this.#options.nodes;
    return this.primary === first ? second : first;
  }

  /** Past every proxy. */
  get databaseUrl(): string {
    return this.urlAt(this.primary.port);
  }

  /** The database, as it is reached at a port. */
  urlAt(port: number): string {
    return `postgresql://weir:${this.#options.password}@127.0.0.1:${port}/weir`;
  }

  node(name: string): PostgresNode {
    const found = this.#options.nodes.find((each) => each.name === name);
    if (found === undefined) throw new RangeError(`there is no ${name}`);
    return found;
  }

  /** What `child` launches. */
  start(name: PostgresName): ReturnType<PreparedPostgres['start']> {
    const prepared = this.#prepared.get(name);
    if (prepared === undefined) throw new Error(`${name} has no data to start on`);
    return prepared.start();
  }

  /** Makes the first primary, and its standby. */
  async open(): Promise<void> {
    const { primary } = this;
    const prepared = await this.#prepare(primary);
    const { folder, user } = await settlePostgresFolder(primary.folder, this.#options.log);
    const path = join(folder, 'data', 'postgresql.auto.conf');
    await writeFile(path, settingsText(this.#settingsOf(primary)), { mode: 0o600 });
    if (user !== undefined) await chown(path, user.uid, user.gid);
    await primary.child.start();
    await prepared.createDatabase();
    await this.makeStandby();
  }

  /** Puts the standby up anew, from a copy of the primary. What it had is gone. */
  async makeStandby(): Promise<void> {
    const { standby, primary } = this;
    await killTree(standby.child);
    const { folder: from } = await settlePostgresFolder(primary.folder, this.#options.log);
    await copyBase({
      databaseUrl: this.databaseUrl,
      from,
      to: standby.folder,
      settings: this.#settingsOf(standby),
      log: this.#options.log,
    });
    await this.#prepare(standby);
    await standby.child.start();
  }

  /** Whether the other one runs as a standby; one that was the primary before is none. */
  async hasStandby(): Promise<boolean> {
    const { child, port } = this.standby;
    if (child.pid === 0) return false;
    try {
      const { rows } = await withClient(this.urlAt(port), (client) =>
        client.query<{ follows: boolean }>('SELECT pg_is_in_recovery() AS follows'),
      );
      return rows[0]?.follows === true;
    } catch {
      // It is on its way up.
      return true;
    }
  }

  /** The standby becomes the primary. Who was it before is no standby yet, and must not be asked any more. */
  async promote(): Promise<void> {
    const { standby } = this;
    await withClient(this.urlAt(standby.port), (client) => client.query('SELECT pg_promote(true, 30)'));
    this.primary = standby;
  }

  /** Ends a Postgres at once, with all that it has. */
  async destroy(name: string): Promise<void> {
    const { child, folder } = this.node(name);
    await killTree(child);
    const { folder: own } = await settlePostgresFolder(folder, this.#options.log);
    // What its main process left behind writes for a moment.
    await rm(join(own, 'data'), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  async #prepare({ name, folder, port }: PostgresNode): Promise<PreparedPostgres> {
    const { homeAt, password } = this.#options;
    await writePrivateFile(join(folder, 'postgres.json'), `${JSON.stringify({ port, password })}\n`);
    const prepared = await preparePostgres(homeAt(folder));
    this.#prepared.set(name, prepared);
    return prepared;
  }

  #settingsOf({ replicationPort }: PostgresNode): Record<string, string> {
    const { password } = this.#options;
    return {
      primary_conninfo: `host=127.0.0.1 port=${replicationPort} user=weir password=${password} application_name=${STANDBY} connect_timeout=2`,
      synchronous_standby_names: '',
      wal_keep_size: '4GB',
      wal_receiver_status_interval: '1s',
      wal_receiver_timeout: '3s',
      wal_sender_timeout: '3s',
      wal_retrieve_retry_interval: '200ms',
    };
  }
}
