// What those who run Weir rely on: health, metrics, a start that refuses what would lose events, and a stop that drops nothing.

import { queueKeys } from '@weir/queue/keys';
import { RECORD_QUEUE } from '@weir/queue/record-jobs';
import { readRedisPolicy } from '@weir/queue/redis-policy';
import { openTemporaryServices } from '@weir/services/temporary';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { request as httpRequest, Agent } from 'node:http';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { describe, expect, inject, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, startWeir, until } from '../support/harness.ts';
import { letGoOf } from '../support/let-go-of.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { openContainers } from '../support/setup/containers.ts';
import { ownWeir } from '../support/use-weir.ts';
import { PROGRAMS } from '../support/programs-folder.ts';

const weir = ownWeir();

async function read(url: string): Promise<{ status: number; type: string; text: string }> {
  const response = await fetch(url);
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() };
}

describe('the API', () => {
  test('says that it is alive and that it can serve', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect(await weir.request('GET', path)).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  test('counts what it admits and how long it takes, for Prometheus', async () => {
    const admin = await signUp(weir);
    const meter = await admin.createMeter('SUM');
    const body = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
    await weir.request('POST', '/api/v1/sdk/track', { apiKey: await admin.createKey(), body });
    const { status, type, text } = await read(`${weir.baseUrl}/metrics`);
    expect(status).toBe(200);
    expect(type).toMatch(/^text\/plain/);
    expect(text).toMatch(/^weir_admissions_total\{outcome="staged"\} 1$/m);
    expect(text).toMatch(
      /^weir_http_request_seconds_count\{method="POST",route="\/api\/v1\/sdk\/track",status="201"\} 1$/m,
    );
    expect(text).toMatch(/^weir_buffer_events 0$/m);
  });

  test('shows its interface as a document and as a page', async () => {
    expect(JSON.parse((await read(`${weir.baseUrl}/openapi.json`)).text)).toMatchObject({ info: { title: 'Weir' } });
    const docs = await read(`${weir.baseUrl}/docs`);
    expect(docs).toMatchObject({ status: 200, type: expect.stringMatching(/^text\/html/) });
  });

  test('that is without Postgres is alive, not ready, and says what is missing', async () => {
    const api = await weir.startApi({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect((await weir.request('GET', '/healthz', { baseUrl: api.url })).status).toBe(200);
    const ready = await weir.request('GET', '/readyz', { baseUrl: api.url });
    expectProblem(ready, 503, 'unavailable');
    expect(ready.body.detail).toContain('Postgres');
    expect(ready.body.detail).not.toContain('Redis');
  });
});

describe('the worker', () => {
  test('says that it is alive and that it can serve', async () => {
    expect(JSON.parse((await read(`${weir.workerUrl}/healthz`)).text)).toEqual({ status: 'ok' });
    const { status, text } = await read(`${weir.workerUrl}/readyz`);
    expect({ status, ...JSON.parse(text) }).toMatchObject({ status: 'ok', postgres: true, redis: true });
  });

  test('counts what it records, for Prometheus', async () => {
    await weir.drained();
    const { type, text } = await read(`${weir.workerUrl}/metrics`);
    expect(type).toMatch(/^text\/plain/);
    expect(text).toMatch(/^weir_events_total\{outcome="recorded"\} [1-9]\d*$/m);
  });
});

describe('a process that cannot run as it is set up ends with code 1 and one line that says why', () => {
  test.concurrent.each([
    ['api', { DATABASE_URL: '' }, /DATABASE_URL is not set/],
    ['api', { PORT: 'http' }, /PORT: must be a whole number/],
    ['api', { SIGNUP: 'maybe' }, /SIGNUP: must be first, open or closed/],
    ['worker', { REDIS_URL: 'localhost' }, /REDIS_URL: must be an address/],
    ['worker', { WORKER_CONCURRENCY: '0', LOG_LEVEL: 'loud' }, /LOG_LEVEL: .*WORKER_CONCURRENCY: /],
  ])('%s with %j', async (app, env, line) => {
    const ended = await runToEnd(`apps/${app}/dist/main.js`, { ...weir.env, ...env });
    expect(ended).toEqual({ code: 1, out: '', err: expect.stringMatching(/^Cannot start: [^\n]+\n$/) });
    expect(ended.err).toMatch(line);
  });

  test('on a port that is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const PORT = String((holder.address() as { port: number }).port);
    const ended = await Promise.all([
      runToEnd('apps/api/dist/main.js', { ...weir.env, PORT }),
      runToEnd('apps/worker/dist/main.js', { ...weir.env, WORKER_PORT: PORT }),
    ]);
    holder.close();
    for (const { code, out, err } of ended) {
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(new RegExp(`^Cannot start: port ${PORT} of 127.0.0.1 is taken: [^\\n]+\\n$`));
    }
  });
});

test('a Redis that may drop accepted events is refused, and one that is slow to write to disk is named', async () => {
  // A Redis of its own, since all other tests share one.
  const given = { databaseUrl: inject('databaseUrl'), redisUrl: undefined };
  const log = () => {};
  const services =
    (await openContainers(given, log)) ?? (await openTemporaryServices({ ...given, cacheHome: PROGRAMS, log }));
  const redis = new Redis(services.redisUrl);
  const keys = queueKeys('{weir}');
  try {
    const policy = async () => (await readRedisPolicy({ redis, keys })).policy;
    expect(await policy()).toEqual({});
    await redis.config('SET', 'no-appendfsync-on-rewrite', 'yes');
    expect(await policy()).toEqual({ warn: expect.stringContaining('no-appendfsync-on-rewrite yes') });
    await redis.config('SET', 'appendfsync', 'everysec');
    expect(await policy()).toEqual({ warn: expect.stringContaining('appendfsync everysec') });
    // Of a hosted Redis that keeps its settings to itself the policy is known all the same.
    await redis.acl('SETUSER', 'hosted', 'on', 'nopass', 'allkeys', 'allcommands', '-config');
    const hosted = new Redis(services.redisUrl);
    await hosted.auth('hosted', 'any');
    const hostedPolicy = async () => (await readRedisPolicy({ redis: hosted, keys })).policy;
    expect(await hostedPolicy()).toEqual({ warn: expect.stringContaining('does not answer CONFIG GET') });
    await redis.config('SET', 'maxmemory-policy', 'volatile-ttl');
    expect(await hostedPolicy()).toEqual({ refuse: expect.stringContaining('maxmemory-policy volatile-ttl') });
    hosted.disconnect();
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const ended = await Promise.all(
      ['api', 'worker'].map((app) =>
        runToEnd(`apps/${app}/dist/main.js`, { ...weir.env, REDIS_URL: services.redisUrl }),
      ),
    );
    for (const { code, err } of ended) {
      expect(code).toBe(1);
      expect(err).toMatch(/^Cannot start: Redis has maxmemory-policy allkeys-lru [^\n]*set it to noeviction\.\n$/);
    }
  } finally {
    redis.disconnect();
    await services.close();
  }
});

describe('SIGTERM', () => {
  test('under load lets the API answer what it has taken, and end with code 0', async () => {
    const admin = await signUp(weir);
    const meter = await admin.createMeter('SUM');
    const apiKey = await admin.createKey();
    const api = await weir.spawnApi();
    const { hostname, port } = new URL(api.url);
    const body = JSON.stringify({ meter_token: meter.token, customer_external_id: 'acme', quantity: 1 });
    const headers = { 'content-type': 'application/json', 'content-length': body.length, 'x-api-key': apiKey };
    const answers = { accepted: 0, otherwise: 0, dropped: 0 };

    /** Sends one request after the other over a connection that is kept, until the server has closed it. */
    const client = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let isOpen = true; isOpen;) {
        isOpen = await new Promise<boolean>((resolve) => {
          const request = httpRequest({ agent, hostname, port, method: 'POST', path: '/api/v1/sdk/track', headers });
          request.on('response', (response) => {
            answers[response.statusCode === 201 ? 'accepted' : 'otherwise'] += 1;
            response.on('end', () => resolve(response.headers.connection !== 'close'));
            response.resume();
          });
          request.on('error', (error: NodeJS.ErrnoException) => {
            // A connection that is refused took nothing. One that breaks under a request may have.
            if (error.code !== 'ECONNREFUSED') answers.dropped += 1;
            resolve(false);
          });
          request.end(body);
        });
      }
      agent.destroy();
    };
    const clients = Array.from({ length: 20 }, client);

    // One request has arrived by half when the signal comes.
    const half = connect(Number(port), hostname);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    half.write(`POST /api/v1/sdk/track HTTP/1.1\r\nhost: weir\r\n${lines.join('')}\r\n${body.slice(0, 20)}`);
    let late = '';
    half.on('data', (chunk) => (late += String(chunk)));

    await until(() => answers.accepted > 200, 'the load is under way');
    const stopped = api.stop('SIGTERM');
    await Promise.all(clients);
    half.write(body.slice(20));
    await stopped;
    expect(api.child.exitCode).toBe(0);
    expect(late).toMatch(/^HTTP\/1\.1 201 /);
    expect({ otherwise: answers.otherwise, dropped: answers.dropped }).toEqual({ otherwise: 0, dropped: 0 });

    await weir.drained();
    const { rows } = await weir.pool.query('SELECT count(*)::int AS events FROM events WHERE meter_id = $1', [
      meter.id,
    ]);
    expect(rows).toEqual([{ events: answers.accepted + 1 }]);
  });

  test('lets an API go on for DRAIN_DELAY_MS, saying 503 to balancers and telling clients to go elsewhere', async () => {
    const api = await weir.startApi({ DRAIN_DELAY_MS: '2000' });
    const health = 'GET /healthz HTTP/1.1\r\nhost: weir\r\n\r\n';
    const ready = () => weir.request('GET', '/readyz', { baseUrl: api.url });
    const { hostname, port } = new URL(api.url);
    // One that keeps its connection, as a proxy does, and has nothing to send for longer than a stop once took.
    const kept = connect(Number(port), hostname);
    let heard = '';
    kept.on('data', (chunk) => (heard += String(chunk)));
    kept.write(health);
    await until(() => heard.includes('"ok"'), 'the first answer is there');
    expect(heard).not.toMatch(/connection: close/i);

    const began = performance.now();
    const closed = api.close();
    await until(async () => (await ready()).status === 503, 'balancers are told');
    await until(() => performance.now() - began > 800, 'a stop without a delay would be over');
    heard = '';
    kept.write(health);
    await until(() => heard.includes('"ok"'), 'the kept connection is answered');
    expect(heard).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*connection: close\r\n/i);
    // And who comes anew.
    const anew = await fetch(`${api.url}/healthz`);
    expect([anew.status, anew.headers.get('connection')]).toEqual([200, 'close']);
    expectProblem(await ready(), 503, 'shutting_down');
    await closed;
    await expect(fetch(`${api.url}/healthz`)).rejects.toThrow('fetch failed');
  });

  test('lets a worker finish the batches it has in hand, and leaves the others to the next one', async () => {
    const still = await startWeir({ withWorker: false });
    try {
      const admin = await signUp(still);
      const meter = await admin.createMeter('SUM');
      const apiKey = await admin.createKey();
      const event = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
      for (let batch = 0; batch < 10; batch += 1) {
        const body = { events: Array.from({ length: 1000 }, () => event) };
        expect((await still.request('POST', '/api/v1/sdk/track/batch', { apiKey, body })).status).toBe(201);
      }
      const staged = await still.redis.zcard(still.keys.staged);
      const worker = await still.spawnWorker();
      await until(async () => (await still.redis.zcard(still.keys.staged)) < staged, 'the worker is recording');
      await worker.stop('SIGTERM');
      expect(worker.child.exitCode).toBe(0);
      // What it had in hand is recorded: none of what is left is held by a job of the worker that is gone.
      const queue = new Queue(RECORD_QUEUE, { connection: still.redis, prefix: still.keys.prefix });
      expect(await queue.getActiveCount()).toBe(0);
      await queue.close();
      await still.startWorker();
      await still.drained();
      const { rows } = await still.pool.query('SELECT count(*)::int AS events FROM events');
      expect(rows).toEqual([{ events: 10_000 }]);
      await expectRollupsToEqualEvents(still.pool);
    } finally {
      await still.close();
    }
  });

  test('tells a client whose answer takes long that its connection ends with it', async () => {
    const admin = await signUp(weir);
    const api = await weir.spawnApi();
    const holder = await weir.pool.connect();
    await holder.query('BEGIN; LOCK TABLE features IN ACCESS EXCLUSIVE MODE');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { cookie: `access_token=${admin.session}` };
    const answered = new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      const request = httpRequest(`${api.url}/api/v1/features`, { agent, headers }, (response) => {
        response.resume();
        resolve({ status: response.statusCode, connection: response.headers.connection });
      });
      request.on('error', reject);
      request.end();
    });
    const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await until(async () => (await weir.pool.query(waits)).rowCount === 1, 'the request waits for the lock');
    const stopped = api.stop('SIGTERM');
    const refuses = () =>
      fetch(`${api.url}/healthz`).then(
        () => false,
        () => true,
      );
    await until(refuses, 'the process takes no more connections');
    await holder.query('ROLLBACK');
    holder.release();
    expect(await answered).toEqual({ status: 200, connection: 'close' });
    await stopped;
    expect(api.child.exitCode).toBe(0);
    agent.destroy();
  });

  test('does not wait for a request that never arrives in full, of which nothing began, and ends with 0', async () => {
    const apiKey = await (await signUp(weir)).createKey();
    const api = await weir.spawnApi({ DRAIN_TIMEOUT_MS: '2000' });
    const { hostname, port } = new URL(api.url);
    const half = connect(Number(port), hostname);
    half.on('error', () => {});
    const json = 'content-type: application/json\r\ncontent-length: 100\r\n\r\n{';
    half.write(`POST /api/v1/sdk/track HTTP/1.1\r\nhost: weir\r\nx-api-key: ${apiKey}\r\n${json}`);
    await once(half, 'connect');
    // An answer over another connection says that the process has read what came before it.
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
    await api.stop('SIGTERM');
    expect(api.child.exitCode).toBe(0);
    half.destroy();
  });

  test('does not let a worker wait longer than DRAIN_TIMEOUT_MS for Postgres; the next records its batch', async () => {
    const still = await startWeir({ withWorker: false });
    try {
      const admin = await signUp(still);
      const meter = await admin.createMeter('SUM');
      const apiKey = await admin.createKey();
      const holder = await still.pool.connect();
      await holder.query('BEGIN; LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE');
      const body = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1, idempotency_key: 'a' };
      expect((await still.request('POST', '/api/v1/sdk/track', { apiKey, body })).status).toBe(201);
      const worker = await still.spawnWorker({ DRAIN_TIMEOUT_MS: '500' });
      const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      await until(async () => (await still.pool.query(waits)).rowCount === 1, 'the worker waits for the lock');
      await worker.stop('SIGTERM');
      expect(worker.child.exitCode).toBe(0);
      await holder.query('ROLLBACK');
      holder.release();
      await letGoOf(still.queue, RECORD_QUEUE);
      await still.startWorker();
      await still.drained();
      const { rows } = await still.pool.query('SELECT count(*)::int AS events FROM events');
      expect(rows).toEqual([{ events: 1 }]);
      await expectRollupsToEqualEvents(still.pool);
    } finally {
      await still.close();
    }
  });
});
