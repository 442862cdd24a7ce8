// Delivers webhooks beside recording, with connections of its own.

import { openDatabase, type Database } from '@weir/db/database';
import { findEndpointsWithWork, readWebhookState } from '@weir/db/webhooks/turns';
import { disconnect, openWorker, type QueueAddress } from '@weir/queue/connection';
import type { JobWorker } from '@weir/queue/job-worker';
import { openWebhookWorker, type WebhookJobs } from '@weir/queue/webhook-jobs';
import type { Logger } from '@weir/shared/log';
import type { Networks } from '@weir/shared/networks';
import { SparseLog } from '@weir/shared/sparse-log';
import { watchOldest } from '../watch-oldest.ts';
import type { WorkerMetrics } from '../worker-metrics.ts';
import { deliverTurn } from './deliver.ts';
import { EndpointPlaces } from './endpoint-places.ts';
import { Pace } from './pace.ts';
import { openNameLookup, type NameLookup } from './receiver-address.ts';
import { Sender } from './send-request.ts';

export interface WebhookOptions {
  address: QueueAddress;
  databaseUrl: string;
  /** Endpoints at the same time. 0: it leaves them to other workers. */
  concurrency: number;
  /** So many requests begin in a second at most. */
  ratePerSecond: number;
  statementTimeoutMs: number;
  allowedNetworks: Networks;
  jobs: Pick<WebhookJobs, 'add'>;
  log: Logger;
  metrics: WorkerMetrics;
  /** Instead of DNS. */
  lookup?: NameLookup;
}

/** Turns need a connection for moments: these are enough for all of them, and one for the metrics. */
const CONNECTIONS = 4;

/** How often it is looked what waits, for the metrics. */
const STATE_INTERVAL_MS = 10_000;

/** A stop waits so long for answers. What has none by then is sent again by another worker. */
const CLOSE_MS = 3_000;

/** Adds a job for each endpoint that something is to be sent to by now. */
export async function addWebhookWork(
  { kysely }: Pick<Database, 'kysely'>,
  jobs: Pick<WebhookJobs, 'add'>,
): Promise<void> {
  await jobs.add(await findEndpointsWithWork(kysely));
}

/** Takes jobs at once: it is told not to where the queue belongs to another database. */
export function openWebhooks(options: WebhookOptions): JobWorker {
  const { log, metrics, concurrency } = options;
  const database = openDatabase(options.databaseUrl, {
    connectionsMax: CONNECTIONS,
    statementTimeoutMs: options.statementTimeoutMs,
    onConnectionError: (error) => log.warn({ err: error }, 'an idle connection of webhooks to Postgres was lost'),
  });
  const queue = openWorker(options.address, (error) =>
    log.warn({ err: error }, 'webhooks lost their connection to Redis'),
  );
  const closing = new AbortController();
  const sparseLog = new SparseLog();
  const lookup = options.lookup ?? openNameLookup();
  const sender = new Sender({ lookup, allowed: options.allowedNetworks });
  const places = new EndpointPlaces(concurrency);
  const pace = new Pace(options.ratePerSecond);
  const deps = { database, sender, places, pace, log, metrics, closing: closing.signal };
  const worker =
    concurrency === 0
      ? undefined
      : openWebhookWorker(queue, {
          concurrency,
          perform: (job) => deliverTurn(deps, job),
          onLeft(job) {
            options.jobs.add([job]).catch((error: unknown) => {
              log.warn({ err: error }, 'webhooks could not go on at once; what is left will be found again');
            });
          },
          onFailed(error, job) {
            const fields = { err: error, organization_id: job?.organizationId, webhook_endpoint: job?.endpointId };
            sparseLog.warn(log, error.message, fields, 'webhooks could not be delivered; they will be sent again');
          },
          onError: (error) => log.warn({ err: error }, 'webhooks met an error outside any job'),
        });
  const endWatch = watchOldest(metrics.webhookOldestSeconds, {
    intervalMs: STATE_INTERVAL_MS,
    look: () => showState(database, metrics),
    onFailed: (error) => log.warn({ err: error }, 'what of webhooks waits could not be read'),
  });
  return {
    take: (isOn) => worker?.take(isOn),
    async close() {
      endWatch();
      closing.abort();
      const late = setTimeout(() => sender.giveUp(), CLOSE_MS);
      await worker?.close();
      clearTimeout(late);
      sender.close();
      disconnect(queue);
      await database.close();
    },
  };
}

/** Returns how long the oldest waits. */
async function showState(database: Database, metrics: WorkerMetrics): Promise<number> {
  const { failing, disabled, oldestSeconds } = await readWebhookState(database.kysely);
  metrics.webhookEndpoints.set({ state: 'failing' }, failing);
  metrics.webhookEndpoints.set({ state: 'disabled' }, disabled);
  return oldestSeconds;
}
