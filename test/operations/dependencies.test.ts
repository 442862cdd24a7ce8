// Whoever installs Weir gets what was tested: each dependency is named by one version, also one that is put in another's place.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Package {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  overrides?: Record<string, string>;
}

test('every dependency and every override is one exact version', async () => {
  const { packages } = await readJson<{ packages: Record<string, unknown> }>('package-lock.json');
  const workspaces = Object.keys(packages).filter((folder) => !folder.includes('node_modules'));
  expect(workspaces).toEqual(expect.arrayContaining(['', 'apps/api', 'packages/db', 'services']));
  for (const folder of workspaces) {
    const { dependencies, devDependencies, overrides } = await readJson<Package>(folder, 'package.json');
    const ranges = Object.entries({ ...dependencies, ...devDependencies, ...overrides }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );
    expect([folder, ranges]).toEqual([folder, []]);
  }
});

async function readJson<T>(...path: string[]): Promise<T> {
  return JSON.parse(await readFile(join(root, ...path), 'utf8')) as T;
}
