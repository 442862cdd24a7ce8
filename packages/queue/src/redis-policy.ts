import { SettingsError } from '@weir/shared/settings';
import type { QueueConnection } from './connection.ts';

/** What is wrong with how a Redis is set up: `refuse` must stop the process, `warn` must be told to the operator. */
export interface RedisPolicy {
  refuse?: string;
  warn?: string | undefined;
}

/** Memory of a Redis, in bytes. `limit` is its `maxmemory`, 0 without one. */
export interface RedisMemory {
  used: number;
  limit: number;
}

const SETTINGS = [
  'maxmemory-policy',
  'appendonly',
  'appendfsync',
  'no-appendfsync-on-rewrite',
  'min-replicas-to-write',
] as const;

/**
 * Reads how a Redis is set up, and its memory, in one round trip. A policy that evicts keys would drop
 * accepted events without a word; a lazy fsync only weakens what a 201 means when the machine itself dies. Where a hosted
 * Redis does not answer `CONFIG GET`, that is said as a warning, since only the policy can be known then. Throws while
 * Redis is away.
 */
export async function readRedisPolicy({
  redis,
  secondCopy,
}: QueueConnection): Promise<{ policy: RedisPolicy; memory: RedisMemory }> {
  const [server, memory, config, replication] = await Promise.all([
    redis.info('server'),
    redis.info('memory'),
    redis.config('GET', ...SETTINGS).catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ReplyError') return error;
      throw error;
    }),
    secondCopy === undefined ? undefined : redis.info('replication'),
  ]);
  const policy = policyOf(server, memory, config);
  if (replication !== undefined && policy.refuse === undefined) policy.warn ??= warnOfCopies(replication, config);
  return { policy, memory: memoryOf(memory) };
}

function policyOf(server: string, memory: string, config: object): RedisPolicy {
  const version = /redis_version:(\d+)/.exec(server)?.[1];
  if (version !== undefined && Number(version) < 7) {
    return { refuse: `Redis ${version} is too old: Weir needs Redis 7.0 or newer, or any Valkey` };
  }
  const isAnswered = !(config instanceof Error);
  const settings = isAnswered ? pairsOf(config) : new Map<string, string>();
  const policy = settings.get('maxmemory-policy') ?? /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  if (policy !== undefined && policy !== 'noeviction') {
    return { refuse: `Redis has maxmemory-policy ${policy} and would drop accepted events: set it to noeviction` };
  }
  if (!isAnswered) {
    return {
      warn: `Redis does not answer CONFIG GET (${config.message}): make sure of maxmemory-policy noeviction, appendonly yes, appendfsync always and no-appendfsync-on-rewrite no`,
    };
  }
  const [appendonly, appendfsync] = [settings.get('appendonly'), settings.get('appendfsync')];
  if (appendonly !== 'yes' || appendfsync !== 'always') {
    return {
      warn: `Redis has appendonly ${appendonly} and appendfsync ${appendfsync}: a 201 is on disk only with appendonly yes and appendfsync always`,
    };
  }
  if (settings.get('no-appendfsync-on-rewrite') === 'yes') {
    return {
      warn: 'Redis has no-appendfsync-on-rewrite yes: a 201 is not on disk while it rewrites its log, so set it to no',
    };
  }
  return {};
}

function warnOfCopies(replication: string, config: object): string | undefined {
  if (!(config instanceof Error) && Number(pairsOf(config).get('min-replicas-to-write') ?? 0) > 0)
    return 'Redis has min-replicas-to-write above 0: one that took over could not be emptied of what is recorded, so set it to 0';
  const replicas = Number(/^connected_slaves:(\d+)/m.exec(replication)?.[1] ?? 0);
  if (replicas === 1) return undefined;
  return replicas === 0
    ? 'REDIS_COPIES is 2, and Redis has no replica that could have the second one'
    : `REDIS_COPIES is 2, and Redis has ${replicas} replicas: one that has not acknowledged an event may take over, so keep one replica`;
}

/** What a Redis says of its memory in `INFO memory`. */
export function memoryOf(info: string): RedisMemory {
  return {
    used: Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0),
    limit: Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0),
  };
}

/** The answer to CONFIG GET is an object, or a flat list of names and values, as the protocol has it. */
function pairsOf(config: object): Map<string, string> {
  if (!Array.isArray(config)) return new Map(Object.entries(config as Record<string, string>));
  const flat = config as string[];
  return new Map(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])));
}

/**
 * Throws a SettingsError for a Redis that would lose events, and for one that does not take the password. Returns what else an operator
 * should be told of it.
 */
export async function requireRedisPolicy(queue: QueueConnection): Promise<string | undefined> {
  const { refuse, warn } = (await readRedisPolicy(queue).catch(explainPassword)).policy;
  if (refuse !== undefined) throw new SettingsError(`Cannot start: ${refuse}.`);
  return warn;
}

function explainPassword(error: unknown): never {
  const message = error instanceof Error ? error.message : '';
  if (!/^(WRONGPASS|NOAUTH|NOPERM)\b/.test(message)) throw error;
  throw new SettingsError(`Cannot start: Redis says "${message}": check user and password in REDIS_URL.`, {
    cause: error,
  });
}
