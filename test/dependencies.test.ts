// Whoever installs Weir gets what was tested: each dependency is named by one version, also one that is put in another's place.

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

interface Package {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  overrides?: Record<string, string>;
}

const APPS = ['api', 'import', 'reconcile', 'worker'].map((name) => `apps/${name}`);
const PACKAGES = ['db', 'sdk', 'shared'].map((name) => `packages/${name}`);

test('every dependency and every override is one exact version', async () => {
  for (const folder of ['.', ...APPS, ...PACKAGES, 'services', 'chaos']) {
    const text = await readFile(new URL(`../${folder}/package.json`, import.meta.url), 'utf8');
    const { dependencies, devDependencies, overrides } = JSON.parse(text) as Package;
    const ranges = Object.entries({ ...dependencies, ...devDependencies, ...overrides }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );
    expect([folder, ranges]).toEqual([folder, []]);
  }
});
