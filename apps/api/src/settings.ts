import { databaseUrl } from '@weir/db/database-url';
import { TIMESTAMP_AHEAD_SECONDS_MAX } from '@weir/shared/limits';
import {
  auditLogDays,
  host,
  logLevel,
  networks,
  port,
  proxies,
  publicUrl,
  queuePrefix,
  redisUrl,
  smtpUrl,
  wholeNumber,
} from '@weir/shared/settings';
import { z } from 'zod';

const settings = z.object({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  PORT: port.default(3000),
  HOST: host.default('127.0.0.1'),
  PUBLIC_URL: publicUrl.optional(),
  TRUST_PROXY: proxies.optional(),
  EMBED_ANCESTORS: z
    .string()
    .regex(
      /^(\*|'none'|none|https?:\/\/[^\s;,']+( https?:\/\/[^\s;,']+)*)$/,
      'must be the origins of your apps, such as https://app.example.com, separated by spaces; or *; or none',
    )
    // Whoever reads it from a file takes quotes off; the header has them.
    .transform((text) => (text === 'none' ? "'none'" : text))
    .default('*'),
  SMTP_URL: smtpUrl.optional(),
  SMTP_FROM: z
    .string()
    .regex(
      /^(?:[^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
      'must be an address such as Weir <weir@example.com>',
    )
    .optional(),
  WEBHOOK_ALLOWED_NETWORKS: networks,
  SIGNUP: z.enum(['first', 'open', 'closed'], { error: 'must be first, open or closed' }).default('first'),
  LOG_LEVEL: logLevel.default('info'),
  DATABASE_CONNECTIONS: wholeNumber(1, 1000).default(10),
  DATABASE_STATEMENT_TIMEOUT_MS: wholeNumber(100, 600_000).default(7_000),
  DATABASE_COPIES: wholeNumber(1, 2).default(1),
  REDIS_COPIES: wholeNumber(1, 2).default(1),
  REQUESTS_IN_FLIGHT_MAX: wholeNumber(1, 10_000).default(100),
  EVENT_LOOP_DELAY_MS_MAX: wholeNumber(10, 60_000).default(200),
  QUEUE_BATCHES_MAX: wholeNumber(1, 1_000_000_000).default(500_000),
  RATE_LIMIT_EVENTS_PER_KEY: wholeNumber(0, 1_000_000_000).default(0),
  RATE_LIMIT_TRACKING_PER_ADDRESS: wholeNumber(0, 1_000_000_000).default(0),
  RATE_LIMIT_REQUESTS_PER_KEY: wholeNumber(0, 1_000_000_000).default(0),
  RATE_LIMIT_REQUESTS_PER_ADDRESS: wholeNumber(0, 1_000_000_000).default(0),
  RATE_LIMIT_SIGNUPS_PER_ADDRESS: wholeNumber(0, 1_000_000_000).default(20),
  READS_IN_FLIGHT_PER_CALLER: wholeNumber(1, 1_000).default(2),
  READ_BUCKETS_PER_CALLER: wholeNumber(100, 1_000_000_000).default(20_000),
  REDIS_COMMAND_TIMEOUT_MS: wholeNumber(50, 60_000).default(900),
  QUEUE_PREFIX: queuePrefix,
  IDEMPOTENCY_CLAIM_SECONDS: wholeNumber(60, 31_536_000).default(86_400),
  TIMESTAMP_AHEAD_SECONDS: wholeNumber(0, TIMESTAMP_AHEAD_SECONDS_MAX).default(86_400),
  BODY_BYTES_MAX: wholeNumber(16_384, 67_108_864).default(1_048_576),
  BATCH_BODY_BYTES_MAX: wholeNumber(16_384, 67_108_864).default(10_485_760),
  BODIES_BYTES_MAX: wholeNumber(16_384, 4_294_967_296).default(67_108_864),
  CONNECTIONS_MAX: wholeNumber(0, 1_000_000).default(0),
  CONNECTIONS_PER_ADDRESS_MAX: wholeNumber(0, 1_000_000).default(1_000),
  REQUEST_TIMEOUT_MS: wholeNumber(1_000, 600_000).default(30_000),
  ANSWER_TIMEOUT_MS: wholeNumber(100, 600_000).default(30_000),
  AUDIT_LOG_DAYS: auditLogDays,
  DRAIN_DELAY_MS: wholeNumber(0, 600_000).default(5_000),
  DRAIN_TIMEOUT_MS: wholeNumber(100, 600_000).default(10_000),
});

/** Everything that can be set on the API. docs/configuration.md tells what each one is for. */
export const apiSettings = settings.superRefine(({ SMTP_URL, SMTP_FROM, PUBLIC_URL }, { addIssue }) => {
  const refuse = (name: string, message: string) => addIssue({ code: 'custom', path: [name], message });
  if (SMTP_URL !== undefined && SMTP_FROM === undefined) refuse('SMTP_FROM', 'SMTP_URL needs the sender of its mails');
  if (SMTP_FROM !== undefined && SMTP_URL === undefined) refuse('SMTP_URL', 'SMTP_FROM is for the mails that it sends');
  // Anybody may ask for a mail with a link: it must not lead to where that request says it was sent.
  if (SMTP_URL !== undefined && PUBLIC_URL === undefined)
    refuse('PUBLIC_URL', 'mails need the address that links lead to');
});

export type ApiSettings = z.output<typeof apiSettings>;
