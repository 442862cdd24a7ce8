// A release has one number, in package.json of the whole; whatever shows it shows that one.

import { migrate } from '@weir/db/migrate';
import { readMigration } from '@weir/db/migration-file';
import { MIGRATIONS } from '@weir/db/migrations';
import { queueKeys } from '@weir/queue/keys';
import { STAGED_SEPARATOR } from '@weir/queue/staged';
import { RATING_VERSION } from '@weir/rating/rate';
import { cp, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { setBillingTime } from '../support/billing-time.ts';
import { until } from '../support/harness.ts';
import {
  RELEASES,
  brokenBy,
  hashOfFile,
  loadRows,
  newReleaseFolder,
  readSchemaOf,
  type Kept,
} from '../support/release.ts';
import { createDatabase } from '../support/setup/database.ts';
import { sharedWeir } from '../support/use-weir.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFile(`${root}/${path}`, 'utf8');
const versionOf = async (path: string) => (JSON.parse(await read(path)) as { version: string }).version;

const weir = sharedWeir();

test('the version stands in package.json, and everything that shows one shows this one', async () => {
  const version = await versionOf('package.json');
  expect((await weir.request('GET', '/version')).body).toEqual({ version, revision: 'unknown' });

  const { packages } = JSON.parse(await read('package-lock.json')) as { packages: object };
  const workspaces = Object.keys(packages).filter((path) => !path.includes('node_modules/'));
  const shown: Record<string, string | undefined> = {};
  for (const path of ['package-lock.json', ...workspaces.map((path) => join(path, 'package.json'))])
    shown[path] = await versionOf(path);
  const places: [string, RegExp][] = [
    ['Dockerfile', /image\.version="(.*?)"/],
    // Of the chart and of its image.
    ['deploy/helm/weir/Chart.yaml', /^version: (\S+)\nappVersion: \1$/m],
    ['clients/python/pyproject.toml', /^version = "(.*)"$/m],
    ['clients/python/weir/__init__.py', /^__version__ = "(.*)"$/m],
    ['packages/sdk/README.md', /weir-sdk-(.*)\.tgz/],
    // The newest one that is released.
    ['CHANGELOG.md', /^## \[(\d.*)\] - \d{4}-\d\d-\d\d$/m],
  ];
  for (const [path, pattern] of places) shown[path] = pattern.exec(await read(path))?.[1];
  expect(shown).toEqual(Object.fromEntries(Object.keys(shown).map((path) => [path, version])));
});

test('the changelog has a section for what is not released, and the newest release first', async () => {
  const titles = (await read('CHANGELOG.md')).match(/^## .*$/gm) ?? [];
  expect(titles[0]).toBe('## [Unreleased]');
  const dates = titles.slice(1).map((title) => /^## \[\d+\.\d+\.\d+\] - (\d{4}-\d\d-\d\d)$/.exec(title)?.[1] ?? title);
  for (const date of dates) expect(date).toMatch(/^\d{4}-/);
  expect(dates).toEqual([...dates].sort().reverse());
});

const releases = (await readdir(RELEASES)).filter((name) => /^\d/.test(name));
const numberOf = (version: string) => version.split('.').reduce((sum, part) => sum * 1_000 + Number(part), 0);
releases.sort((one, other) => numberOf(one) - numberOf(other));
const last = releases.at(-1) ?? '';

const migrationsOf = async (release: string) =>
  JSON.parse(await read(`test/releases/${release}/migrations.json`)) as Record<string, string>;

test('the newest release has its dump, and no migration that was ever released is changed', async () => {
  expect(last).toBe(await versionOf('package.json'));
  for (const release of releases) {
    const released = await migrationsOf(release);
    const now: Record<string, string> = {};
    for (const name of Object.keys(released)) now[name] = await hashOfFile(`${MIGRATIONS}/${name}`);
    expect(now).toEqual(released);
  }
});

test('what is kept of a release is not written over by another build that has its number', async () => {
  for (const release of releases) expect(() => newReleaseFolder(release)).toThrow(`${release} is kept already`);
  expect(newReleaseFolder('999.0.0')).toBe(`${RELEASES}/999.0.0`);
});

test('processes of the last release may run on each migration since', async () => {
  const released = Object.keys(await migrationsOf(last));
  const newest = released.at(-1)?.slice(0, 4) ?? '';
  const since = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql') && !released.includes(name));
  for (const name of since) {
    const { needs } = readMigration(await readFile(`${MIGRATIONS}/${name}`, 'utf8'));
    expect({ name, runs: needs === null || needs <= newest }).toEqual({ name, runs: true });
  }
});

/** Tables of which an organization has few rows: an index of one is built before anybody notices. */
const SMALL_TABLES = ['api_keys', 'meters'];

test('an index of a table that the last release has is built while everybody goes on writing', async () => {
  const released = await migrationsOf(last);
  const textsOf = (names: string[]) => Promise.all(names.map((name) => read(`packages/db/migrations/${name}`)));
  const before = (await textsOf(Object.keys(released))).join('\n');
  const tables = new Set([...before.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, table = '']) => table));
  expect(tables.size).toBeGreaterThan(40);
  const since = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql') && !(name in released));
  const indexes = (await textsOf(since)).flatMap((text) => [
    ...text.matchAll(
      /\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+(?!CONCURRENTLY)([^(;]*?)\bON\s+(?:ONLY\s+)?(?:public\.)?(\w+)/g,
    ),
  ]);
  const held = indexes.filter(([, , table = '']) => tables.has(table) && !SMALL_TABLES.includes(table));
  expect(held.map(([, index]) => index)).toEqual([]);
});

test('what the statements of an older version would not bear is told', () => {
  const text = { type: 'text', nullable: false, filled: false };
  const before = {
    columns: { 'a.gone': text, 'a.kept': { ...text, nullable: true }, 'a.unread': text },
    functions: ['f()', 'g()'],
  };
  const after = { columns: { 'a.kept': text, 'a.added': text, 'b.anew': text }, functions: ['g()'] };
  expect(brokenBy(before, before, new Set())).toEqual([]);
  expect(brokenBy(before, after, new Set(['a.unread']))).toEqual([
    'a.gone is gone',
    'a.kept may not be null any more',
    'a.added is new, and has to be given',
    'f() is gone',
  ]);
  const changed = { columns: { ...before.columns, 'a.gone': { ...text, type: 'uuid' } }, functions: before.functions };
  expect(brokenBy(before, changed, new Set())).toEqual(['a.gone was text and is uuid']);
});

/** The lines of drafts have no closing yet: they are rated by the rules of now, and come to the same. */
const ratedNow = (answers: Kept['answers']): Kept['answers'] =>
  JSON.parse(JSON.stringify(answers), (_, value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    'rating_version' in value &&
    'closing' in value &&
    value.closing === null
      ? { ...value, rating_version: RATING_VERSION }
      : value,
  ) as Kept['answers'];

describe.each(releases)('a database of %s', (release) => {
  test('is migrated, reads and bills as before, and what waits in its queue is recorded', async () => {
    const released = Object.keys(await migrationsOf(release));
    const folder = await mkdtemp(join(tmpdir(), 'weir-migrations-'));
    for (const name of released) await cp(`${MIGRATIONS}/${name}`, join(folder, name));
    const { name, url, drop } = await createDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const settings = { DATABASE_URL: url, QUEUE_PREFIX: `{weir-test-${name.slice(-12)}}` };
    const closers: (() => Promise<void>)[] = [];
    try {
      expect(await migrate(url, folder)).toEqual({ applied: released });
      await loadRows(client, await readFile(`${RELEASES}/${release}/rows.sql.gz`));
      const before = await readSchemaOf(client);
      await migrate(url);
      const unread = new Set(
        (await read(`test/releases/${release}/unread.txt`)).split('\n').filter((line) => line !== ''),
      );
      // Older releases are no longer run beside this one.
      const broken = release === last ? brokenBy(before, await readSchemaOf(client), unread) : [];
      expect(broken).toEqual([]);

      const kept = JSON.parse(gunzipSync(await readFile(`${RELEASES}/${release}/answers.json.gz`)).toString()) as Kept;
      await setBillingTime(client, kept.at);
      const api = await weir.startApi(settings);
      closers.push(() => api.close());
      const worker = await weir.startWorker(settings);
      closers.push(() => worker.close());
      const { email, password } = kept;
      const signedIn = await weir.request('POST', '/api/v1/auth/login', {
        body: { email, password },
        baseUrl: api.url,
      });
      const session = /access_token=([^;]+)/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? '';
      const ask = (method: string, path: string) =>
        weir.request(method, `/api/v1${path}`, { session, baseUrl: api.url });
      const answers: Record<string, unknown> = {};
      for (const path of Object.keys(kept.answers)) answers[path] = (await ask('GET', path)).body;
      // What is new in an answer is no difference.
      expect(answers).toMatchObject(ratedNow(kept.answers));
      expect(Object.keys(answers).length).toBeGreaterThan(20);

      const { data } = (await ask('GET', '/invoices?page_size=100')).body as { data: { id: string; status: string }[] };
      const finalized = data.filter(({ status }) => status !== 'DRAFT');
      expect(finalized.length).toBeGreaterThan(5);
      for (const { id } of finalized)
        for (const from of ['rollups', 'events']) {
          const path = `/api/v1/invoices/${id}/recompute`;
          const { body } = await weir.request('POST', path, { session, baseUrl: api.url, body: { from } });
          expect({ id, from, identical: body.identical }).toEqual({ id, from, identical: true });
        }

      const keys = queueKeys(settings.QUEUE_PREFIX);
      await weir.redis.rpush(keys.batch('of-the-release'), kept.staged.join(STAGED_SEPARATOR));
      await weir.redis.zadd(keys.staged, Date.now() - 60_000, 'of-the-release');
      await until(async () => (await weir.redis.zcard(keys.staged)) === 0, 'its batch is recorded');
      const { rows } = await client.query(
        `SELECT quantity, metadata::text FROM events WHERE customer_external_id = 'of the queue' ORDER BY id`,
      );
      const plain = { quantity: '1.50', metadata: null };
      expect(rows).toEqual([plain, { quantity: '1.50', metadata: '{"region":"eu","cost":1.50}' }, plain]);
    } finally {
      for (const close of closers.reverse()) await close();
      await client.end();
      await drop();
      const left = await weir.redis.keys(`${settings.QUEUE_PREFIX.replace(/[{}]/g, '\\$&')}*`);
      if (left.length > 0) await weir.redis.unlink(...left);
      await rm(folder, { recursive: true });
    }
  });
});
