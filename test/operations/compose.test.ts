// What docker-compose.yml promises those who run Weir with it. There is no Docker here: the file itself is read.

import { apiSettings } from '@weir/api/settings';
import { NODE_OPTIONS } from '@weir/services/node-options';
import { workerSettings } from '@weir/worker/settings';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

interface Service {
  image: string;
  build?: unknown;
  pull_policy?: string;
  environment?: Record<string, string | number>;
  command?: string[];
  ports?: string[];
  healthcheck?: { test: string[]; interval?: string; retries?: number };
  logging?: { driver: string; options: Record<string, string> };
  deploy?: { resources?: { limits?: { memory?: string } } };
}

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const textOf = (path: string): string => readFileSync(pathOf(path), 'utf8');

const text = textOf('docker-compose.yml');
const { services } = parse(text, { merge: true }) as { services: Record<string, Service> };

/** What a value takes from .env, such as SIGNUP of `${SIGNUP:-}`. */
const takenFrom = (value: unknown): string[] =>
  [...String(value).matchAll(/\$\{([A-Z_]+)/g)].map((found) => found[1] ?? '');

/** What compose decides itself: where Postgres is, and where the processes listen. */
const decided = {
  api: ['DATABASE_URL', 'HOST', 'PORT'],
  worker: ['DATABASE_URL', 'HOST', 'WORKER_PORT'],
};

const addresses = { DATABASE_URL: 'postgres://127.0.0.1/weir', REDIS_URL: 'redis://127.0.0.1' };

describe.each([
  ['api', apiSettings, decided.api],
  ['worker', workerSettings, decided.worker],
] as const)('every setting of the %s', (name, settings, fixed) => {
  const environment = services[name]?.environment ?? {};
  const names = Object.keys(settings.shape);

  test('reaches its container from .env, but for those that compose decides', () => {
    const reached = names.filter((setting) => takenFrom(environment[setting]).includes(setting));
    expect([...reached, ...fixed].sort()).toEqual([...names].sort());
    for (const setting of fixed) expect(takenFrom(environment[setting])).not.toContain(setting);
  });

  test('is one that the process has, and not a misspelt one', () => {
    expect(Object.keys(environment).sort()).toEqual([...names].sort());
  });

  test('is read somewhere', () => {
    const files = readdirSync(pathOf(`apps/${name}/src`), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => file.endsWith('.ts') && !/(^|\/)settings\.ts$|\.test\.ts$/.test(file));
    const read = sources.map((file) => textOf(`apps/${name}/src/${file}`)).join('\n');
    expect(names.filter((setting) => !new RegExp(`[.{ ]${setting}\\b`).test(read))).toEqual([]);
  });

  test('is described in docs/configuration.md, with its default, under the processes that have it', () => {
    const own = { api: '## API\n', worker: '## Worker\n' }[name];
    const sections = textOf('docs/configuration.md').split(/^(?=## )/m);
    const settingsUnder = (title: string) =>
      (sections.find((section) => section.startsWith(title)) ?? '').matchAll(/^\| `([A-Z_]+)` \| `?([^|`]+)`? \|/gm);
    const rows = [...settingsUnder('## API and worker\n'), ...settingsUnder(own)];
    const described = Object.fromEntries(rows.map(([, setting = '', byDefault]) => [setting, byDefault]));
    expect(Object.keys(described).sort()).toEqual([...names].sort());
    const defaults = names.map((setting) => {
      const { success, data } = settings.safeParse({ ...addresses, [setting]: undefined });
      return [
        setting,
        success ? String((data as Record<string, { toString(): string }>)[setting] ?? 'unset') : 'required',
      ];
    });
    expect(described).toMatchObject(Object.fromEntries(defaults));
  });
});

test('a setting that .env does not have takes its own default, or one that docs/configuration.md tells of', () => {
  const page = textOf('docs/configuration.md');
  const docker = page.slice(page.indexOf('**Docker.**'), page.indexOf('## API and worker'));
  const others = ['api', 'worker'].flatMap((name) =>
    Object.entries(services[name]?.environment ?? {})
      .filter(([, value]) => !/^\$\{[A-Z_]+:-\}$/.test(String(value)))
      .map(([setting]) => setting),
  );
  expect(others.filter((setting) => !docker.includes(`\`${setting}\``))).toEqual([]);
});

test('what docs/operations.md has edited in .env reaches the containers', () => {
  const lines = textOf('docs/operations.md').match(/^.*`\.env`.*$/gm) ?? [];
  const edited = lines.flatMap((line) => [...line.matchAll(/`([A-Z]+_[A-Z_]+)\b/g)].map((found) => found[1] ?? ''));
  expect(edited).toEqual(
    expect.arrayContaining(['REDIS_URL', 'QUEUE_PREFIX', 'REDIS_PASSWORD', 'BILLING_CONCURRENCY']),
  );
  const taken = new Set(Object.values(services).flatMap((service) => takenFrom(JSON.stringify(service))));
  expect(edited.filter((name) => !taken.has(name))).toEqual([]);
});

test('all processes have one Redis: that of .env, or else the one of the file', () => {
  const addresses = ['migrate', 'api', 'worker', 'reconcile'].map((name) => services[name]?.environment?.['REDIS_URL']);
  expect(new Set(addresses)).toEqual(new Set(['${REDIS_URL:-redis://:${REDIS_PASSWORD}@redis:6379/0}']));
  // Without it compose would go on with an empty password.
  expect(services['redis']?.environment?.['REDISCLI_AUTH']).toMatch(/^\$\{REDIS_PASSWORD:\?/);
});

test('.env.example has every variable that docker-compose.yml takes, and no other', () => {
  const offered = [...textOf('.env.example').matchAll(/^(?:# )?([A-Z_]+)=/gm)].map((found) => String(found[1]));
  expect(offered.sort()).toEqual([...new Set(takenFrom(text))].sort());
});

test('every container has a limit of memory, and a log that cannot fill the disk', () => {
  const unbounded = Object.entries(services).filter(
    ([, { logging, deploy }]) =>
      logging?.options['max-size'] === undefined || deploy?.resources?.limits?.memory === undefined,
  );
  expect(unbounded.map(([name]) => name)).toEqual([]);
});

test('a process of Weir is run by files that a build makes', () => {
  const scripts = Object.values(services)
    .flatMap(({ command }) => command ?? [])
    .filter((word) => word.endsWith('.js'));
  const sources = scripts.map((path) => path.replace('/dist/', '/src/').replace(/\.js$/, '.ts'));
  expect(sources.length).toBeGreaterThan(0);
  for (const source of sources) expect(textOf(source)).not.toBe('');
});

test('one service builds the image of all, so that what has not changed is the same image again', () => {
  const ours = Object.entries(services).filter(([, { image }]) => image === 'weir');
  expect(ours.map(([name]) => name).sort()).toEqual(['api', 'migrate', 'reconcile', 'worker']);
  expect(ours.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual(['migrate']);
});

test('no registry is asked for the image that is built here', () => {
  const ours = Object.entries(services).filter(([, { image }]) => image === 'weir');
  expect(ours.filter(([, { pull_policy }]) => pull_policy !== 'never').map(([name]) => name)).toEqual([]);
  // What is not made here comes from a registry.
  const others = Object.values(services).filter(({ image }) => image !== 'weir');
  expect(others.filter(({ pull_policy }) => pull_policy !== undefined)).toEqual([]);
});

test('reconcile is well for a day while its first run has not ended, and then as that has ended', () => {
  const [, check = ''] = services['reconcile']?.healthcheck?.test ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'weir-health-'));
  const command = check.replaceAll('$$', '$').replaceAll('/tmp/', `${folder}/`);
  const statusWith = (text: string): number | null => {
    writeFileSync(join(folder, 'reconcile'), text);
    return spawnSync('sh', ['-c', command]).status;
  };
  // The script has written one before the first check.
  expect([spawnSync('sh', ['-c', command]).status, ...['0\n', '1\n', '2\n'].map(statusWith)]).toEqual([1, 0, 1, 1]);
  // One that began since has not ended.
  expect(statusWith('0\n')).toBe(0);
  const dayBefore = Date.now() / 1000 - 2 * 86_400;
  utimesSync(join(folder, 'reconcile'), dayBefore, dayBefore);
  expect(spawnSync('sh', ['-c', command]).status).toBe(1);
  rmSync(folder, { recursive: true });
});

test('Postgres is well once it answers by its address, and like Redis may read a long log first', () => {
  // While the image makes the database, its first server listens on a socket alone.
  expect(services['postgres']?.healthcheck?.test).toEqual(['CMD-SHELL', expect.stringMatching(/ -h 127\.0\.0\.1 /)]);
  for (const name of ['postgres', 'redis']) {
    const { interval, retries, ...more } = services[name]?.healthcheck ?? { test: [] };
    expect(Number.parseInt(interval ?? '') * (retries ?? 0)).toBe(300);
    // Docker has an interval of its own for it, 5 s, by which each start would wait.
    expect(more).not.toHaveProperty('start_period');
  }
});

test('nobody but the proxy is reached from outside', () => {
  expect(Object.keys(services).filter((name) => services[name]?.ports !== undefined)).toEqual(['proxy']);
});

test('the image gives Node the options that npm start gives it', () => {
  const entrypoint = /^ENTRYPOINT (.*)$/m.exec(textOf('Dockerfile'))?.[1] ?? '[]';
  expect(JSON.parse(entrypoint)).toEqual(['node', ...NODE_OPTIONS]);
});
