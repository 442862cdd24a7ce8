// What those who run Weir without Docker copy from deploy/, and paste from docs/operations.md: it fits what is there.

import { apiSettings } from '@weir/api/settings';
import { NODE_OPTIONS } from '@weir/services/node-options';
import { PROBE_MS_MAX } from '@weir/shared/probe';
import { workerSettings } from '@weir/worker/settings';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Returns what a command of a shell prints. */
const shell = async (command: string): Promise<string> => (await promisify(execFile)('sh', ['-c', command])).stdout;
const textOf = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');

describe.each(['api', 'worker'])('the unit of the %s', (app) => {
  const unit = textOf(`deploy/weir-${app}.service`);
  const value = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

  test('runs the file that a build makes, with the options that Weir is run with', () => {
    const [, ...args] = value('ExecStart').split(' ');
    expect(args).toEqual([...NODE_OPTIONS, `apps/${app}/dist/main.js`]);
    expect(existsSync(`${root}/apps/${app}/dist/main.js`)).toBe(true);
  });

  test('waits longer for a stop than a stop takes', () => {
    const { DRAIN_DELAY_MS, DRAIN_TIMEOUT_MS } = apiSettings.parse({
      DATABASE_URL: 'postgres://x/y',
      REDIS_URL: 'redis://x',
    });
    expect(Number(value('TimeoutStopSec')) * 1000).toBeGreaterThan(DRAIN_DELAY_MS + DRAIN_TIMEOUT_MS);
  });

  test('lets it write nowhere, and V8 compile', () => {
    expect(unit).toMatch(/^ProtectSystem=strict$/m);
    expect(unit).not.toMatch(/^(ReadWritePaths|MemoryDenyWriteExecute)=/m);
  });
});

test('several APIs and several workers on one machine have each a port of their own', () => {
  const services = { DATABASE_URL: 'postgres://x/y', REDIS_URL: 'redis://x' };
  const portsOf = (app: string): string[] =>
    [...textOf(`deploy/weir-${app}.service`).matchAll(new RegExp(`weir-${app}@(\\d+)`, 'g'))].map(
      ([, port]) => port ?? '',
    );
  const [apis, workers] = [portsOf('api'), portsOf('worker')];
  expect(apis).toContain(String(apiSettings.parse(services).PORT));
  expect(workers).toContain(String(workerSettings.parse(services).WORKER_PORT));
  expect(new Set([...apis, ...workers]).size).toBe(4);
});

test('HAProxy serves without Docker by the same rules as under compose', () => {
  /** What differs: where it listens and logs, and how it finds the APIs. */
  const rulesOf = (path: string) =>
    textOf(path)
      .split('\n')
      .map((line) => line.trim().replace(/ resolvers docker resolve-prefer ipv4 init-addr none$/, ''))
      .filter(
        (line) =>
          line !== '' &&
          !/^(#|log |bind |resolvers |nameserver |accepted_payload_size |hold |server |server-template )/.test(line),
      );
  expect(rulesOf('deploy/haproxy-servers.cfg')).toEqual(rulesOf('deploy/haproxy.cfg'));
});

test('HAProxy asks for the addresses that the APIs of compose listen on', () => {
  expect(textOf('docker-compose.yml')).toMatch(/^ +HOST: 0\.0\.0\.0$/m);
  const servers = textOf('deploy/haproxy.cfg').match(/^ *default-server .*$/gm) ?? [];
  expect(servers).toHaveLength(2);
  for (const line of servers) expect(line).toContain(' resolve-prefer ipv4 ');
});

test('HAProxy has room for twice as many APIs as may run, and for the answer that names them', () => {
  const most = Number(/with up to (\d+) APIs/.exec(textOf('docs/operations.md'))?.[1]);
  const config = textOf('deploy/haproxy.cfg');
  const places = [...config.matchAll(/server-template api (\d+)/g)].map(([, count]) => Number(count));
  expect(places).toEqual([2 * most, 2 * most]);
  // An address takes up to 28 bytes: that of IPv6, behind a pointer to the name.
  expect(Number(/accepted_payload_size (\d+)/.exec(config)?.[1])).toBeGreaterThan(512 + 28 * 2 * most);
});

test.each(['haproxy.cfg', 'haproxy-servers.cfg'])(
  '%s waits for /readyz, and shows no /metrics however written',
  (file) => {
    const config = textOf(`deploy/${file}`);
    // While Postgres is silent /readyz takes so long to say that it is ready all the same.
    const seconds = Number(/^ {2}timeout check (\d+)s$/m.exec(config)?.[1]);
    expect(seconds * 1000).toBeGreaterThan(1.5 * PROBE_MS_MAX);
    // An API serves /%6detrics as well.
    expect(config).toContain('return status 404 if { path,url_dec -m str /metrics }');
  },
);

test('Postgres has connections for as many processes as the documents say', () => {
  const services = { DATABASE_URL: 'postgres://x/y', REDIS_URL: 'redis://x' };
  const { DATABASE_CONNECTIONS } = apiSettings.parse(services);
  const { WORKER_CONCURRENCY, BILLING_CONCURRENCY } = workerSettings.parse(services);
  const operations = textOf('docs/operations.md').replaceAll('\n', ' ');
  const [ofApi, ofWorker] = [DATABASE_CONNECTIONS + 6, WORKER_CONCURRENCY + BILLING_CONCURRENCY + 10];
  expect(operations).toContain(`at least ${ofApi} × APIs, twice while you upgrade, + ${ofWorker} × workers + 10.`);
  const max = Number(/max_connections=\$\{POSTGRES_MAX_CONNECTIONS:-(\d+)\}/.exec(textOf('docker-compose.yml'))?.[1]);
  const [, ...counts] = /enough for (\d+) APIs and (\d+) workers/.exec(operations) ?? [];
  const [apis, workers] = counts.map(Number) as [number, number];
  expect(max).toBeGreaterThanOrEqual(2 * ofApi * apis + ofWorker * workers + 10);
});

test('an upgrade under Kubernetes has no more processes than the documents count with', () => {
  const surgeOf = (app: string) =>
    /maxSurge: (\S+), maxUnavailable: 0/.exec(textOf(`deploy/helm/weir/templates/${app}.yaml`))?.[1];
  // One API more at a time, beside those that still stop; and as many workers again.
  expect([surgeOf('api'), surgeOf('worker')]).toEqual(['1', '100%']);
  const [, apis, workers] =
    /^ {2}replicas: (\d+)[^]*^ {4}maxReplicas: (\d+)/m.exec(textOf('deploy/helm/weir/values.yaml')) ?? [];
  const [, ofWorkers] = /twice the workers as well: \+ (\d+) × workers/.exec(textOf('docs/operations.md')) ?? [];
  const { WORKER_CONCURRENCY, BILLING_CONCURRENCY } = workerSettings.parse({
    DATABASE_URL: 'postgres://x/y',
    REDIS_URL: 'redis://x',
  });
  expect(Number(ofWorkers)).toBe(2 * (WORKER_CONCURRENCY + BILLING_CONCURRENCY + 10));
  const max = Number(/max_connections: '(\d+)'/.exec(textOf('docs/scale.md'))?.[1]);
  expect(max).toBeGreaterThanOrEqual(2 * 16 * Number(apis) + Number(ofWorkers) * Number(workers) + 10);
});

test('an upgrade under Docker gives Postgres and the proxy room before it starts more processes', () => {
  const [, steps = ''] = /^## Upgrade\n([^]*?)^Without Docker:/m.exec(textOf('docs/operations.md')) ?? [];
  const commands = [...steps.matchAll(/docker compose up .*?(postgres|proxy|worker|api)\b/g)].map(
    ([, service]) => service,
  );
  expect(commands.slice(0, 4)).toEqual(['postgres', 'proxy', 'worker', 'api']);
});

test('each pg_restore of docs/operations.md is followed by ANALYZE: a dump has no statistics', () => {
  const after = textOf('docs/operations.md')
    .split(/pg_restore (?:-U weir )?-d weir/)
    .slice(1);
  expect(after.length).toBeGreaterThan(2);
  expect(after.filter((text) => !text.slice(0, 250).includes('ANALYZE'))).toEqual([]);
});

describe('base backups of docs/operations.md', () => {
  const page = textOf('docs/operations.md');

  test('have each a folder of its own: pg_basebackup takes none that holds one', async () => {
    const target = /pg_basebackup -D (\S+(?: \+\S+)?) -c/.exec(page)?.[1] ?? '';
    const folderOn = (date: string) => shell(`date() { command date -d ${date} "$@"; }; echo ${target}`);
    expect(await folderOn('2026-11-07')).toBe('/backup/base-2026-11-07\n');
    expect(await folderOn('2026-11-14')).toBe('/backup/base-2026-11-14\n');
  });

  test('go back along their own history, and leave no moment behind for a standby to stop at', () => {
    const [, steps = ''] = /^To go back to a moment([^]*?)^### /m.exec(page) ?? [];
    const lines = /```\n([^]*?)```/.exec(steps)?.[1]?.trim().split('\n') ?? [];
    expect(lines.map((line) => line.trim())).toContain("recovery_target_timeline = 'current'");
    expect(lines).toHaveLength(4);
    expect(steps).toMatch(/^4\. Take these four lines out/m);
    expect(steps).toMatch(/`weir_before`[^]*archive_mode=off/);
  });

  test('name the first WAL that they need, from before which it is deleted', async () => {
    const label = 'START WAL LOCATION: 0/9000028 (file 000000010000000000000009)\nCHECKPOINT LOCATION: 0/9000080\n';
    const command = /pg_archivecleanup \/backup\/wal ("\$\(sed .*\)")`/.exec(page)?.[1] ?? '';
    const read = command.replace('/backup/base-DATE/backup_label', '-');
    expect(await shell(`printf '${label}' | echo ${read}`)).toBe('000000010000000000000009\n');
  });
});
