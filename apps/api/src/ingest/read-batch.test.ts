import type { FastifyRequest } from 'fastify';
import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Turns } from '../http/load/turns.ts';
import { readBatch } from './batch-body.ts';
import type { MeterCache } from './meter-cache.ts';
import { readItems } from './read-batch.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const EVENTS = 200;
const LEVELS = 3_900;

/** Bytes of the heap that are in use. */
function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test('a batch whose meters are looked up keeps nothing of what its metadata was parsed to', async () => {
  const nested = `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`;
  const items = Array.from(
    { length: EVENTS },
    (_, index) => `{"meter_token":"mtr_${index}","customer_external_id":"c","quantity":1,"metadata":{"a":${nested}}}`,
  );
  const request = { batch: null } as unknown as FastifyRequest;
  readBatch(request, `{"events":[${items.join(',')}]}`, 2 * LEVELS + 1_000);
  if (request.batch === null) throw new Error('the batch was not read');

  const lookUp = new EventEmitter();
  const found = once(lookUp, 'found').then(() => undefined);
  const asked = once(lookUp, `mtr_${EVENTS - 1}`);
  const meters = {
    get(token: string) {
      lookUp.emit(token);
      return found;
    },
  } as unknown as MeterCache;
  const sender = { organizationId: '1', apiKeyId: '2', epoch: '3' };
  const read = { timestampAheadSeconds: 3_600 } as Parameters<typeof readItems>[0]['read'];
  const before = heapBytes();
  const reading = readItems({ meters, turns: new Turns(), read }, request, request.batch, sender);
  await asked;
  await nextTurn();
  expect(heapBytes() - before).toBeLessThan(4_000_000);
  lookUp.emit('found');
  expect(await reading).toHaveLength(EVENTS);
});
