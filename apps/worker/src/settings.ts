import { databaseUrl } from '@weir/db/database-url';
import {
  auditLogDays,
  host,
  logLevel,
  networks,
  port,
  queuePrefix,
  redisUrl,
  wholeNumber,
} from '@weir/shared/settings';
import { z } from 'zod';

/** Everything that can be set on a worker. docs/configuration.md tells what each one is for. */
export const workerSettings = z.object({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  WORKER_PORT: port.default(3001),
  HOST: host.default('127.0.0.1'),
  LOG_LEVEL: logLevel.default('info'),
  WORKER_CONCURRENCY: wholeNumber(1, 64).default(4),
  BILLING_CONCURRENCY: wholeNumber(0, 16).default(1),
  BILLING_INTERVAL_MS: wholeNumber(100, 600_000).default(10_000),
  BILLING_STATEMENT_TIMEOUT_MS: wholeNumber(1_000, 600_000).default(60_000),
  DATABASE_STATEMENT_TIMEOUT_MS: wholeNumber(100, 600_000).default(7_000),
  DATABASE_COPIES: wholeNumber(1, 2).default(1),
  REDIS_COPIES: wholeNumber(1, 2).default(1),
  QUEUE_PREFIX: queuePrefix,
  MOVES_INTERVAL_MS: wholeNumber(100, 600_000).default(2_000),
  SWEEP_INTERVAL_MS: wholeNumber(100, 600_000).default(3_000),
  SWEEP_AGE_MS: wholeNumber(100, 600_000).default(5_000),
  WEBHOOK_CONCURRENCY: wholeNumber(0, 256).default(32),
  WEBHOOK_RATE_MAX: wholeNumber(1, 100_000).default(100),
  WEBHOOK_INTERVAL_MS: wholeNumber(100, 600_000).default(1_000),
  WEBHOOK_ALLOWED_NETWORKS: networks,
  AUDIT_LOG_DAYS: auditLogDays,
  DRAIN_TIMEOUT_MS: wholeNumber(100, 600_000).default(10_000),
});

export type WorkerSettings = z.output<typeof workerSettings>;
