// The pages of the console by their addresses, of files that a browser is needed to run.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const textOf = (file: string): string =>
  readFileSync(new URL(`../../apps/console/src/${file}`, import.meta.url), 'utf8');
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, each = '']) => each);

const navigation = textOf('shell/navigation.ts');

test('the navigation leads to every page that is about no one thing, and to nothing else', () => {
  const routes = textOf('routes.ts');
  const inside = routes.slice(routes.indexOf('usageRoutes')) + textOf('billing-routes.ts');
  // What makes a thing is reached from the list of them.
  const pages = found(inside, /^ +path: '(\/[^'$]*)',$/gm).filter((path) => !path.endsWith('/new'));
  expect(pages.length).toBeGreaterThan(10);
  expect(found(navigation, /\{ to: '([^']+)'/g).toSorted()).toEqual(pages.toSorted());
});

test('no two pages of the navigation share a letter', () => {
  const keys = found(navigation, /key: '(\w)' \}/g);
  expect(new Set(keys).size).toBe(keys.length);
});
