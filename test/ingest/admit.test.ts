// One flush, with events of several senders that fare differently: each gets its own answer, and only those that were taken
// leave something behind.

import { readDoor } from '@weir/queue/accepted-counts';
import { admit, type Candidate, type Sender } from '@weir/queue/admit';
import type { QueueConnection } from '@weir/queue/connection';
import { queueKeys } from '@weir/queue/keys';
import { stagedBytesByOrganization, stagedEvents, stagedText } from '@weir/queue/staged';
import type { StagedEvent } from '@weir/shared/event';
import { epochMsOfId, newId } from '@weir/shared/ids';
import { utcMonthOf } from '@weir/shared/months';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';

let redis: Redis;
let keys: ReturnType<typeof queueKeys>;
let queue: QueueConnection;
beforeEach(async () => {
  redis = new Redis(inject('redisUrl'));
  keys = queueKeys(`{weir-test-${randomUUID()}}`);
  queue = { redis, keys };
  await redis.set(keys.epoch, 'this epoch');
});
afterEach(async () => {
  const left = await redis.keys(`${keys.prefix.replace(/[{}]/g, '\\$&')}*`);
  if (left.length > 0) await redis.unlink(...left);
  redis.disconnect();
});

const senderOf = (name: string, epoch = 'this epoch'): Sender => ({
  organizationId: `org of ${name}`,
  apiKeyId: name,
  epoch,
});

/** With what stands between the events of a flush in a text of its own, and letters of more bytes than one. */
const eventOf = (id: string, sender: Sender | null): StagedEvent => ({
  id,
  organization_id: sender?.organizationId ?? 'o',
  meter_id: 'm',
  aggregation: 'SUM',
  customer_external_id: 'ä,\nb€,',
  quantity: '1',
  timestamp: '2026-01-31T00:00:00.000Z',
  metadata: '{"note":"],\\n["}',
  ...(sender === null && { replayed: true }),
});

function candidate(sender: Sender | null, key: string | null, fingerprint = 'f'.repeat(22)): Candidate {
  const id = newId();
  const claim = key === null ? null : { key: keys.claim('this epoch', sender?.organizationId ?? '', key), fingerprint };
  return { id, event: stagedText(eventOf(id, sender)), sender, claim };
}

test('each event of a flush is judged by itself, and counted for its own organization', async () => {
  const [ann, bob, deleted] = [senderOf('ann'), senderOf('bob'), senderOf('deleted')];
  const forgotten = senderOf('forgotten', 'a former epoch');
  await redis.set(keys.revoked('deleted'), '1');
  const earlier = candidate(ann, 'earlier');
  expect(await admit(queue, 'batch 1', [earlier], 60)).toEqual([{ outcome: 'staged' }]);

  const first = candidate(bob, 'shared');
  const flush: [Candidate, unknown][] = [
    [candidate(ann, null), { outcome: 'staged' }],
    [candidate(ann, 'earlier'), { outcome: 'held', id: earlier.id, isSamePayload: true }],
    [first, { outcome: 'staged' }],
    [candidate(deleted, 'never'), { outcome: 'revoked' }],
    [candidate(null, null), { outcome: 'staged' }],
    [candidate(bob, 'shared', 'g'.repeat(22)), { outcome: 'held', id: first.id, isSamePayload: false }],
    [candidate(bob, null), { outcome: 'staged' }],
    [candidate(forgotten, 'unsure'), { outcome: 'unsure' }],
    [candidate(ann, 'shared'), { outcome: 'staged' }],
    [candidate(forgotten, null), { outcome: 'unsure' }],
    [candidate(ann, 'last'), { outcome: 'staged' }],
    [candidate(deleted, null), { outcome: 'revoked' }],
  ];
  const candidates = flush.map(([each]) => each);
  expect(await admit(queue, 'batch 2', candidates, 60)).toEqual(flush.map(([, admission]) => admission));

  const taken = candidates.filter((_, index) => [0, 2, 4, 6, 8, 10].includes(index));
  const texts = await redis.lrange(keys.batch('batch 2'), 0, -1);
  expect(stagedEvents(texts)).toEqual(taken.map(({ id, sender }) => eventOf(id, sender)));
  const claims = candidates.flatMap(({ claim }) => claim ?? []);
  const held = new Set([earlier, ...taken].flatMap(({ claim }) => claim?.key ?? []));
  for (const { key } of claims) expect(await redis.exists(key)).toBe(held.has(key) ? 1 : 0);
  for (const { id, claim } of taken) {
    if (claim === null) continue;
    expect(await redis.get(claim.key)).toBe(id + claim.fingerprint);
    expect(await redis.ttl(claim.key)).toBeGreaterThan(50);
  }
  const { accepted, batches } = await readDoor(queue);
  expect(batches.toSorted()).toEqual(['batch 1', 'batch 2']);
  const month = utcMonthOf(epochMsOfId(earlier.id));
  expect(accepted.map(({ counts }) => counts.toSorted((a, b) => a.events - b.events))).toEqual([
    [
      { organizationId: 'org of bob', month, events: 2 },
      { organizationId: 'org of ann', month, events: 4 },
    ],
  ]);
});

test('what waits of an organization is counted at the door to the byte that a worker will take off', async () => {
  const [ann, bob] = [senderOf('ann'), senderOf('bob')];
  const flushes = [
    [candidate(ann, 'a'), candidate(bob, null), candidate(null, null), candidate(ann, 'a'), candidate(bob, 'b')],
    [candidate(ann, 'c'), candidate(ann, 'c'), candidate(bob, 'b')],
    [candidate(bob, 'd'), candidate(null, null)],
    [candidate(ann, 'a'), candidate(null, null), candidate(null, null)],
    [candidate({ ...ann, apiKeyId: 'another key' }, 'e'), candidate(ann, null)],
  ];
  for (const flush of flushes) await admit(queue, 'batch', flush, 60);
  const texts = await redis.lrange(keys.batch('batch'), 0, -1);
  const bytes = stagedBytesByOrganization(texts, stagedEvents(texts));
  expect([...bytes.keys()].toSorted()).toEqual(['org of ann', 'org of bob']);
  const counted = await redis.hgetall(keys.waiting);
  expect(counted).toEqual(Object.fromEntries([...bytes].map(([name, count]) => [name, String(count)])));
});

test('without a life, claims are not kept, but keys are still held against each other within a flush', async () => {
  const earlier = candidate(senderOf('ann'), 'earlier');
  await admit(queue, 'batch', [earlier], 60);
  const [first, second] = [candidate(senderOf('ann'), 'new'), candidate(senderOf('ann'), 'new')];
  expect(await admit(queue, 'batch', [first, second, candidate(senderOf('ann'), 'earlier')], 0)).toEqual([
    { outcome: 'staged' },
    { outcome: 'held', id: first.id, isSamePayload: true },
    { outcome: 'held', id: earlier.id, isSamePayload: true },
  ]);
  expect(await redis.exists(first.claim?.key ?? '')).toBe(0);
});

test('a flush of which nothing is taken leaves nothing', async () => {
  await redis.set(keys.revoked('deleted'), '1');
  const candidates = [candidate(senderOf('deleted'), 'a'), candidate(senderOf('forgotten', 'a former epoch'), null)];
  const admissions = await admit(queue, 'batch', candidates, 60);
  expect(admissions).toEqual([{ outcome: 'revoked' }, { outcome: 'unsure' }]);
  const left = await redis.keys(`${keys.prefix.replace(/[{}]/g, '\\$&')}*`);
  expect(left.toSorted()).toEqual([keys.epoch, keys.revoked('deleted')].toSorted());
});

test('events on both sides of the turn of a month are counted for their own', async () => {
  const turn = Date.UTC(2026, 10);
  const candidates = [turn - 1, turn, turn + 1].map((at): Candidate => {
    const id = newId(at);
    return { id, event: stagedText(eventOf(id, senderOf('ann'))), sender: senderOf('ann'), claim: null };
  });
  await admit(queue, 'batch', candidates, 60);
  const { accepted } = await readDoor(queue);
  expect(accepted[0]?.counts.toSorted((a, b) => a.events - b.events)).toEqual([
    { organizationId: 'org of ann', month: '2026-10', events: 1 },
    { organizationId: 'org of ann', month: '2026-11', events: 2 },
  ]);
});
