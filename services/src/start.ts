// npm start: brings up the services, migrates, runs the API and a worker, and takes everything down again when it is
// told to stop. It keeps what it brought up running (keep-running.ts). When it is killed itself, the API and the
// worker notice, drain and end; the services stay until the next start stops and replaces them (services.ts).

import { type ServicesFile, placeOf } from '@weir/shared/services-file';
import { loadGiven } from '@weir/shared/settings';
import { once } from 'node:events';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type App, drainSeconds, openApp } from './apps.ts';
import { withSettings } from './child-settings.ts';
import { findFreePort, isPortFree, writePrivateFile } from './connection.ts';
import { type Demo, type DemoPlace, openDemo } from './demo.ts';
import { run } from './run.ts';
import { openServices } from './services.ts';
import { tellWelcome } from './welcome.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const env = process.env;
/** What it has to know of what the processes are told. */
const OWN_SETTINGS = [
  'DATABASE_URL',
  'REDIS_URL',
  'HOST',
  'PORT',
  'WORKER_PORT',
  'PUBLIC_URL',
  'SIGNUP',
  'DRAIN_DELAY_MS',
  'DRAIN_TIMEOUT_MS',
];
const stopping = new AbortController();
const closers: (() => Promise<void>)[] = [];

try {
  listenForStop();
  await start();
  // Told so while it was starting, it is not told again.
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
} catch (error) {
  // Told to stop while it was starting: whatever broke off then is no failure.
  if (!stopping.signal.aborted) {
    console.error(`\n${messageOf(error)}`);
    process.exitCode = 1;
  }
} finally {
  await closeAll();
}
// A request that is kept alive, or a pipe, would hold the process for seconds.
process.exit();

async function start(): Promise<void> {
  const home = resolve(root, env.WEIR_HOME || '.weir');
  const { signal } = stopping;
  const given = loadGiven(env, OWN_SETTINGS);
  // Nobody stands between people and the one API: Ctrl-C has nobody to tell.
  const { DRAIN_DELAY_MS = '0' } = given;
  const services = await openServices({
    home,
    databaseUrl: given.DATABASE_URL,
    redisUrl: given.REDIS_URL,
    drainSeconds: drainSeconds({ ...given, DRAIN_DELAY_MS }),
    log,
    signal,
  });
  closers.push(() => services.close());
  signal.throwIfAborted();
  // For tools on the same machine (npm run reconcile, npm run admin). What opens what was given is not ours to write down.
  const addresses: ServicesFile = {
    ...(given.DATABASE_URL === undefined && { database_url: services.databaseUrl }),
    ...(given.REDIS_URL === undefined && { redis_url: services.redisUrl }),
    given: {
      ...(given.DATABASE_URL !== undefined && { DATABASE_URL: placeOf(given.DATABASE_URL) }),
      ...(given.REDIS_URL !== undefined && { REDIS_URL: placeOf(given.REDIS_URL) }),
    },
  };
  const tell = (file: ServicesFile) =>
    writePrivateFile(join(home, 'services.json'), `${JSON.stringify(file, null, 2)}\n`);
  await tell(addresses);
  const settings = withSettings(env, {
    DRAIN_DELAY_MS,
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
  });
  await migrate(settings);

  const port = await choosePort(given.PORT, 3000, given.HOST);
  const workerPort = await choosePort(given.WORKER_PORT, port === '3001' ? 3002 : 3001, given.HOST);
  // When one cannot start, the other is not waited for.
  const failing = new AbortController();
  const open = (name: string, app: string, setting: Record<string, string>): Promise<App> =>
    openApp({
      name: `The ${name}`,
      script: join(root, 'apps', app, 'dist', 'main.js'),
      logPath: join(home, 'log', `${app}.log`),
      env: withSettings(settings, setting),
      home,
      log,
      signal: AbortSignal.any([signal, failing.signal]),
    }).catch((error: unknown) => {
      failing.abort(error);
      throw error;
    });
  const apps = await Promise.allSettled([
    open('API', 'api', { PORT: port }),
    open('worker', 'worker', { WORKER_PORT: workerPort }),
  ]);
  const opened = apps.flatMap((app) => (app.status === 'fulfilled' ? [app.value] : []));
  // One closer for both: they drain at the same time, and before the services go.
  closers.push(async () => {
    await Promise.all(opened.map((app) => app.stop()));
  });
  failing.signal.throwIfAborted();
  const [api] = opened;
  if (api === undefined) throw new Error('The API did not start.');

  const baseUrl = reachable(api.url);
  await tell({ ...addresses, base_url: given.PUBLIC_URL ?? baseUrl });
  // Whatever listens there afterwards is another one, and no tool is to send it a key.
  closers.push(() => tell(addresses));
  const demo = await tryDemo({ file: join(home, 'demo.json'), baseUrl, signup: given.SIGNUP ?? 'first' });
  log(tellWelcome(baseUrl, demo, shorten(home)));
}

/** Weir serves without a demo: what keeps it from being made is told, and no more. */
async function tryDemo(place: DemoPlace): Promise<Demo | undefined> {
  try {
    return await openDemo(place, log);
  } catch (error) {
    log(`There is no demo now: ${messageOf(error)}`);
    return undefined;
  }
}

/** What it says is shown where it takes long: a new database is made in a moment, by dozens of migrations. */
async function migrate(settings: NodeJS.ProcessEnv): Promise<void> {
  const script = join(root, 'packages/db/dist/migrate-main.js');
  const said: string[] = [];
  let isShown = false;
  const show = (): void => {
    isShown = true;
    for (const line of said.splice(0)) log(line);
  };
  const timer = setTimeout(show, 3_000);
  const { ok, output } = await run(process.execPath, [script], {
    // An index on a large table takes as long as it does, and migrate itself bounds what it waits for.
    seconds: undefined,
    onLine(line) {
      said.push(line);
      if (isShown) show();
    },
    env: settings,
    signal: stopping.signal,
  });
  clearTimeout(timer);
  if (ok) return;
  if (!stopping.signal.aborted) show();
  throw new Error(`The database could not be migrated:\n${output}`);
}

/** A port that is set is taken at its word; where none is set and the usual one is taken, any free one will do. */
async function choosePort(set: string | undefined, usual: number, host = '127.0.0.1'): Promise<string> {
  if (set !== undefined) return set;
  return String((await isPortFree(usual, host)) ? usual : await findFreePort());
}

/** Listening on every address is not an address one can open. */
function reachable(url: string): string {
  return url.replace(/\/$/, '').replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');
}

/** Ctrl-C and its like may come more than once, from the terminal and again from npm: only the first one matters. */
function listenForStop(): void {
  const stop = (): void => {
    if (!stopping.signal.aborted) log('\nStopping …');
    stopping.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  // A terminal that is gone cannot be written to; that must not keep anything from being stopped.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  stopWithNpm(stop);
}

/**
 * An npm that is killed says nothing, and would leave everything running: the system gives its child, which is this
 * process (`exec` in package.json leaves no shell between them), another parent.
 */
function stopWithNpm(stop: () => void): void {
  if (env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== npm) stop();
  }, 500);
  timer.unref();
}

/** Last opened, first closed. What cannot be closed is told, and keeps nothing else from being closed. */
async function closeAll(): Promise<void> {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    await close().catch((error: unknown) => {
      console.error(messageOf(error));
      process.exitCode = 1;
    });
  }
}

function shorten(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function log(line: string): void {
  console.log(line);
}
