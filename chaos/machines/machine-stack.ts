// Brings up Weir on three machines: Redis with a replica and three Sentinels, Postgres with a synchronous standby, and proxies on every
// way between two of them.

import { migrate } from '@weir/db/migrate';
import { makeHome, type Home } from '@weir/services/home';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Edge } from '../environment/edge.ts';
import { Family } from '../environment/family.ts';
import {
  APIS,
  APPS,
  found,
  namedPorts,
  QUEUE_PREFIX,
  startApps,
  type Stack,
  type StackOptions,
} from '../environment/stack.ts';
import type { Random } from '../random.ts';
import { Machines } from './machines.ts';
import { Network, REPLICATION_MS } from './network.ts';
import { addressOf, MACHINES, machineOf, POSTGRESES, REDISES, SENTINELS, type MachineName } from './placement.ts';
import { PostgresOperator } from './postgres-operator.ts';
import { PostgresPair, type PostgresNode } from './postgres-pair.ts';
import { RedisPair, type RedisNode } from './redis-pair.ts';

/** Those that are reached at one address by all; who calls is known by where the call comes from. */
const FRONTS = [...REDISES, ...SENTINELS];

/** What is called by an address that leads to whoever is the primary, or is called by one only. As `caller>called`. */
const WAYS = [
  ...APIS.map((api) => `client>${api}`),
  ...APPS.map((app) => `${app}>postgres`),
  ...POSTGRESES.map((name) => `operator>${name}`),
  'postgres-0>postgres-1',
  'postgres-1>postgres-0',
];

export async function openMachineStack(options: StackOptions & { random: Random }): Promise<Stack> {
  const { log, signal, random } = options;
  const folder = await makeHome(options.folder);
  const programs = await makeHome(options.programs);
  const folderOf = (machine: MachineName) => join(folder, machine);
  for (const machine of MACHINES) await makeHome(folderOf(machine));
  const ports = await namedPorts([...APPS, ...POSTGRESES, ...FRONTS, ...FRONTS.map((name) => `>${name}`), ...WAYS]);
  const family = new Family({ ...options, folder });
  const { closer } = family;
  const homeAt = (path: string): Home => ({ path, programs, log, signal });
  const password = randomBytes(24).toString('base64url');
  const common = { password, homeAt, log };
  const homeOf = (name: string) => folderOf(machineOf(name) as MachineName);

  const redisNode = (name: string, child: RedisNode['child']): RedisNode => ({
    folder: homeOf(name),
    port: ports(name),
    frontPort: ports(`>${name}`),
    child,
  });
  const [redis0, redis1] = REDISES.map((name) =>
    redisNode(
      name,
      family.addServer(name, () => redis.start(name)),
    ),
  ) as [RedisNode, RedisNode];
  const [sentinel0, sentinel1, sentinel2] = SENTINELS.map((name) =>
    redisNode(
      name,
      family.add(name, (_variant, onLaunch) => redis.startSentinel(name, onLaunch)),
    ),
  ) as [RedisNode, RedisNode, RedisNode];
  const redis = new RedisPair({
    ...common,
    redises: { 'redis-0': redis0, 'redis-1': redis1 },
    sentinels: { 'sentinel-0': sentinel0, 'sentinel-1': sentinel1, 'sentinel-2': sentinel2 },
    logPathOf: (name) => family.logPathOf(name),
  });
  const postgres = new PostgresPair({
    ...common,
    nodes: POSTGRESES.map((name, index) => ({
      name,
      folder: homeOf(name),
      port: ports(name),
      replicationPort: ports(`${name}>${POSTGRESES[1 - index]}`),
      child: family.addServer(name, () => postgres.start(name)),
    })) as [PostgresNode, PostgresNode],
  });

  const network = new Network(() => random.int(REPLICATION_MS.min, REPLICATION_MS.max));
  const edges = new Map<string, Edge>();
  try {
    for (const way of WAYS) {
      const [caller = '', called = ''] = way.split('>');
      const callee = called === 'postgres' ? POSTGRESES[0] : called;
      edges.set(way, await network.openWay(caller, callee, { own: ports(way), callee: ports(callee) }));
    }
    for (const name of FRONTS) await network.openFront(name, { own: ports(`>${name}`), callee: ports(name) });
    const operator = new PostgresOperator({
      pair: postgres,
      network,
      address: APPS.map((app) => found(edges, `${app}>postgres`)),
      portOf: (name) => ports(`operator>${name}`),
      log,
    });
    const machines = new Machines({
      network,
      redis,
      postgres,
      operator,
      folderOf,
      child: (name) => found(family.children, name),
      variantOf,
    });
    closer.add('machines', () => machines.close());
    await Promise.all([postgres.open(), redis.open()]);
    await migrate(postgres.databaseUrl);
    machines.begin();

    const startApp = (app: 'api' | 'worker', name: string, env: Record<string, string>) => {
      const source = new URL('../environment/source-address-main.js', import.meta.url);
      source.searchParams.set('address', addressOf(name));
      const urls = {
        DATABASE_URL: postgres.urlAt(ports(`${name}>postgres`)),
        REDIS_URL: redis.sentinelUrl,
        REDIS_COPIES: '2',
        DATABASE_COPIES: '2',
      };
      return family.startApp(app, name, { ...urls, ...env }, [source.href]);
    };
    await startApps(startApp, ports, options.apiEnv);

    return {
      port: ports,
      apis: APIS.map((name) => ({ name, url: `http://127.0.0.1:${ports(`client>${name}`)}` })),
      get databaseUrl() {
        return postgres.databaseUrl;
      },
      get redisUrl() {
        return redis.redisUrl;
      },
      queuePrefix: QUEUE_PREFIX,
      processes: family.records,
      folder,
      edges,
      children: family.children,
      receivers: [],
      receiver(name) {
        throw new Error(`there is no ${name} on machines`);
      },
      get redisFolder() {
        return redis.folder;
      },
      machines,
      variantOf,
      edge: (name) => found(edges, name),
      child: (name) => found(family.children, name),
      async heal() {
        for (const machine of MACHINES) machines.heal(machine, 'reset');
        await machines.rest();
      },
      close: () => closer.close(),
    };
  } catch (error) {
    await closer.close();
    throw error;
  }

  function variantOf(name: string) {
    return options.variants[APIS.includes(name) ? 'api' : 'worker'];
  }
}
