// Turns of endpoints, one after the other, as a test asks for them: no worker has any beside them.

import type { FeedType } from '@weir/billing/feed-events';
import { appendFeed } from '@weir/db/billing/feed';
import type { Database } from '@weir/db/database';
import { Networks } from '@weir/shared/networks';
import { openNameLookup } from '@weir/worker/webhooks/receiver-address';
import { Sender } from '@weir/worker/webhooks/send-request';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { deliverTo } from './deliver-to.ts';
import { signUp, until, type Organization, type Weir } from './harness.ts';
import { openReceiver, type Answering, type Receiver } from './receiver.ts';
import { openTestDatabase } from './test-database.ts';
import { ownWeir } from './use-weir.ts';

export interface Turns {
  weir: Weir;
  /** There from `beforeAll` on. */
  database(): Database;
  sender(): Sender;
  /** Another one for each test. */
  admin(): Organization;
  /** Opens a receiver, which is closed with the test. */
  receiving(answer?: Answering): Promise<Receiver>;
  createEndpoint(url: string): Promise<{ id: string; secret: string }>;
  /** Appends events to the feed. */
  happen(count?: number, type?: FeedType): Promise<void>;
  /** Has a turn. Returns whether it left something. */
  deliver(endpointId: string, others?: Parameters<typeof deliverTo>[3]): Promise<boolean>;
  /** Has turns until the receiver has got something more: one may end just before another part of it has staged what is to be sent. */
  deliverMore(endpointId: string, receiver: Receiver): Promise<void>;
  // oxlint-disable-next-line typescript/no-explicit-any
  read(endpointId: string): Promise<any>;
  // oxlint-disable-next-line typescript/no-explicit-any
  deliveriesOf(endpointId: string): Promise<any>;
  /** As if all that there is of an endpoint were older by so much. */
  passTime(endpointId: string, interval: string): Promise<void>;
}

/** A Weir of a file's own, without a worker. */
export function ownTurns(): Turns {
  const weir = ownWeir({ withWorker: false, unobserved: true, api: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  let database: Database;
  let sender: Sender;
  let admin: Organization;
  const receivers: Receiver[] = [];
  beforeAll(() => {
    database = openTestDatabase(weir);
    sender = new Sender({ lookup: openNameLookup(), allowed: new Networks('127.0.0.0/8'), attemptMsMax: 60_000 });
  });
  afterAll(async () => {
    sender.close();
    await database.close();
  });
  beforeEach(async () => {
    admin = await signUp(weir);
  });
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) await receiver.close();
  });
  const deliver: Turns['deliver'] = (endpointId, others) =>
    deliverTo({ database, sender }, admin.id, endpointId, others);
  return {
    weir,
    database: () => database,
    sender: () => sender,
    admin: () => admin,
    async receiving(answer) {
      const receiver = await openReceiver(answer);
      receivers.push(receiver);
      return receiver;
    },
    async createEndpoint(url) {
      const { status, body } = await admin.ask('POST', '/webhook-endpoints', { url });
      expect(status).toBe(201);
      return body as { id: string; secret: string };
    },
    async happen(count = 1, type = 'invoice.created') {
      const events = Array.from({ length: count }, (_, n) => ({ type, actor: 'weir', data: { n } }));
      await database.kysely.transaction().execute((transaction) => appendFeed(transaction, admin.id, events));
    },
    deliver,
    async deliverMore(endpointId, { received }) {
      const before = received.length;
      await until(async () => {
        await deliver(endpointId);
        return received.length > before;
      }, 'something more came');
    },
    read: async (id) => (await admin.ask('GET', `/webhook-endpoints/${id}`)).body,
    deliveriesOf: async (id) => (await admin.ask('GET', `/webhook-endpoints/${id}/deliveries`)).body.data,
    async passTime(endpointId, interval) {
      await weir.pool.query(`UPDATE webhook_endpoints SET failing_since = failing_since - $2::interval WHERE id = $1`, [
        endpointId,
        interval,
      ]);
      await weir.pool.query(
        `UPDATE webhook_deliveries SET next_attempt_at = next_attempt_at - $2::interval, created_at = created_at - $2::interval
         WHERE endpoint_id = $1`,
        [endpointId, interval],
      );
    },
  };
}
