// What `npm start` runs once all is built, on a Postgres and a Redis that are given to it.

import { type ServicesFile, placeOf } from '@weir/shared/services-file';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../support/harness.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { ownWeir } from '../support/use-weir.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const weir = ownWeir({ withWorker: false });
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'weir-start-'));
});
afterEach(() => rm(home, { recursive: true }));

/** Starts it, has `look` see that it serves, and stops it. Returns all that it said. */
async function start(env: Record<string, string>, look: (url: string) => Promise<void>): Promise<string> {
  const child = spawn(process.execPath, ['services/dist/start.js'], {
    cwd: root,
    env: { PATH: process.env['PATH'], WEIR_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  try {
    await until(async () => child.exitCode !== null || said.includes('Ctrl-C stops everything'), 'it is up, or ended');
    const [, url] = /Weir runs: open (\S+)/.exec(said) ?? [];
    if (url === undefined) throw new Error(`It ended: ${said}`);
    await look(url);
  } finally {
    child.kill();
    await closed;
  }
  expect([said, child.exitCode]).toEqual([expect.any(String), 0]);
  return said;
}

const isReady = async (url: string) => expect((await fetch(`${url}/readyz`)).status).toBe(200);

test('what keeps the demo from being made is told in a line, and Weir serves without it', async () => {
  const file = join(home, 'demo.json');
  await writeFile(file, '{');
  const said = await start(weir.env, isReady);
  expect(said).toMatch(/^There is no demo now: \S+demo\.json cannot be read: mend or remove it\.\n/m);
});

test('what the migration waits for is told while it waits', async () => {
  const holder = await weir.pool.connect();
  try {
    // As one that was started beside it, or was interrupted.
    await holder.query('SELECT pg_advisory_lock(7339221551)');
    const child = spawn(process.execPath, ['services/dist/start.js'], {
      cwd: root,
      env: { PATH: process.env['PATH'], WEIR_HOME: home, ...weir.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(child, 'close');
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
    await until(() => child.exitCode !== null || said.includes('is being migrated already'), 'it says so').finally(() =>
      child.kill(),
    );
    await closed;
    expect(said).toMatch(/^Waiting: this database is being migrated already/m);
  } finally {
    holder.release(true);
  }
});

test('each setting that it sets itself may be kept in a file, and others are told where it is', async () => {
  const names = ['DATABASE_URL', 'REDIS_URL', 'PORT', 'WORKER_PORT', 'DRAIN_DELAY_MS'];
  const env = { ...weir.env };
  for (const name of names) {
    const file = join(home, name);
    await writeFile(file, `${env[name]}\n`);
    delete env[name];
    env[`${name}_FILE`] = file;
  }
  const told = async () => JSON.parse(await readFile(join(home, 'services.json'), 'utf8')) as ServicesFile;
  await start(env, async (url) => {
    await isReady(url);
    const { database_url, redis_url, base_url, given } = await told();
    expect({ database_url, redis_url, base_url }).toEqual({ base_url: url });
    expect(given).toEqual({ DATABASE_URL: placeOf(weir.databaseUrl), REDIS_URL: placeOf(weir.env.REDIS_URL ?? '') });
  });
  expect(Object.keys(await told())).toEqual(['given']);
});

test.each(['api', 'worker'])('an address that cannot be listened on is told in one line: %s', async (app) => {
  const start = (HOST: string) => runToEnd(`apps/${app}/dist/main.js`, { ...weir.env, HOST });
  for (const ended of await Promise.all(['192.0.2.1', 'no.invalid'].map(start)))
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^Cannot start: [^\n]*HOST[^\n]*\n$/) });
});
