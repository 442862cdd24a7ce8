// Opens the API and closes it again, last opened first: the door shuts, what is inside is answered, then the rest goes.

import { raiseTotals } from '@weir/db/accepted';
import { openDatabase } from '@weir/db/database';
import { identify, requireSchema, type SchemaRange } from '@weir/db/installation';
import { forgetClaims, listPendingClaims } from '@weir/db/pending-claims';
import { DIRECT_MS_MAX } from '@weir/db/record-directly';
import { openServerWatch } from '@weir/db/server-watch';
import { STALLED_SESSIONS_MAX } from '@weir/db/standby';
import { awaitStandby } from '@weir/db/standby';
import { raiseAhead } from '@weir/db/times-ahead';
import { admit } from '@weir/queue/admit';
import { writeClaims } from '@weir/queue/claims';
import { disconnect, openProducer, untilReady, type QueueConnection } from '@weir/queue/connection';
import { Ownership } from '@weir/queue/ownership';
import { openBillingJobs } from '@weir/queue/billing-jobs';
import { openRecordJobs } from '@weir/queue/record-jobs';
import { probeRedis } from '@weir/queue/probe-redis';
import { isRedisAway, isRefusedByRedis } from '@weir/queue/redis-away';
import { requireRedisPolicy } from '@weir/queue/redis-policy';
import { isMarkedRevoked } from '@weir/queue/revoked-keys';
import { Closer } from '@weir/shared/closer';
import type { Logger } from '@weir/shared/log';
import { explainListening } from '@weir/shared/settings';
import { setTimeout as delay } from 'node:timers/promises';
import { buildApiKeyCache } from './access/api-key-cache.ts';
import { openLastUse } from './access/last-use.ts';
import { buildApp } from './app.ts';
import { CONSOLE_FOLDER } from './console/console.ts';
import { openDatabaseWatch } from './database-watch.ts';
import { buildMetrics, countOutcomes } from './http/metrics.ts';
import { DIRECT_FLUSHES_MAX } from './ingest/direct.ts';
import { Ingest } from './ingest/ingest.ts';
import { PendingClaims } from './ingest/pending-claims.ts';
import { recordFlush, type RecordFlushDeps } from './ingest/record-flush.ts';
import { openRedisWatch } from './ingest/redis-watch.ts';
import { Way } from './ingest/way.ts';
import type { ApiSettings } from './settings.ts';

/** An API that listens. */
export interface RunningApi {
  url: string;
  /** Which schemas it runs on; undefined while Postgres has not been seen. */
  schema(): SchemaRange | undefined;
  /**
   * Takes requests for DRAIN_DELAY_MS more, in which `/readyz` has them sent elsewhere. Then stops listening, answers every request
   * that is inside, and lets go of everything.
   */
  close(): Promise<void>;
}

/** How long a start waits for Redis before it goes on without: events are recorded directly until Redis is there. */
const REDIS_WAIT_MS = 2_000;

/** What tracking looks up are single rows by their key: a few connections carry thousands in a second. */
const LOOKUP_CONNECTIONS = 3;

/** A look-up that takes longer than this would make its client wait for nothing. */
export const LOOKUP_MS_MAX = 1_000;

/** A Redis that takes longer for one small write is no faster than Postgres. */
const PROBE_MS_MAX = 250;

/** Known by nobody: what comes with an API key that was looked up without Redis is looked up once more when Redis is there. */
const NO_EPOCH = '';

/** How the log names that an event's sender was looked up in another epoch than Redis has. chaos reads it. */
const UNSURE = 'unsure';

/** How often it is looked whose queue this is. */
const OWNERSHIP_INTERVAL_MS = 1_000;

/**
 * Starts the API. Throws a SettingsError for a port that is taken, for a Redis that would lose events or belongs to another
 * database, and for a database that is not migrated to this version.
 */
export async function serveApi(
  settings: ApiSettings,
  log: Logger,
  consoleFolder: string = CONSOLE_FOLDER,
  lookupMsMax: number = LOOKUP_MS_MAX,
): Promise<RunningApi> {
  const closer = new Closer();
  let isDraining = false;
  let schema: SchemaRange | undefined;
  try {
    const database = openDatabase(settings.DATABASE_URL, {
      connectionsMax: settings.DATABASE_CONNECTIONS,
      statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
      onConnectionError: (error) => log.warn({ err: error }, 'an idle connection to Postgres was lost'),
    });
    closer.add('the database', () => database.close());
    const lookups = openDatabase(settings.DATABASE_URL, {
      connectionsMax: LOOKUP_CONNECTIONS,
      statementTimeoutMs: lookupMsMax,
      connectTimeoutMs: lookupMsMax,
      onConnectionError: (error) => log.debug({ err: error }, 'an idle connection for look-ups was lost'),
    });
    closer.add('the look-ups', () => lookups.close());
    // Whether Postgres is there is asked on a connection of its own: no crowd of look-ups makes it seem away.
    const probe = openDatabase(settings.DATABASE_URL, {
      connectionsMax: 1,
      statementTimeoutMs: lookupMsMax,
      connectTimeoutMs: lookupMsMax,
      onConnectionError: (error) => log.debug({ err: error }, 'the idle connection of the probe was lost'),
    });
    closer.add('the probe', () => probe.close());
    // Events that Redis does not take are recorded on connections of their own, which are opened by the first of them.
    const recording = openDatabase(settings.DATABASE_URL, {
      connectionsMax: DIRECT_FLUSHES_MAX,
      statementTimeoutMs: DIRECT_MS_MAX,
      connectTimeoutMs: lookupMsMax,
      onConnectionError: (error) => log.debug({ err: error }, 'an idle connection for recording directly was lost'),
    });
    closer.add('the direct way', () => recording.close());
    const keyUse = openLastUse(lookups, 'api_keys', log);
    closer.add('the last use of API keys', () => keyUse.close());
    const tokenUse = openLastUse(lookups, 'service_account_tokens', log);
    closer.add('the last use of tokens', () => tokenUse.close());
    const databaseWatch = openDatabaseWatch(probe, log);
    closer.add('the watch on Postgres', () => databaseWatch.close());

    const address = { url: settings.REDIS_URL, prefix: settings.QUEUE_PREFIX, copies: settings.REDIS_COPIES };
    const queue = openProducer(address, settings.REDIS_COMMAND_TIMEOUT_MS, (error) =>
      log.warn({ err: error }, 'the connection to Redis was lost'),
    );
    closer.add('Redis', () => disconnect(queue));
    await checkPolicy(queue, log);
    const metrics = buildMetrics({
      bufferDepth: () => ingest.depth,
      isDirect: () => ingest.isDirect(),
      queue: () => watch.state(),
    });
    const ownership = new Ownership({
      queue,
      database: {
        async requireSchema() {
          schema = await requireSchema(probe);
          await raiseAhead(probe, settings.TIMESTAMP_AHEAD_SECONDS);
        },
        identify: (drained) => identify(probe, drained),
        raiseTotals: (remembered) => raiseTotals(lookups, remembered),
      },
      log,
      intervalMs: OWNERSHIP_INTERVAL_MS,
      onFault: (fault) => metrics.faults.inc({ fault }),
    });
    closer.add('the watch on the queue', () => ownership.close());
    await ownership.requireOurs();

    // Each flush that is recorded while the standby is away leaves its session in Postgres, until there is none left for reading.
    let hasStandby = true;
    const serverWatch = openServerWatch(probe, settings.DATABASE_COPIES, log, (state) => {
      metrics.showServer(state);
      hasStandby = !(state.stalledSessions >= STALLED_SESSIONS_MAX);
    });
    closer.add('the watch on the server of Postgres', () => serverWatch.close());
    const claims = new PendingClaims({
      list: (page) => listPendingClaims(lookups.pool, page),
      awaitStandby: () => awaitStandby(lookups.kysely),
      write: async (pending) => writeClaims(queue, await ownership.epoch(), pending, watch.state().claimSeconds),
      forget: (told) => forgetClaims(lookups.pool, told),
      isWorthIt: () => !way.isDirect() && databaseWatch.away() === undefined,
      log,
    });
    closer.add('the pending claims', () => claims.close());
    const way = new Way({
      probe: () => probeRedis(queue, PROBE_MS_MAX),
      async tellRedis() {
        // Without Postgres nobody can take events but Redis. It is told once Postgres is back.
        if (ingest.isPostgresOpen()) await claims.tellAll();
      },
      isPostgresOpen: () => ingest.isPostgresOpen(),
      log,
    });
    closer.add('the way', () => way.close());
    const jobs = openRecordJobs(queue, log, () => metrics.enqueueFailures.inc());
    closer.add('the jobs', () => jobs.close());
    const billingJobs = openBillingJobs(queue, log);
    closer.add('the jobs of billing', () => billingJobs.close());
    const watch = openRedisWatch(queue, log, {
      claimSecondsMax: settings.IDEMPOTENCY_CLAIM_SECONDS,
      batchesMax: settings.QUEUE_BATCHES_MAX,
      onClaimsLetGo: (claims) => metrics.claimsLetGo.inc(claims),
      onAway: (because) => way.leave(because),
    });
    closer.add('the watch on Redis', () => watch.close());
    const unlessAway = async <Value>(ask: () => Promise<Value>, whileAway: Value): Promise<Value> => {
      if (way.isDirect()) return whileAway;
      try {
        return await ask();
      } catch (error) {
        if (isRedisAway(error) || isRefusedByRedis(error)) return whileAway;
        throw error;
      }
    };
    const apiKeys = buildApiKeyCache({
      database: lookups,
      epoch: () => unlessAway(() => ownership.epoch(), NO_EPOCH),
      isRevoked: (apiKeyId) => unlessAway(() => isMarkedRevoked(queue, apiKeyId), false),
      log,
    });
    const directly: RecordFlushDeps = {
      database: recording,
      queue,
      ownership,
      isRedisThere: () => way.isRedisThere(),
      makesClaims: () => watch.state().claimSeconds > 0,
      tell: (pending) => claims.tell(pending),
      log,
    };
    const ingest = new Ingest({
      refusal: () => ownership.refusal(),
      isDirect: (organizationId) => way.isDirect() || !watch.hasRoom(organizationId),
      refusalOfRedis: (organizationId) => watch.refusal(organizationId),
      leaveRedis: ({ cause, message }) => way.leave(cause instanceof Error ? cause.message : message),
      direct: {
        record: (flush, isPerhapsStaged) => recordFlush(directly, flush, isPerhapsStaged),
        isPostgresAway: () => databaseWatch.away() !== undefined || !hasStandby,
        onAnswered: (answers) => countOutcomes(metrics.directEvents, answers),
      },
      admit: (batch, candidates) => admit(queue, batch, candidates, watch.state().claimSeconds),
      enqueue: (batch) => jobs.enqueue(batch),
      onAdmitted: (admissions) => countOutcomes(metrics.admissions, admissions),
      onUnsure(epochs, isDirect) {
        const message = 'Redis has no word of deleted API keys: a flush is recorded directly';
        if (isDirect) log.warn({ way: 'direct', because: UNSURE }, message);
        apiKeys.lookUpAgain(({ epoch }) => epochs.has(epoch));
      },
    });
    closer.add('the buffer', () => ingest.close());

    const app = await buildApp({
      settings,
      database,
      lookups,
      probe,
      databaseWatch,
      queue,
      apiKeys,
      keyUse,
      tokenUse,
      ownership,
      log,
      metrics,
      ingest,
      isRedisAway: () => way.isDirect(),
      billingJobs,
      consoleFolder,
      schema: () => schema,
      isDraining: () => isDraining,
    });
    closer.add('the server', () => app.close());
    const { PORT: port, HOST: host } = settings;
    const url = await explainListening(app.listen({ port, host }), { setting: 'PORT', port, host });
    return {
      url,
      schema: () => schema,
      async close() {
        isDraining = true;
        if (settings.DRAIN_DELAY_MS > 0) await delay(settings.DRAIN_DELAY_MS);
        await closer.close();
      },
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

async function checkPolicy(queue: QueueConnection, log: Logger): Promise<void> {
  if (!(await untilReady(queue, REDIS_WAIT_MS))) {
    log.warn('Redis cannot be reached yet: events are recorded directly until it can');
    return;
  }
  // What it only warns of is said by the watch.
  await requireRedisPolicy(queue);
}
