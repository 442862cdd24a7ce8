// What Prometheus reads: series that are there before anything happens, and the age of what waits.

import { findFreePort } from '@weir/services/connection';
import { newId } from '@weir/shared/ids';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { spawnCaptured } from '../support/captured.ts';
import { signUp, until } from '../support/harness.ts';
import { openStoreEdges } from '../support/store-edges.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });

/** Metrics that one looks at and that wake nobody, and why not. */
const OF_NO_RULE = {
  weir_admissions_total: 'senders retry, and nothing is lost',
  weir_batch_seconds: 'weir_queue_oldest_seconds follows',
  weir_buffer_events: 'weir_direct_way or weir_refused_events_total follows',
  weir_claim_life_seconds: 'later retries are duplicates in Postgres',
  weir_claims_let_go_total: 'the same',
  weir_drafts_due: 'weir_billing_oldest_seconds follows',
  weir_drafts_waiting_for_events: 'weir_queue_oldest_seconds follows',
  weir_queue_batches: 'the same',
  weir_requests_in_flight: 'nobody notices',
  weir_reused_keys_total: 'such events are among the rejected ones',
  weir_shed_requests_total: 'weir_http_request_seconds has the status that they are answered with',
  weir_unbilled_usage_meters: 'each organization sees its own on Home',
  weir_unknown_organization_attempts_total: 'weir_queue_oldest_seconds follows',
  weir_webhook_endpoints: 'weir_webhook_attempts_total tells when all fail',
};

async function metricsOf(url = weir.baseUrl): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

/** The series of all counters of Weir, with their values, by name. */
function countersIn(text: string): Map<string, string[]> {
  const names = [...text.matchAll(/^# TYPE (weir_\S+) counter$/gm)].map((found) => found[1] ?? '');
  return new Map(names.map((name) => [name, text.split('\n').filter((line) => new RegExp(`^${name}[{ ]`).test(line))]));
}

test('every counter has its series from the start, at 0, so that its first count is seen as a rise', async () => {
  const worker = await weir.startWorker();
  const counters = new Map([...countersIn(await metricsOf()), ...countersIn(await metricsOf(worker.url))]);
  await worker.close();
  expect(
    [...counters].filter(([, series]) => series.length === 0 || !series.every((line) => line.endsWith(' 0'))),
  ).toEqual([]);
  const values = (name: string) => (counters.get(name) ?? []).map((line) => /"(.*)"/.exec(line)?.[1]);
  expect(values('weir_admissions_total')).toEqual(['staged', 'held', 'revoked', 'unsure']);
  expect(values('weir_shed_requests_total')).toEqual(
    expect.arrayContaining(['event_loop', 'memory', 'requests', 'database']),
  );
  expect(values('weir_refused_events_total')).toEqual(expect.arrayContaining(['away', 'memory', 'crowd']));
  // What is refused before anybody knows how many events it has stands in there alone.
  const text = await metricsOf();
  for (const route of ['/api/v1/sdk/track', '/api/v1/sdk/track/batch'])
    expect(text).toContain(`weir_http_request_seconds_count{method="POST",route="${route}",status="503"} 0\n`);
  expect(values('weir_events_total')).toEqual(['recorded', 'duplicates', 'rejected']);
});

test('each reason for which something is refused stands in the table of what happens then', async () => {
  const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('## When there is too much, or a part is gone\n');
  const reasonsInTable = (section.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((row) => [...(row.split('|')[3] ?? '').matchAll(/`(\w+)`/g)].map((found) => found[1]));
  const counters = countersIn(await metricsOf());
  const reasons = ['weir_refused_events_total', 'weir_shed_requests_total'].flatMap((name) =>
    (counters.get(name) ?? []).map((line) => /reason="(.*)"/.exec(line)?.[1]),
  );
  expect(new Set(reasonsInTable)).toEqual(new Set(reasons));
});

test('each process says which version of Weir it is, on which Node, and from which commit', async () => {
  const worker = await weir.startWorker();
  const texts = await Promise.all([metricsOf(), metricsOf(worker.url)]);
  await worker.close();
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const line = `weir_build_info{version="${version}",node="${process.version}",revision="unknown"} 1`;
  for (const text of texts) expect(text.split('\n')).toContain(line);
});

test.each(['api', 'worker'])('whatever the %s has a metric of, it counts', (app) => {
  const folder = fileURLToPath(new URL(`../../apps/${app}/src/`, import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const source = files.map((file) => readFileSync(folder + file, 'utf8')).join('\n');
  const named = [...source.matchAll(/^ {4}(\w+): (counter|gauge|new Histogram)\(/gm)];
  expect(named.length).toBeGreaterThan(5);
  // What is said of one is no count, and a series that begins at 0 is not counted by that.
  const code = source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  const isCounted = (name: string) =>
    new RegExp(`metrics\\.${name}\\b(?!\\.zero\\(|\\.inc\\((?:[^)]*, )?0\\))`).test(code);
  expect(named.map(([, name = '']) => name).filter((name) => !isCounted(name))).toEqual([]);
  // One without a name can be counted by nobody; a gauge may ask for its value when it is read.
  const kinds = named.map(([, , kind]) => kind).filter((kind) => kind !== 'gauge');
  expect([...code.matchAll(/\b(counter|new Histogram)\(/g)].length).toBe(kinds.length);
  // All of them are made by the counter of openMetrics.
  expect([...code.matchAll(/\bnew (?:\w+\.)?Counter\b/g)].length).toBe(0);
});

/** Of a time as rules have it, such as 15m. */
function secondsOf(time = ''): number {
  const [, number, unit] = /^(\d+)([smh])$/.exec(time) ?? [];
  return Number(number) * { s: 1, m: 60, h: 3_600 }[unit as 's' | 'm' | 'h'];
}

test('every metric is described in docs/operations.md, and no other', async () => {
  const worker = await weir.startWorker();
  const texts = await Promise.all([metricsOf(), metricsOf(worker.url)]);
  await worker.close();
  const names = texts.flatMap((text) => [...text.matchAll(/^# TYPE (weir_\S+)/gm)].map(([, name]) => name));
  const operations = readFileSync(fileURLToPath(new URL('../../docs/operations.md', import.meta.url)), 'utf8');
  const rows = [...operations.matchAll(/^\| (`weir_.*?) \|/gm)].map(([, cell]) => cell).join();
  const described = [...rows.matchAll(/`(weir_[a-z_]+)/g)].map(([, name]) => name);
  expect(new Set(described)).toEqual(new Set(names));

  const [, yaml = ''] = /```yaml\n(groups:[^]*?)```/.exec(operations) ?? [];
  const { groups } = parse(yaml) as { groups: { rules: { alert: string; expr: string; for?: string }[] }[] };
  const alerts = groups.flatMap((group) => group.rules);
  const rules = alerts.map(({ expr }) => expr).join('\n');
  // An ordinary request may have what waits be days old for the seconds until it is done.
  const hasty = alerts.filter((rule) => {
    const [, bound] = /weir_\w+_oldest_seconds\) > (\d+)$/.exec(rule.expr) ?? [];
    return bound !== undefined && Number(bound) < 3_600 && rule.for === undefined;
  });
  expect(hasty.map(({ alert }) => alert)).toEqual([]);
  // What happened once is seen for less than the window: it would have to stay for longer than that.
  const deaf = alerts.filter((rule) => {
    const windows = rule.expr.matchAll(/(?:rate|increase)\([^[]*\[(\w+)\]\)\) > 0(?!\.)/g);
    return Math.min(...[...windows].map(([, window]) => secondsOf(window))) <= secondsOf(rule.for ?? '0s');
  });
  expect(deaf.map(({ alert }) => alert)).toEqual(['WeirCannotRecord']);
  const all = [...texts.join('\n').matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  const used = [...rules.matchAll(/\b((?:weir|process)_[a-z_]+?)(?:_count)?\b/g)].map(([, name]) => name);
  for (const name of used) expect(all).toContain(name);
  // Who is to act at some value is woken by it, or by another one that follows from it.
  const toActOn = [
    ...operations.matchAll(/^\| `(weir_[a-z_]+).*?`.*? \| .*? \| (?!several versions)\S.*? \| .*? \|$/gm),
  ];
  const unruled = toActOn.map(([, name]) => name).filter((name) => !used.includes(name));
  expect(new Set(unruled)).toEqual(new Set(Object.keys(OF_NO_RULE)));
  // Of each process one, that it has from its start on.
  const missed = [...rules.matchAll(/absent\((\w+)\)/g)].map(([, name]) => name);
  expect(texts.map((text) => missed.filter((name) => text.includes(`\n${name} 0\n`)).length)).toEqual([1, 1]);
});

test('the statements that say what a metric counts are such as Postgres takes', async () => {
  const operations = readFileSync(fileURLToPath(new URL('../../docs/operations.md', import.meta.url)), 'utf8');
  const [, section = ''] = /^## Metrics and alarms\n([^]*?)^## /m.exec(operations) ?? [];
  const statements = [...section.matchAll(/```sql\n([^]*?)```/g)].map(([, text = '']) => text);
  expect(statements.length).toBeGreaterThan(2);
  for (const statement of statements) await weir.pool.query(statement);
});

test('the age of the oldest waiting event is shown, and is never negative', async () => {
  const oldest = async () => Number(/^weir_queue_oldest_seconds (\S+)$/m.exec(await metricsOf())?.[1]);
  await until(async () => (await oldest()) === 0, 'nothing waits');
  const admin = await signUp(weir);
  const body = { meter_token: (await admin.createMeter('SUM')).token, customer_external_id: 'acme', quantity: 1 };
  await weir.request('POST', '/api/v1/sdk/track', { apiKey: await admin.createKey(), body });
  const [batch = ''] = await weir.redis.zrange(weir.keys.staged, 0, '0');
  await weir.redis.zadd(weir.keys.staged, Date.now() - 600_000, batch);
  await until(async () => (await oldest()) >= 600, 'the batch is seen');
  expect(await oldest()).toBeLessThan(700);
  // Staged by an API whose clock is ahead.
  await weir.redis.zadd(weir.keys.staged, Date.now() + 600_000, batch);
  await until(async () => (await oldest()) < 600, 'the batch is seen again');
  expect(await oldest()).toBe(0);
});

test('while Redis is away nobody says how much waits in it, nor how full it is', async () => {
  const edges = await openStoreEdges(weir);
  const api = await weir.startApi({ REDIS_URL: edges.env.REDIS_URL });
  const names = ['weir_queue_batches', 'weir_queue_oldest_seconds', 'weir_redis_memory_ratio'];
  const values = async (): Promise<(string | undefined)[]> => {
    const text = await metricsOf(api.url);
    return names.map((name) => new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const batch = newId();
  await weir.redis.zadd(weir.keys.staged, Date.now() - 600_000, batch);
  const isSeen = async () => Number((await values())[1]) >= 600;
  await until(isSeen, 'the batch is seen');
  await edges.redis.refuse();
  await until(async () => (await values()).every((value) => value === 'Nan'), 'nothing is said');
  await edges.redis.heal();
  await until(isSeen, 'the batch is seen again');
  expect((await values()).map(Number).every((value) => value >= 0)).toBe(true);
  await weir.redis.zrem(weir.keys.staged, batch);
  await api.close();
  await edges.close();
});

test('a worker that waits for Redis at its start does not say that nothing waits', async () => {
  const edges = await openStoreEdges(weir);
  await edges.redis.refuse();
  const port = await findFreePort();
  const starting = weir.startWorker({ REDIS_URL: edges.env.REDIS_URL, WORKER_PORT: String(port) });
  const read = () => metricsOf(`http://127.0.0.1:${port}`).catch(() => '');
  await until(async () => (await read()) !== '', 'it answers');
  const values = async () =>
    [...(await read()).matchAll(/^weir_\w+_oldest_seconds (\S+)$/gm)].map(([, value]) => value);
  expect(await values()).toEqual(['Nan', 'Nan', 'Nan', 'Nan']);
  await edges.redis.heal();
  await until(async () => (await values()).every((value) => Number(value) >= 0), 'it has looked');
  await (await starting).close();
  await edges.close();
});

test('events that Weir cannot take by its own fault are counted, and a line in the log stands for many', async () => {
  const api = await spawnCaptured('apps/api/dist/main.js', { ...weir.env, LOG_LEVEL: 'error' });
  const admin = await signUp(weir);
  const apiKey = await admin.createKey();
  const event = { meter_token: (await admin.createMeter('SUM')).token, customer_external_id: 'acme', quantity: 1 };
  const track = (path: string, body: unknown) =>
    weir.request('POST', `/api/v1/sdk/track${path}`, { baseUrl: api.url, apiKey, body });
  await weir.pool.query('ALTER TABLE meters RENAME TO set_aside');
  for (let requests = 0; requests < 20; requests += 1) expect((await track('', event)).status).toBe(500);
  const { status, body } = await track('/batch', { events: Array.from({ length: 100 }, () => event) });
  await weir.pool.query('ALTER TABLE set_aside RENAME TO meters');
  expect(status).toBe(207);
  expect(new Set(body.data.map((item: { status: number }) => item.status))).toEqual(new Set([500]));
  const text = await metricsOf(api.url);
  expect(text).toContain('\nweir_refused_events_total{reason="broken"} 120\n');
  expect(text).toContain('\nweir_faults_total{fault="internal_error"} 20\n');
  await api.stop();
  for (const message of ['a request failed', 'an event of a batch failed']) {
    const lines = api.output().split(`"msg":"${message}"`).length - 1;
    expect(lines).toBeGreaterThan(0);
    // One at once, and one after a second, after two and so on.
    expect(lines).toBeLessThan(10);
  }
});

test('a task of maintenance that fails is counted', async () => {
  const worker = await weir.startWorker();
  const failed = async () =>
    Number(/^weir_faults_total\{fault="maintenance"\} (\d+)$/m.exec(await metricsOf(worker.url))?.[1]);
  expect(await failed()).toBe(0);
  await weir.pool.query('ALTER TABLE revenue_reckonings RENAME TO set_aside');
  await until(async () => (await failed()) > 0, 'it is counted');
  await weir.pool.query('ALTER TABLE set_aside RENAME TO revenue_reckonings');
  await worker.close();
});

test('what a counter says of the outcomes that it counts names each of them', async () => {
  const worker = await weir.startWorker();
  const texts = await Promise.all([metricsOf(), metricsOf(worker.url)]);
  await worker.close();
  const outcomes = [...countersIn(texts.join('\n'))].flatMap(([name, series]) =>
    series.flatMap((line) => {
      const outcome = /\{(?:outcome|fault)="(\w+)"\}/.exec(line)?.[1];
      return outcome === undefined ? [] : [{ name, outcome }];
    }),
  );
  expect(new Set(outcomes.map(({ name }) => name))).toContain('weir_direct_events_total');
  const helpOf = (name: string) => new RegExp(`^# HELP ${name} (.*)$`, 'm').exec(texts.join('\n'))?.[1] ?? '';
  expect(outcomes.filter(({ name, outcome }) => !new RegExp(`\\b${outcome}\\b`).test(helpOf(name)))).toEqual([]);
});
