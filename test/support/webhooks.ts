// A Weir whose worker sends webhooks to receivers on this machine, and what tests do with these.

import { appendFeed } from '@weir/db/billing/feed';
import type { FeedType } from '@weir/billing/feed-events';
import type { Database } from '@weir/db/database';
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { until, type Answer, type Organization, type Weir } from './harness.ts';
import { openReceiver, type Answering, type ReceivedWebhook, type Receiver } from './receiver.ts';
import { openTestDatabase } from './test-database.ts';
import { ownWeir } from './use-weir.ts';

export interface Webhooks {
  weir: Weir;
  /** There from `beforeAll` on. */
  database(): Database;
  /** Opens a receiver, which is closed with the file. */
  receiving(answer?: Answering): Promise<Receiver>;
  call(admin: Organization, method: string, path: string, body?: unknown): Promise<Answer>;
  createEndpoint(admin: Organization, url: string, more?: object): Promise<{ id: string; secret: string }>;
  /** Appends events to the feed. */
  happen(organization: Organization, count: number, type?: FeedType): Promise<void>;
  // oxlint-disable-next-line typescript/no-explicit-any
  deliveriesOf(admin: Organization, id: string, query?: string): Promise<any>;
  /** As if all that waits had waited long enough. */
  passTime(endpointId: string): Promise<void>;
}

/** A Weir of a file's own. */
export function ownWebhooks(): Webhooks {
  const networks = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const weir = ownWeir({
    api: networks,
    worker: { ...networks, WEBHOOK_CONCURRENCY: '16', WEBHOOK_INTERVAL_MS: '100', WEBHOOK_RATE_MAX: '5000' },
  });
  let database: Database;
  const receivers: Receiver[] = [];
  beforeAll(() => {
    database = openTestDatabase(weir);
  });
  afterAll(async () => {
    for (const receiver of receivers) await receiver.close();
    await database.close();
  });
  const call: Webhooks['call'] = (admin, method, path, body) =>
    weir.request(method, `/api/v1${path}`, { session: admin.session, ...(body !== undefined && { body }) });
  return {
    weir,
    database: () => database,
    async receiving(answer) {
      const receiver = await openReceiver(answer);
      receivers.push(receiver);
      return receiver;
    },
    call,
    async createEndpoint(admin, url, more = {}) {
      const { status, body } = await call(admin, 'POST', '/webhook-endpoints', { url, ...more });
      expect(status).toBe(201);
      return body;
    },
    async happen({ id }, count, type = 'invoice.created') {
      const events = Array.from({ length: count }, (_, n) => ({ type, actor: 'weir', data: { n } }));
      await database.kysely.transaction().execute((transaction) => appendFeed(transaction, id, events));
    },
    async deliveriesOf(admin, id, query = '') {
      const { body } = await call(admin, 'GET', `/webhook-endpoints/${id}/deliveries${query}`);
      return body.data;
    },
    async passTime(endpointId) {
      await weir.pool.query(
        `UPDATE webhook_deliveries SET next_attempt_at = now() WHERE endpoint_id = $1 AND next_attempt_at > now()`,
        [endpointId],
      );
    },
  };
}

export const sequences = (webhooks: ReceivedWebhook[]): (number | null)[] => webhooks.map(({ sequence }) => sequence);

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

export const came = (receiver: Receiver, count: number): Promise<void> =>
  until(() => receiver.received.length >= count, `${count} webhooks came`);

export const signatureOf = (secret: string, { headers, body }: ReceivedWebhook): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`)
    .digest('base64')}`;
