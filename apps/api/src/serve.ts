// Opens the API and closes it again, last opened first: the door shuts, what is inside is answered, then the rest goes.

import { openDatabase } from '@weir/db/database';
import { findRisks, identify, requireSchema } from '@weir/db/installation';
import { Closer } from '@weir/shared/closer';
import type { Logger } from '@weir/shared/log';
import { Ownership } from '@weir/shared/ownership';
import { producerConnection, queueKeys } from '@weir/shared/queue';
import { requireRedisPolicy } from '@weir/shared/redis-policy';
import { explainTakenPort } from '@weir/shared/settings';
import { Redis } from 'ioredis';
import { buildApp } from './app.ts';
import { openDatabaseWatch } from './database-watch.ts';
import { buildMetrics, countAdmissions } from './http/metrics.ts';
import { openIngest } from './ingest/ingest.ts';
import type { ApiSettings } from './settings.ts';

/** An API that listens. */
export interface RunningApi {
  url: string;
  /** Stops listening, answers every request that is inside, and lets go of everything. */
  close(): Promise<void>;
}

/** How long a start waits for Redis before it goes on without: the API then answers 503 until Redis is there. */
const REDIS_WAIT_MS = 2_000;

/** What tracking looks up are single rows by their key: a few connections carry thousands in a second. */
const LOOKUP_CONNECTIONS = 3;

/** A look-up that takes longer than this would make its client wait for nothing. */
const LOOKUP_MS_MAX = 1_000;

/** How often it is looked whose queue this is. */
const OWNERSHIP_INTERVAL_MS = 1_000;

/**
 * Starts the API. Throws a SettingsError for a port that is taken, for a Redis that would lose events or belongs to another
 * database, and for a database that is not migrated to this version.
 */
export async function serveApi(settings: ApiSettings, log: Logger): Promise<RunningApi> {
  const closer = new Closer();
  let isDraining = false;
  try {
    const keys = queueKeys(settings.QUEUE_PREFIX);
    const database = openDatabase(settings.DATABASE_URL, {
      connectionsMax: settings.DATABASE_CONNECTIONS,
      statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
      onConnectionError: (error) => log.warn({ err: error }, 'an idle connection to Postgres was lost'),
    });
    closer.add('the database', () => database.close());
    const lookups = openDatabase(settings.DATABASE_URL, {
      connectionsMax: LOOKUP_CONNECTIONS,
      statementTimeoutMs: LOOKUP_MS_MAX,
      connectTimeoutMs: LOOKUP_MS_MAX,
      onConnectionError: (error) => log.debug({ err: error }, 'an idle connection for look-ups was lost'),
    });
    closer.add('the look-ups', () => lookups.close());
    // Whether Postgres is there is asked on a connection of its own: no crowd of look-ups makes it seem away.
    const probe = openDatabase(settings.DATABASE_URL, {
      connectionsMax: 1,
      statementTimeoutMs: LOOKUP_MS_MAX,
      connectTimeoutMs: LOOKUP_MS_MAX,
      onConnectionError: (error) => log.debug({ err: error }, 'the idle connection of the probe was lost'),
    });
    closer.add('the probe', () => probe.close());
    const databaseWatch = openDatabaseWatch(probe, log);
    closer.add('the watch on Postgres', () => databaseWatch.close());

    const redis = new Redis(settings.REDIS_URL, producerConnection(settings.REDIS_COMMAND_TIMEOUT_MS));
    redis.on('error', (error) => log.warn({ err: error }, 'the connection to Redis was lost'));
    closer.add('Redis', () => redis.disconnect());
    await checkPolicy(redis, log);
    const ownership = new Ownership({
      redis,
      keys,
      database: { requireSchema: () => requireSchema(probe), identify: (folded) => identify(probe, folded) },
      log,
      intervalMs: OWNERSHIP_INTERVAL_MS,
    });
    closer.add('the watch on the queue', () => ownership.close());
    await ownership.requireOurs();
    for (const risk of await findRisks(probe).catch(() => [])) log.warn(risk);

    const metrics = buildMetrics({ bufferDepth: () => ingest.depth(), queue: () => ingest.queue() });
    const ingest = openIngest(redis, keys, log, {
      ownership,
      claimSecondsMax: settings.IDEMPOTENCY_CLAIM_SECONDS,
      batchesMax: settings.QUEUE_BATCHES_MAX,
      onAdmitted: (admissions) => countAdmissions(metrics, admissions),
      onEnqueueFailure: () => metrics.enqueueFailures.inc(),
      onClaimsLetGo: (claims) => metrics.claimsLetGo.inc(claims),
      onRefused: (reason, events) => metrics.refusedEvents.inc({ reason }, events),
    });
    closer.add('the buffer', () => ingest.close());

    const app = await buildApp({
      settings,
      database,
      lookups,
      probe,
      databaseWatch,
      redis,
      keys,
      ownership,
      log,
      metrics,
      ingest,
      isDraining: () => isDraining,
    });
    closer.add('the server', () => app.close());
    const { PORT: port, HOST: host } = settings;
    const url = await explainTakenPort(app.listen({ port, host }), { setting: 'PORT', port, host });
    return {
      url,
      async close() {
        isDraining = true;
        await closer.close();
      },
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

async function checkPolicy(redis: Redis, log: Logger): Promise<void> {
  if (redis.status !== 'ready') {
    const ready = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), REDIS_WAIT_MS);
      redis.once('ready', () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    if (!ready) {
      log.warn('Redis cannot be reached yet: tracking answers 503 until it can');
      return;
    }
  }
  // What it only warns of is said by the watch.
  await requireRedisPolicy(redis);
}
