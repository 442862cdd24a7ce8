// What Postgres records at most: Weir's own statement, with batches from memory and nothing before it. No door, no queue,
// no Redis; the events are made ahead of the time that is measured.

import { openDatabase, type Database } from '@weir/db/database';
import { recordEvents, type RecordableEvent } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { createLog } from '@weir/shared/log';
import { runUntilStopped } from '@weir/shared/process';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { eventsOf } from '../load/bodies.ts';
import type { LoadPlan, LoadResult } from '../load/plan.ts';
import { takePlans, type Tell } from '../load/take-plans.ts';
import { loadBaselineSettings } from './baseline-settings.ts';

/** More than any machine was seen to record in a second. Batches beyond these are made while the time runs, for some µs an event. */
const PREMADE_EVENTS_PER_SECOND = 90_000;

/** They take more than a gigabyte. */
const PREMADE_EVENTS_MAX = 900_000;

const PROGRESS_MS = 1_000;

await runUntilStopped(async () => {
  const settings = loadBaselineSettings();
  const log = createLog('raw-postgres', 'warn');
  let database: Database | undefined;
  takePlans((plan, tell) => {
    database ??= openDatabase(settings.DATABASE_URL, {
      connectionsMax: plan.connections,
      statementTimeoutMs: 0,
      onConnectionError: (error) => log.warn({ err: error }, 'a connection was lost'),
    });
    return recordFor(database, plan, tell);
  });
  const close = async () => database?.close();
  return { log, url: '', drainTimeoutMs: 5_000, close };

  interface Batch {
    events: RecordableEvent[];
    quantity: number;
  }

  function batchesOf(plan: LoadPlan): () => Batch {
    const nextEvent = eventsOf(plan.customers);
    return () => {
      const batch: Batch = { events: [], quantity: 0 };
      for (let count = 0; count < plan.eventsPerRequest; count += 1) {
        const { customer, quantity, timestamp, idempotencyKey, metadata } = nextEvent();
        batch.quantity += quantity;
        const event = {
          id: newId(),
          organization_id: settings.ORGANIZATION_ID,
          meter_id: settings.METER_ID,
          customer_external_id: customer,
          quantity: String(quantity),
          timestamp,
          idempotency_key: idempotencyKey,
          metadata,
        };
        batch.events.push({ event, countsUniqueValues: false });
      }
      return batch;
    };
  }

  /** Records on all connections for the time of the plan; latency is that of a batch. */
  async function recordFor(database: Database, plan: LoadPlan, tell: Tell): Promise<LoadResult> {
    const nextBatch = batchesOf(plan);
    const premade = Math.min(PREMADE_EVENTS_MAX, plan.seconds * PREMADE_EVENTS_PER_SECOND);
    const ready = Array.from({ length: Math.ceil(premade / plan.eventsPerRequest) }, nextBatch);
    const latency = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
    const total = { requests: 0, accepted: 0, acceptedQuantity: 0 };
    let isOver = false;

    const keepRecording = async () => {
      while (!isOver) {
        const { events, quantity } = ready.pop() ?? nextBatch();
        const sentAt = performance.now();
        const { recorded } = await recordEvents(database.pool, events);
        if (recorded !== events.length) throw new Error(`${recorded} of ${events.length} new events were recorded`);
        total.accepted += recorded;
        total.acceptedQuantity += quantity;
        if (isOver) return;
        total.requests += 1;
        latency.record(Math.max(1, Math.round((performance.now() - sentAt) * 1_000)));
      }
    };

    tell({ kind: 'began' });
    const startedAt = performance.now();
    const secondsSoFar = () => (performance.now() - startedAt) / 1_000;
    const progress = setInterval(
      () => tell({ kind: 'progress', accepted: total.accepted, seconds: secondsSoFar() }),
      PROGRESS_MS,
    );
    const lanes = Promise.all(Array.from({ length: plan.connections }, keepRecording));
    await Promise.race([delay(plan.seconds * 1_000), lanes]);
    isOver = true;
    const seconds = secondsSoFar();
    clearInterval(progress);
    tell({ kind: 'ended' });
    await lanes;
    const milliseconds = (percentile: number) => latency.percentile(percentile) / 1_000;
    return {
      kind: 'result',
      ...total,
      seconds,
      latencyMs: { p50: milliseconds(50), p99: milliseconds(99), p999: milliseconds(99.9) },
      due: null,
      unsent: null,
      unclear: 0,
      errors: {},
    };
  }
});
