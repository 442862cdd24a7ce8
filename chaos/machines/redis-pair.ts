// A Redis primary, its replica, and the three Sentinels that decide which is which.

import { writePrivateFile } from '@weir/services/connection';
import { environmentOf } from '@weir/services/find-program';
import type { Home } from '@weir/services/home';
import { prepareRedis, type PreparedRedis } from '@weir/services/redis';
import { findRedis } from '@weir/services/redis-packages';
import { startServer, type Server } from '@weir/services/server';
import { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Child } from '../environment/child.ts';
import { addressOf, REDISES, SENTINELS, type RedisName, type SentinelName } from './placement.ts';
import { killTree } from './process-tree.ts';

/** The name that Sentinel knows the two by. */
const GROUP = 'weir';

/** Who is silent for so long is away to a Sentinel. Two of three have to agree. */
const DOWN_AFTER_MS = 1_000;

/** The same when no machine fails any more. */
const PATIENT_MS = 60_000;

const ANSWER_MS_MAX = 500;

export interface RedisNode {
  /** The folder of its machine. */
  folder: string;
  /** Where it listens, and the address by which others know it. */
  port: number;
  frontPort: number;
  child: Child;
}

export interface RedisPairOptions {
  redises: Readonly<Record<RedisName, RedisNode>>;
  sentinels: Readonly<Record<SentinelName, RedisNode>>;
  password: string;
  homeAt(folder: string): Home;
  logPathOf(name: string): string;
  log: (line: string) => void;
}

export class RedisPair {
  readonly #options: RedisPairOptions;
  readonly #prepared = new Map<RedisName, PreparedRedis>();
  readonly #eyes = new Map<string, Redis>();
  /** As the Sentinels had it last. */
  primary: RedisName = 'redis-0';

  constructor(options: RedisPairOptions) {
    this.#options = options;
  }

  get replica(): RedisName {
    return this.primary === 'redis-0' ? 'redis-1' : 'redis-0';
  }

  /** Past every proxy. */
  get redisUrl(): string {
    return this.#urlOf(this.#options.redises[this.primary].port);
  }

  /** Where the Sentinels say who is the primary. */
  get sentinelUrl(): string {
    const { sentinels, password } = this.#options;
    const hosts = SENTINELS.map((name) => `127.0.0.1:${sentinels[name].frontPort}`);
    return `redis+sentinel://:${password}@${hosts.join(',')}/${GROUP}`;
  }

  /** Holds redis.conf, and what the primary writes. */
  get folder(): string {
    return this.#prepared.get(this.primary)?.folder ?? '';
  }

  child(name: RedisName): Child {
    return this.#options.redises[name].child;
  }

  /** What `child` launches. */
  start(name: RedisName): Promise<Server> {
    const prepared = this.#prepared.get(name);
    if (prepared === undefined) throw new Error(`${name} was not prepared`);
    return prepared.start();
  }

  /** Starts a Sentinel. It goes on with what it has written down. */
  async startSentinel(name: SentinelName, onLaunch: (server: Server) => void): Promise<Server> {
    const { homeAt, sentinels, logPathOf, log } = this.#options;
    const { folder, port } = sentinels[name];
    const home = homeAt(folder);
    const program = await findRedis(home);
    return startServer(
      {
        name,
        program: program.path,
        args: [this.#configurationOf(name), '--sentinel'],
        env: environmentOf(program),
        folder: join(folder, 'sentinel'),
        logPath: logPathOf(name),
        startSeconds: 20,
        stopSteps: [
          ['SIGTERM', 10],
          ['SIGKILL', 10],
        ],
        isReady: () =>
          this.#eyeOn(name, `redis://127.0.0.1:${port}`)
            .ping()
            .then(
              () => true,
              () => false,
            ),
        onLaunch,
        signal: home.signal,
      },
      log,
    );
  }

  async open(): Promise<void> {
    await this.make('redis-0', undefined);
    await this.make('redis-1', 'redis-0');
    await Promise.all(SENTINELS.map((name) => this.makeSentinel(name)));
  }

  /** Puts a Redis up that has nothing, as a replica of another one. */
  async make(name: RedisName, primary: RedisName | undefined): Promise<void> {
    const { redises, password, homeAt } = this.#options;
    const { folder, port, frontPort, child } = redises[name];
    await rm(join(folder, 'redis'), { recursive: true, force: true });
    await writePrivateFile(join(folder, 'redis.json'), `${JSON.stringify({ port, password })}\n`);
    const prepared = await prepareRedis(homeAt(folder));
    this.#prepared.set(name, prepared);
    const settings = [
      ...identity(name),
      `replica-announce-ip 127.0.0.1`,
      `replica-announce-port ${frontPort}`,
      `masterauth ${password}`,
      'repl-diskless-sync-delay 0',
      'repl-ping-replica-period 1',
      'repl-timeout 5',
      ...(primary === undefined ? [] : [`replicaof 127.0.0.1 ${redises[primary].frontPort}`]),
    ];
    await appendFile(join(prepared.folder, 'redis.conf'), `${settings.join('\n')}\n`);
    await child.start();
  }

  /** Puts a Sentinel up that has to find everything out anew, but for who is the primary. */
  async makeSentinel(name: SentinelName): Promise<void> {
    const { sentinels, redises, password } = this.#options;
    const { folder, port, frontPort, child } = sentinels[name];
    await mkdir(join(folder, 'sentinel'), { recursive: true });
    const settings = [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir ${JSON.stringify(join(folder, 'sentinel'))}`,
      ...identity(name),
      // To the others it is who was there before. At the same address Redis 7 puts one of another id in its place, too.
      `sentinel myid ${createHash('sha1').update(name).digest('hex')}`,
      `sentinel announce-ip 127.0.0.1`,
      `sentinel announce-port ${frontPort}`,
      `sentinel monitor ${GROUP} 127.0.0.1 ${redises[this.primary].frontPort} 2`,
      `sentinel auth-pass ${GROUP} ${password}`,
      `sentinel down-after-milliseconds ${GROUP} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${GROUP} 5000`,
      `sentinel parallel-syncs ${GROUP} 1`,
    ];
    await writeFile(this.#configurationOf(name), `${settings.join('\n')}\n`);
    await child.start();
  }

  /** Asks the Sentinels who is the primary. The one whose answer is of the latest election is right. */
  async look(): Promise<RedisName> {
    const { sentinels, redises } = this.#options;
    const answers = await Promise.all(
      SENTINELS.map(async (name) => {
        const eye = this.#eyeOn(name, `redis://127.0.0.1:${sentinels[name].port}`);
        return eye.call('SENTINEL', 'MASTER', GROUP).then(asRecord, () => undefined);
      }),
    );
    const [latest] = answers
      .filter((answer) => answer !== undefined)
      .toSorted((a, b) => Number(b['config-epoch']) - Number(a['config-epoch']));
    const primary = REDISES.find((name) => String(redises[name].frontPort) === latest?.['port']) ?? this.primary;
    if (primary !== this.primary) this.#options.log(`${primary} is the primary of Redis now.`);
    this.primary = primary;
    return primary;
  }

  /** Whether what is written is on two machines, and each Sentinel could name another primary. */
  async isWhole(): Promise<boolean> {
    await this.look();
    const { redises, sentinels } = this.#options;
    const primary = await this.#eyeOn(this.primary, this.#urlOf(redises[this.primary].port))
      .info('replication')
      .catch(() => '');
    if (!/^role:master/m.test(primary) || !/^slave0:.*state=online/m.test(primary)) return false;
    const masters = await Promise.all(
      SENTINELS.map((name) =>
        this.#eyeOn(name, `redis://127.0.0.1:${sentinels[name].port}`)
          .call('SENTINEL', 'MASTER', GROUP)
          .then(asRecord, () => undefined),
      ),
    );
    const port = String(redises[this.primary].frontPort);
    return masters.every(
      (master) =>
        master?.['port'] === port &&
        master['flags'] === 'master' &&
        master['num-slaves'] === '1' &&
        master['num-other-sentinels'] === '2',
    );
  }

  /** Has the Sentinels be patient from now on. */
  async rest(): Promise<void> {
    const { sentinels } = this.#options;
    const patience = ['down-after-milliseconds', PATIENT_MS];
    await Promise.all(
      SENTINELS.map((name) =>
        this.#eyeOn(name, `redis://127.0.0.1:${sentinels[name].port}`).call('SENTINEL', 'SET', GROUP, ...patience),
      ),
    );
  }

  async destroy(name: RedisName): Promise<void> {
    const { child, folder } = this.#options.redises[name];
    await killTree(child);
    await rm(join(folder, 'redis'), { recursive: true, force: true });
  }

  close(): void {
    for (const eye of this.#eyes.values()) eye.disconnect();
  }

  #configurationOf(name: SentinelName): string {
    return join(this.#options.sentinels[name].folder, 'sentinel', 'sentinel.conf');
  }

  #urlOf(port: number): string {
    return `redis://:${this.#options.password}@127.0.0.1:${port}`;
  }

  #eyeOn(name: string, url: string): Redis {
    const known = this.#eyes.get(name);
    if (known !== undefined) return known;
    const eye = new Redis(url, {
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      connectTimeout: ANSWER_MS_MAX,
      commandTimeout: ANSWER_MS_MAX,
      retryStrategy: () => 100,
    });
    eye.on('error', () => {});
    this.#eyes.set(name, eye);
    return eye;
  }
}

/** By which a proxy knows who calls; and the path of the configuration stays on the command line, by which what is left is found. */
function identity(name: string): string[] {
  const settings = [`bind-source-addr ${addressOf(name)}`];
  return name.startsWith('sentinel') ? [...settings, 'set-proc-title no'] : settings;
}

/** Sentinel answers with a list of names and values. */
function asRecord(answer: unknown): Record<string, string> {
  const list = answer as string[];
  return Object.fromEntries(
    Array.from({ length: list.length / 2 }, (_, index) => [list[2 * index] ?? '', list[2 * index + 1] ?? '']),
  );
}
