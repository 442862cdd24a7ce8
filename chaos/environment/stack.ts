// Brings up the system under test: Postgres and Redis of its own, two API processes and two workers, and a proxy on every
// edge between them.

import { migrate } from '@weir/db/migrate';
import { writePrivateFile } from '@weir/services/connection';
import { makeHome, type Home } from '@weir/services/home';
import { preparePostgres } from '@weir/services/postgres';
import { prepareRedis } from '@weir/services/redis';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Machines } from '../machines/machines.ts';
import type { Child, Variant } from './child.ts';
import { Edge, type Healing } from './edge.ts';
import { Family, type FamilyOptions } from './family.ts';
import type { AppPlan } from './launch-app.ts';
import { pickPorts } from './ports.ts';
import { Receiver } from './receiver.ts';
import type { SystemUnderTest } from './system.ts';

export interface StackOptions extends FamilyOptions {
  /** Where programs are kept that had to be fetched or copied. */
  programs: string;
  /** Settings of the APIs other than those that every run has. */
  apiEnv?: Record<string, string>;
}

/** The system under test, with all that faults are made on. */
export interface Stack extends SystemUnderTest {
  edges: ReadonlyMap<string, Edge>;
  children: ReadonlyMap<string, Child>;
  redisFolder: string;
  /** Where the processes are on machines of their own. */
  machines?: Machines;
  /** What every start of a process of Weir has, the starts that a fault makes included. */
  variantOf(name: string): Variant;
  edge(name: string): Edge;
  /** Where a process or a proxy listens. */
  port(name: string): number;
  child(name: string): Child;
  receiver(name: string): Receiver;
  /** Makes every edge whole. */
  heal(healing?: Healing): Promise<void>;
  /** Ends every process; nothing is lost that is on disk. */
  close(): Promise<void>;
}

export const APIS = ['api-0', 'api-1'];
const WORKERS = ['worker-0', 'worker-1'];
/** The processes of Weir. */
export const APPS: readonly string[] = [...APIS, ...WORKERS];
const STORES = ['redis', 'postgres'];
export const RECEIVERS = ['receiver-0', 'receiver-1'];
export const QUEUE_PREFIX = '{weir}';

/** So often it is looked for what has to be billed; a day of billing is a few seconds. In two workers, so that jobs meet. */
const BILLING_ENV = { BILLING_INTERVAL_MS: '300', BILLING_CONCURRENCY: '2' };

const API_ENV = { SIGNUP: 'open', DRAIN_DELAY_MS: '0' };

/** Receivers are on this machine. */
const WEBHOOK_ENV = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };

/** Every edge, as `caller>called`. */
const EDGES = [
  ...APIS.map((api) => `client>${api}`),
  ...APPS.flatMap((app) => STORES.map((store) => `${app}>${store}`)),
];

export async function openStack(options: StackOptions): Promise<Stack> {
  const { log, signal } = options;
  const folder = await makeHome(options.folder);
  const home: Home = { path: folder, programs: await makeHome(options.programs), log, signal };
  const ports = await namedPorts([...STORES, ...APIS, ...WORKERS, ...RECEIVERS, ...EDGES]);
  for (const store of STORES) {
    const connection = { port: ports(store), password: randomBytes(24).toString('base64url') };
    await writePrivateFile(join(folder, `${store}.json`), `${JSON.stringify(connection)}\n`);
  }

  const family = new Family({ ...options, folder });
  const { closer } = family;
  try {
    const postgres = await preparePostgres(home);
    const redis = await prepareRedis(home);
    await Promise.all([
      family.addServer('postgres', () => postgres.start()).start(),
      family.addServer('redis', () => redis.start()).start(),
    ]);
    await postgres.createDatabase();
    await migrate(postgres.databaseUrl);

    const edges = new Map<string, Edge>();
    for (const name of EDGES) {
      const edge = new Edge(ports(name), ports(name.split('>')[1] ?? ''));
      edges.set(name, edge);
      await edge.open();
      closer.add(name, () => edge.close());
    }

    const receivers = RECEIVERS.map((name) => new Receiver(name, ports(name)));
    for (const receiver of receivers) {
      await receiver.open();
      closer.add(receiver.name, () => receiver.close());
    }

    const startApp = (app: AppPlan['app'], name: string, env: Record<string, string>) =>
      family.startApp(app, name, {
        DATABASE_URL: withPort(postgres.databaseUrl, ports(`${name}>postgres`)),
        REDIS_URL: withPort(redis.redisUrl, ports(`${name}>redis`)),
        ...env,
      });
    await startApps(startApp, ports, options.apiEnv);

    return {
      port: ports,
      apis: APIS.map((name) => ({ name, url: `http://127.0.0.1:${ports(`client>${name}`)}` })),
      databaseUrl: postgres.databaseUrl,
      redisUrl: redis.redisUrl,
      queuePrefix: QUEUE_PREFIX,
      processes: family.records,
      folder,
      edges,
      children: family.children,
      redisFolder: redis.folder,
      receivers,
      variantOf: (name) => options.variants[APIS.includes(name) ? 'api' : 'worker'],
      edge: (name) => found(edges, name),
      child: (name) => found(family.children, name),
      receiver: (name) => found(new Map(receivers.map((each) => [each.name, each])), name),
      async heal(healing) {
        for (const edge of edges.values()) await edge.heal(healing);
      },
      close: () => closer.close(),
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

/** Starts the processes of Weir with `start`, which knows how each of them reaches its stores. */
export async function startApps(
  start: (app: AppPlan['app'], name: string, env: Record<string, string>) => Promise<void>,
  ports: (name: string) => number,
  apiEnv: Record<string, string> = {},
): Promise<void> {
  await Promise.all([
    ...APIS.map((name) => start('api', name, { PORT: String(ports(name)), ...API_ENV, ...WEBHOOK_ENV, ...apiEnv })),
    ...WORKERS.map((name) =>
      start('worker', name, { WORKER_PORT: String(ports(name)), ...BILLING_ENV, ...WEBHOOK_ENV }),
    ),
  ]);
}

export async function namedPorts(names: string[]): Promise<(name: string) => number> {
  const ports = await pickPorts(names.length);
  return (name) => {
    const port = ports[names.indexOf(name)];
    if (port === undefined) throw new Error(`there is no port for ${name}`);
    return port;
  };
}

export function found<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new Error(`there is no ${name} in the stack`);
  return value;
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}
