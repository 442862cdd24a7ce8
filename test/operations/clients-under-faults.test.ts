// The SDK and the Python client under what a network does, and those with an outbox under kill -9, in short. At length, with the rest
// of what fails: npm run chaos-clients.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Edge } from '../../chaos/environment/edge.ts';
import { compare, violationsOf } from '../../chaos/sdk/compare.ts';
import { Producer } from '../../chaos/sdk/producer.ts';
import { findFreePort } from '@weir/services/connection';
import { signUp, until } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let edge: Edge;
let folder: string;
let producers: Producer[];

beforeAll(async () => {
  const admin = await signUp(weir);
  const { token } = await admin.createMeter('SUM');
  const apiKey = await admin.createKey('usage.write');
  folder = await mkdtemp(join(tmpdir(), 'weir-clients-'));
  edge = new Edge(await findFreePort(), Number(new URL(weir.baseUrl).port));
  await edge.open();
  const shared = { apiKey, meterToken: token, rate: 300, baseUrl: `http://127.0.0.1:${edge.port}` };
  producers = (['typescript', 'python'] as const).flatMap((language) => [
    new Producer({ ...shared, language }),
    new Producer({ ...shared, language, outbox: join(folder, language) }),
  ]);
  for (const producer of producers) producer.start();
});

afterAll(async () => {
  for (const producer of producers) await producer.kill();
  await edge.close();
  await rm(folder, { recursive: true });
});

/** Resolves when each client has queued so many more events. */
async function untilQueued(more: number): Promise<void> {
  const marks = producers.map(({ queued }) => queued.size + more);
  const isSo = () => producers.every(({ queued }, index) => queued.size >= marks[index]!);
  await until(isSo, `each client has queued ${more} events`).catch((error: unknown) => {
    const told = producers.map(
      ({ queued, complaints }, index) => `${queued.size} of ${marks[index]} ${complaints.join('')}`,
    );
    throw new Error(`of ${told.join(', ')}`, { cause: error });
  });
}

test('whatever the network does, and whoever is killed, each event that was queued is counted once', async () => {
  await untilQueued(25);
  edge.cutAnswers(8, () => 2);
  await untilQueued(25);
  await Promise.all(producers.filter(({ hasOutbox }) => hasOutbox).map((producer) => producer.kill()));
  await edge.refuse();
  for (const producer of producers) if (producer.hasOutbox) producer.start();
  await untilQueued(25);
  await edge.heal();
  edge.cutAnswers(4, () => 0);
  await untilQueued(25);
  edge.silence(['back']);
  await untilQueued(25);
  await Promise.all(producers.filter(({ hasOutbox }) => hasOutbox).map((producer) => producer.kill()));
  await edge.heal('reset');
  for (const producer of producers) if (producer.hasOutbox) producer.start();
  edge.reset();
  await untilQueued(25);

  await Promise.all(producers.map((producer) => producer.finish()));
  await weir.drained();
  const comparisons = await compare(weir.pool, producers);
  expect(comparisons.flatMap(violationsOf)).toEqual([]);
  expect(producers.flatMap(({ complaints }) => complaints)).toEqual([]);
  expect(comparisons.map(({ kills }) => kills)).toEqual([0, 2, 0, 2]);
  // The answers that were cut have made clients send again what Weir had.
  expect(edge.cutsLeft).toBe(0);
});
