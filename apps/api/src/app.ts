// Every plugin and every route of the API, in order, in one place. Nothing is opened here: serve.ts opens it, and passes it in.

import cookie from '@fastify/cookie';
import fastify, { LogController, type FastifyBaseLogger } from 'fastify';
import type { BillingJobs } from '@weir/queue/billing-jobs';
import type { Database } from '@weir/db/database';
import { pingDatabase } from '@weir/db/database';
import type { SchemaRange } from '@weir/db/installation';
import { findClaims } from '@weir/queue/claims';
import { ping, type QueueConnection } from '@weir/queue/connection';
import type { Ownership } from '@weir/queue/ownership';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { randomUUID } from 'node:crypto';
import type { ApiKeyCache } from './access/api-key-cache.ts';
import { apiKeyRoutes } from './access/api-key-routes.ts';
import { useAudit } from './access/audit.ts';
import { auditLogRoutes } from './access/audit-log-routes.ts';
import { askGuardsAgain } from './access/guards-again.ts';
import type { LastUse } from './access/last-use.ts';
import { buildGuards } from './access/authenticate.ts';
import { doorRoute } from './access/door-route.ts';
import { invitationRoutes } from './access/invitation-routes.ts';
import { buildSendMail } from './access/mail.ts';
import { ownSessionRoutes } from './access/own-session-routes.ts';
import { passwordRoutes } from './access/password-routes.ts';
import { buildPasswordTurns } from './access/password-turns.ts';
import { serviceAccountRoutes } from './access/service-account-routes.ts';
import { sessionRoutes } from './access/session-routes.ts';
import { buildThrottle } from './access/throttle.ts';
import { userRoutes } from './access/user-routes.ts';
import { alertRoutes } from './alerts/alert-routes.ts';
import { invoiceLineListRoute } from './billing/invoice-line-list-route.ts';
import { invoiceRoutes } from './billing/invoice-routes.ts';
import { finalizeDraftsRoute } from './billing/finalize-drafts-route.ts';
import { invoiceStateRoutes } from './billing/invoice-state-routes.ts';
import { lineRoutes } from './billing/line-routes.ts';
import { paymentRoutes } from './billing/payment-routes.ts';
import { upcomingRoutes } from './billing/upcoming-routes.ts';
import { chargeRoutes } from './billing/charge-routes.ts';
import { creditLedgerRoutes } from './billing/credit-ledger-routes.ts';
import { creditRoutes } from './billing/credit-routes.ts';
import { entitlementRoutes } from './billing/entitlement-routes.ts';
import { evaluateRoute } from './billing/evaluate-route.ts';
import { feedRoutes } from './billing/feed-routes.ts';
import { settingsRoutes } from './billing/settings-routes.ts';
import { planChangeRoutes } from './billing/plan-change-routes.ts';
import { subscriptionChangeRoutes } from './billing/subscription-change-routes.ts';
import { previewSubscriptionRoute } from './billing/preview-subscription-route.ts';
import { subscriptionRoutes } from './billing/subscription-routes.ts';
import { unbilledUsageRoute } from './billing/unbilled-usage-route.ts';
import { customerRoutes } from './catalog/customer-routes.ts';
import { featureRoutes } from './catalog/feature-routes.ts';
import { meterRoutes } from './catalog/meter-routes.ts';
import { planFeatureRoutes } from './catalog/plan-feature-routes.ts';
import { planRoutes } from './catalog/plan-routes.ts';
import { isForConsole, useConsole } from './console/console.ts';
import { invoicePdfRoute } from './pdf/invoice-pdf-route.ts';
import { docsRoutes } from './docs/docs-routes.ts';
import type { App } from './http/typed-app.ts';
import { boundBodies } from './http/body/bodies.ts';
import { answerBrokenConnection } from './http/connection/broken-connection.ts';
import { useCompression } from './http/connection/compression.ts';
import { limitConnections } from './http/connection/connection-limits.ts';
import { watchConnections } from './http/connection/connections.ts';
import { useCrossOrigin } from './http/connection/cross-origin.ts';
import { useDeprecations } from './http/openapi/deprecations.ts';
import { useDrain } from './http/connection/drain.ts';
import { tellOfUnnamedProxies, useForwardedFor } from './http/connection/forwarded-for.ts';
import { healthRoutes } from './system/health-routes.ts';
import { systemRoute } from './system/system-route.ts';
import { versionRoute } from './system/version-route.ts';
import { useJson } from './http/body/json.ts';
import { useOpenapi } from './http/openapi/openapi.ts';
import { REQUEST_ID, useRequestIds } from './http/connection/request-ids.ts';
import { useSecurityHeaders } from './http/connection/security-headers.ts';
import { answerFrameworkError, useProblems, validatorCompiler } from './http/problem.ts';
import { useStrictHttp } from './http/connection/strict-http.ts';
import { refuseUnknownFields } from './http/unknown-fields.ts';
import { addGauges, useMetrics, type Metrics } from './http/metrics.ts';
import { usePressure } from './http/load/pressure.ts';
import { markRepeats, useFirstAnswers, useRepeats } from './http/writing/repeats.ts';
import { useReadBudget } from './http/load/read-budget.ts';
import { useRateLimits } from './http/load/rate-limits.ts';
import { Turns } from './http/load/turns.ts';
import { useVersions } from './http/writing/versions.ts';
import { dropSlowReaders } from './http/connection/slow-readers.ts';
import type { DatabaseWatch } from './database-watch.ts';
import type { Ingest } from './ingest/ingest.ts';
import { buildMeterCache } from './ingest/meter-cache.ts';
import { trackRoutes } from './ingest/track.ts';
import type { ApiSettings } from './settings.ts';
import { correctionRoutes } from './usage/correction-routes.ts';
import { eventRoutes } from './usage/event-routes.ts';
import { overviewRoute } from './usage/overview-route.ts';
import { usageMoveRoutes } from './usage/usage-move-routes.ts';
import { usageRoutes } from './usage/usage-routes.ts';
import { embedRoute } from './widget/embed.ts';
import { widgetAccountRoutes } from './widget/widget-account-routes.ts';
import { widgetInvoiceRoutes } from './widget/widget-invoice-routes.ts';
import { widgetRoutes } from './widget/widget-routes.ts';
import { deliveryRoutes } from './webhooks/delivery-routes.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';
import { webhookOperations } from './webhooks/webhook-schemas.ts';
import { widgetSettingsRoutes } from './widget/widget-settings-routes.ts';

/** Resources of the API; the caller opens and closes them. */
export interface AppDeps {
  settings: ApiSettings;
  database: Database;
  /** For what tracking looks up: connections of its own, so that it never waits for those who read. */
  lookups: Database;
  /** For asking whether Postgres is there: a connection of its own. */
  probe: Database;
  databaseWatch: DatabaseWatch;
  /** A producer's connection: it fails at once while Redis is away. */
  queue: QueueConnection;
  apiKeys: ApiKeyCache;
  keyUse: LastUse;
  tokenUse: LastUse;
  ownership: Ownership;
  log: FastifyBaseLogger;
  metrics: Metrics;
  ingest: Ingest;
  /** Whether Redis is known not to answer, so that nobody need wait for it. */
  isRedisAway: () => boolean;
  billingJobs: Pick<BillingJobs, 'wakeRun'>;
  /** Where the console's build is, if there is one. */
  consoleFolder: string;
  /** Which schemas it runs on. */
  schema: () => SchemaRange | undefined;
  isDraining: () => boolean;
}

/** A request that waits holds a socket and some kilobytes, and nothing of what one needs that is worked on. */
const WAITING_FACTOR = 10;

export async function buildApp(deps: AppDeps): Promise<App> {
  const { settings, database, lookups, queue, apiKeys, ownership, log, metrics, ingest } = deps;
  const app = fastify({
    loggerInstance: log,
    // One line per request costs almost half of the throughput; slow and failed requests are logged on their own.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: REQUEST_ID }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    trustProxy: settings.TRUST_PROXY ?? false,
    bodyLimit: settings.BODY_BYTES_MAX,
    requestTimeout: settings.REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: 512 },
    http: {
      // Node would answer a request without Host by itself, without a word; see http/connection/strict-http.ts.
      requireHostHeader: false,
      // How late a request that takes too long is noticed; by default only every 30 s.
      connectionsCheckingInterval: 1_000,
      headersTimeout: settings.REQUEST_TIMEOUT_MS,
    },
    // While it closes, a request that still arrives on an open connection is served: a drain drops nothing.
    return503OnClosing: false,
    clientErrorHandler: answerBrokenConnection,
    frameworkErrors: answerFrameworkError,
  }).withTypeProvider<ZodTypeProvider>();

  app.setValidatorCompiler(validatorCompiler);
  // Answers are shaped by the handlers and checked by the tests; checking each one again here would cost every request.
  app.setSerializerCompiler(() => JSON.stringify);
  useSecurityHeaders(app, settings.PUBLIC_URL);
  useCrossOrigin(app);
  useRequestIds(app);
  tellOfUnnamedProxies(app, settings.TRUST_PROXY);
  if (settings.TRUST_PROXY !== undefined) useForwardedFor(app);
  useProblems(app, (request, reply) => (isForConsole(request) ? consolePage?.(reply) : undefined));
  markRepeats(app);
  const connections = watchConnections(app);
  limitConnections(app, {
    connectionsMax: settings.CONNECTIONS_MAX,
    perAddressMax: settings.CONNECTIONS_PER_ADDRESS_MAX,
    trustProxy: settings.TRUST_PROXY,
    databaseConnections: settings.DATABASE_CONNECTIONS,
    onShed: () => metrics.shed.inc({ reason: 'connections' }),
  });
  useStrictHttp(app);
  useDrain(app, connections, { timeoutMs: settings.DRAIN_TIMEOUT_MS, isDraining: deps.isDraining });
  dropSlowReaders(app, connections, settings.ANSWER_TIMEOUT_MS);
  useJson(app);
  useMetrics(app, metrics, connections);
  const pressure = usePressure(app, connections, {
    othersMax: settings.REQUESTS_IN_FLIGHT_MAX,
    delayMsMax: settings.EVENT_LOOP_DELAY_MS_MAX,
    databaseAway: () => deps.databaseWatch.away(),
    onShed: (reason) => metrics.shed.inc({ reason }),
  });
  const bodies = boundBodies(app, connections, {
    bytesMax: settings.BODIES_BYTES_MAX,
    largestBytes: Math.max(settings.BATCH_BODY_BYTES_MAX, settings.BODY_BYTES_MAX),
    onShed: () => metrics.shed.inc({ reason: 'bodies' }),
  });
  addGauges(metrics.registry, [
    ['weir_connections', 'Connections that are open.', () => connections.count()],
    ['weir_requests_in_flight', 'Requests other than tracking that are worked on.', () => pressure.slotsTaken()],
    ['weir_bodies_bytes', 'Bytes of larger bodies that are held for requests under way.', () => bodies.bytes()],
  ]);
  const rateLimits = useRateLimits(app, queue, {
    eventsPerKey: settings.RATE_LIMIT_EVENTS_PER_KEY,
    trackingPerAddress: settings.RATE_LIMIT_TRACKING_PER_ADDRESS,
    requestsPerKey: settings.RATE_LIMIT_REQUESTS_PER_KEY,
    requestsPerAddress: settings.RATE_LIMIT_REQUESTS_PER_ADDRESS,
    isRedisAway: deps.isRedisAway,
  });
  askGuardsAgain(app);
  refuseUnknownFields(app);
  useRepeats(app);
  const tagged = useVersions(app);
  const deprecated = useDeprecations(app);
  useAudit(app, database);
  useFirstAnswers(app, database);
  const budget = useReadBudget(
    app,
    { connections, pressure },
    {
      underWayMax: settings.READS_IN_FLIGHT_PER_CALLER,
      connections: settings.DATABASE_CONNECTIONS,
      bucketsPerSecond: settings.READ_BUCKETS_PER_CALLER,
      waitingMax: settings.REQUESTS_IN_FLIGHT_MAX * WAITING_FACTOR,
    },
  );
  addGauges(metrics.registry, [
    ['weir_requests_waiting', "Requests that wait for their caller's share.", () => budget.waiting],
  ]);
  await useCompression(app);
  // Only the guards read cookies, so that tracking does not pay for it.
  await app.register(cookie, { hook: false });
  await useOpenapi(app, settings.PUBLIC_URL, webhookOperations(), tagged, deprecated);
  const consolePage = await useConsole(app, deps.consoleFolder);
  const { keyUse, tokenUse } = deps;
  const guards = buildGuards(app, { database, apiKeys, keyUse, tokenUse, publicUrl: settings.PUBLIC_URL });
  const turns = new Turns();
  const throttle = buildThrottle(queue, {
    signupsPerAddress: settings.RATE_LIMIT_SIGNUPS_PER_ADDRESS,
    isRedisAway: deps.isRedisAway,
  });
  const passwords = buildPasswordTurns(throttle, pressure, () => metrics.shed.inc({ reason: 'passwords' }));
  addGauges(metrics.registry, [
    ['weir_passwords_waiting', 'Requests that wait for their password to be hashed.', () => passwords.waiting()],
  ]);
  const people = {
    database,
    guards,
    throttle,
    passwords,
    sendMail: buildSendMail(settings),
    publicUrl: settings.PUBLIC_URL,
  };

  healthRoutes(app, {
    postgres: () => pingDatabase(deps.probe),
    redis: () => ping(queue),
    shutBecause: () => ownership.problem() ?? ingest.refusal()?.message,
    schema: deps.schema,
    isDirect: () => ingest.isDirect(),
    isDraining: deps.isDraining,
  });
  versionRoute(app);
  systemRoute(app, {
    guards,
    database,
    queue,
    postgres: () => pingDatabase(deps.probe),
    redis: () => ping(queue),
    isDirect: () => ingest.isDirect(),
  });
  doorRoute(app, { db: database.kysely, signup: settings.SIGNUP, sendsMail: people.sendMail !== undefined });
  sessionRoutes(app, { database, guards, throttle, passwords, settings });
  ownSessionRoutes(app, { database, guards });
  passwordRoutes(app, people);
  invitationRoutes(app, people);
  userRoutes(app, { database, guards });
  auditLogRoutes(app, { database, guards, keptDays: settings.AUDIT_LOG_DAYS });
  apiKeyRoutes(app, { database, queue, guards });
  serviceAccountRoutes(app, { database, guards });
  featureRoutes(app, { database, guards, turns });
  meterRoutes(app, { database, guards });
  planRoutes(app, { database, guards });
  planFeatureRoutes(app, { database, guards });
  customerRoutes(app, { database, guards });
  chargeRoutes(app, { database, guards });
  evaluateRoute(app, { database, guards });
  settingsRoutes(app, { database, guards });
  previewSubscriptionRoute(app, { database, guards, turns });
  subscriptionRoutes(app, { database, queue, guards, turns, wakeRun: deps.billingJobs.wakeRun });
  subscriptionChangeRoutes(app, { database, guards });
  creditRoutes(app, { database, guards });
  creditLedgerRoutes(app, { database, guards });
  entitlementRoutes(app, { database, guards, queue });
  feedRoutes(app, { database, guards });
  webhookRoutes(app, { database, guards, allowedNetworks: settings.WEBHOOK_ALLOWED_NETWORKS });
  deliveryRoutes(app, { database, guards });
  alertRoutes(app, { database, guards });
  unbilledUsageRoute(app, { database, guards });
  trackRoutes(app, {
    guards,
    apiKeys,
    ingest,
    findHolders: async (candidates) => (deps.isRedisAway() ? new Map() : await findClaims(queue, candidates)),
    rateLimits,
    meters: buildMeterCache(lookups, log),
    read: { keys: queue.keys, timestampAheadSeconds: settings.TIMESTAMP_AHEAD_SECONDS },
    turns,
    bodyBytesMax: settings.BODY_BYTES_MAX,
    batchBodyBytesMax: settings.BATCH_BODY_BYTES_MAX,
    onRefused: (reason, events) => metrics.refusedEvents.inc({ reason }, events),
  });
  invoiceRoutes(app, { database, guards, turns });
  invoicePdfRoute(app, { database, guards, turns });
  invoiceStateRoutes(app, { database, guards });
  paymentRoutes(app, { database, guards });
  finalizeDraftsRoute(app, { database, guards });
  lineRoutes(app, { database, guards, turns });
  invoiceLineListRoute(app, { database, guards, turns });
  upcomingRoutes(app, { database, guards, turns });
  planChangeRoutes(app, { database, guards, turns });
  const eventDeps = { guards, database, queue, ingest, aheadSeconds: settings.TIMESTAMP_AHEAD_SECONDS };
  eventRoutes(app, eventDeps);
  correctionRoutes(app, eventDeps);
  overviewRoute(app, { guards, database, queue });
  usageRoutes(app, { database, guards, turns });
  usageMoveRoutes(app, { database, guards });
  widgetRoutes(app, { database, queue, guards, turns });
  widgetInvoiceRoutes(app, { database, guards, turns });
  widgetAccountRoutes(app, { database, guards });
  widgetSettingsRoutes(app, { database, guards });
  embedRoute(app, settings.EMBED_ANCESTORS);
  docsRoutes(app);
  return app;
}
