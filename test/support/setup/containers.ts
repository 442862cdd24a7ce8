import { PostgreSqlContainer } from '@testcontainers/postgresql';
import { RedisContainer } from '@testcontainers/redis';
import { getContainerRuntimeClient } from 'testcontainers';

interface Given {
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
}

interface Opened {
  databaseUrl: string;
  redisUrl: string;
  close(): Promise<void>;
}

/**
 * The given services, with containers for those that are missing. `undefined` when no Docker engine answers, or there
 * is nothing to bring up. An engine that answers and cannot run the containers (it may have no way to fetch images)
 * is told in `log`, and counts as none. TEST_POSTGRES_IMAGE and TEST_REDIS_IMAGE choose the images; where one is set,
 * no other service takes its place.
 */
export async function openContainers(given: Given, log: (line: string) => void): Promise<Opened | undefined> {
  if (given.databaseUrl !== undefined && given.redisUrl !== undefined) return undefined;
  const { TEST_POSTGRES_IMAGE, TEST_REDIS_IMAGE } = process.env;
  const isChosen = TEST_POSTGRES_IMAGE !== undefined || TEST_REDIS_IMAGE !== undefined;
  try {
    await getContainerRuntimeClient();
  } catch (error) {
    if (isChosen) throw error;
    return undefined;
  }
  const [postgres, redis] = await Promise.allSettled([
    given.databaseUrl === undefined ? new PostgreSqlContainer(TEST_POSTGRES_IMAGE ?? 'postgres:18').start() : undefined,
    given.redisUrl === undefined
      ? new RedisContainer(TEST_REDIS_IMAGE ?? 'redis:8')
          // The images of Redis and of Valkey start their own server with these.
          .withCommand('--appendonly yes --appendfsync always --maxmemory-policy noeviction'.split(' '))
          .start()
      : undefined,
  ]);
  const close = async (): Promise<void> => {
    for (const started of [postgres, redis]) if (started.status === 'fulfilled') await started.value?.stop();
  };
  if (postgres.status === 'rejected' || redis.status === 'rejected') {
    await close();
    const reason: unknown = [postgres, redis].find((started) => started.status === 'rejected')?.reason;
    if (isChosen) throw reason;
    log(`Docker could not run the services (${String(reason)}); taking the embedded ones.`);
    return undefined;
  }
  const databaseUrl = given.databaseUrl ?? postgres.value?.getConnectionUri();
  const redisUrl = given.redisUrl ?? redis.value?.getConnectionUrl();
  if (databaseUrl === undefined || redisUrl === undefined) throw new Error('A container started without an address.');
  return { databaseUrl, redisUrl, close };
}
