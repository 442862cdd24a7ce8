// A release has one number, in package.json of the whole; whatever shows it shows that one.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
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
