// `/readyz` says within a second whether to send traffic here, whatever is frozen, and however many ask.

import { LOOKUP_MS_MAX } from '@weir/api/serve';
import { migrate } from '@weir/db/migrate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Edge } from '../../chaos/environment/edge.ts';
import { bestOfThree } from '../support/best-of-three.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { until, type Answer } from '../support/harness.ts';
import { makeTenant } from '../support/reconcile-fixture.ts';
import { createDatabase } from '../support/setup/database.ts';
import { withDatabase } from '../support/setup/query.ts';
import { openStoreEdges, type StoreEdges } from '../support/store-edges.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ lookupMsMax: LOOKUP_MS_MAX, withWorker: false });
let edges: StoreEdges;
let { redis, postgres } = {} as StoreEdges;
beforeAll(async () => {
  edges = await openStoreEdges(weir);
  ({ redis, postgres } = edges);
});
afterAll(async () => {
  await edges.close();
});

/** What a crowd that asks at once is told, and how long the slowest waited. */
async function askAsCrowd(baseUrl: string): Promise<{ answers: Answer[]; ms: number }> {
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: 200 }, () => weir.request('GET', '/readyz', { baseUrl })));
  return { answers, ms: performance.now() - began };
}

test('a crowd at a process whose Redis or Postgres is frozen is told so in time, and uses nothing up', async () => {
  const api = await weir.startApi(edges.env);
  const worker = await weir.startWorker(edges.env);
  const frozen: [Edge, string, number, object][] = [
    [redis, api.url, 200, { status: 'ok', redis: 'away', postgres: 'ok', way: 'direct' }],
    [redis, worker.url, 503, { status: 'not ready', redis: false, postgres: true }],
    [postgres, api.url, 200, { status: 'ok', redis: 'ok', postgres: 'away', way: 'redis' }],
    [postgres, worker.url, 503, { status: 'not ready', redis: true, postgres: false }],
  ];
  for (const [edge, url, status, body] of frozen) {
    const isWell = async () => {
      const { status, body } = await weir.request('GET', '/readyz', { baseUrl: url });
      return status === 200 && body.postgres !== 'away' && body.way !== 'direct';
    };
    const isAsTold = (answer: Answer) => Object.entries(body).every(([part, said]) => answer.body[part] === said);
    const crowd = await bestOfThree(
      async () => {
        // Frozen anew each time: what is known of it from the time before would make the next crowd quick.
        await edge.heal('deliver');
        await until(isWell, 'all is well');
        edge.silence(['forth', 'back']);
        return askAsCrowd(url);
      },
      // The other one is away as well where a busy machine has it answer late.
      ({ answers, ms }) => ms < 2_500 && answers.every(isAsTold),
    );
    for (const answer of crowd.answers) expect(answer).toMatchObject({ status, body });
    expect(crowd.ms).toBeLessThan(2_500);
    await edge.heal('deliver');
    await until(isWell, 'all is well again');
  }
  await worker.close();
  await api.close();
});

test('an API that takes no events either way is not ready, and says why', async () => {
  const tenant = await makeTenant(weir);
  const api = await weir.startApi({ ...edges.env, QUEUE_BATCHES_MAX: '1' });
  const ready = () => weir.request('GET', '/readyz', { baseUrl: api.url });
  expect((await ready()).status).toBe(200);
  await tenant.track({});
  await until(async () => (await ready()).body.way === 'direct', 'no more goes to Redis');
  await postgres.refuse();
  await until(async () => (await ready()).status === 503, 'the door is shut');
  expectProblem(await ready(), 503, 'unavailable');
  expect((await ready()).body.detail).toContain('Too many events wait');
  await postgres.heal();
  await until(async () => (await ready()).status === 200, 'the door is open');
  await api.close();
});

test('processes started before Postgres are ready once it is there and migrated, and not before', async () => {
  const { name, url, drop } = await createDatabase();
  const DATABASE_URL = withDatabase(edges.env.DATABASE_URL, name);
  const QUEUE_PREFIX = `{weir-test-${name.slice(-12)}}`;
  await postgres.refuse();
  const api = await weir.startApi({ DATABASE_URL, QUEUE_PREFIX });
  const worker = await weir.startWorker({ DATABASE_URL, QUEUE_PREFIX });
  try {
    const expectSaid = async (status: number, text: string) => {
      for (const baseUrl of [api.url, worker.url]) {
        const isSaid = async () => {
          const answer = await weir.request('GET', '/readyz', { baseUrl });
          return answer.status === status && JSON.stringify(answer.body).includes(text);
        };
        await until(isSaid, `${baseUrl} says ${text}`);
      }
    };
    await expectSaid(503, 'The database has not been seen yet');
    await postgres.heal();
    await expectSaid(503, 'run npm run migrate');
    await migrate(url);
    await expectSaid(200, 'ok');
  } finally {
    await postgres.heal();
    await worker.close();
    await api.close();
    await drop();
    const left = await weir.redis.keys(`${QUEUE_PREFIX.replace(/[{}]/g, '\\$&')}*`);
    if (left.length > 0) await weir.redis.unlink(...left);
  }
});
