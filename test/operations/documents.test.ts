// The documents lead to what is there: files, headings, paths and commands.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FEED_TYPES } from '@weir/billing/feed-events';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Dated notes stay as they were written, so what they name may be gone. */
const NOTES = join(root, 'docs', 'notes');

const documents = findDocuments(root);

function findDocuments(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return entry.name.endsWith('.md') ? [path] : [];
    const isSkipped = entry.name.startsWith('.') || ['node_modules', 'dist'].includes(entry.name) || path === NOTES;
    return entry.isDirectory() && !isSkipped ? findDocuments(path) : [];
  });
}

/** The names that a page gives its headings, so that links lead to them. */
function anchorsOf(path: string): string[] {
  const headings = readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading]) =>
    (heading ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function isThere(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : resolve(dirname(document), path);
  if (!existsSync(target)) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

/** What a document says of this kind and is not there, each with the document. */
function missing(pattern: RegExp, isPresent: (document: string, found: string) => boolean): string[] {
  return documents.flatMap((document) =>
    [...readFileSync(document, 'utf8').matchAll(pattern)]
      .map(([, found]) => found ?? '')
      .filter((found) => !isPresent(document, found))
      .map((found) => `${relative(root, document)}: ${found}`),
  );
}

test('every relative link leads to a file that is there, and to a heading that it has', () => {
  expect(documents.length).toBeGreaterThan(20);
  expect(missing(/\]\((?![a-z]+:)([^)\s]+)\)/g, isThere)).toEqual([]);
});

test('every path that a document names is there, or is built from what is there', () => {
  // A path in a link begins at its document; the test above follows it.
  const paths =
    /(?<![./(\w-])((?:apps|packages|services|test|bench|chaos|docs|deploy)\/[\w./-]+\.(?:ts|js|mjs|lua|sql|md|cfg|sh))\b/g;
  const sourceOf = (path: string): string => path.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
  expect(missing(paths, (_document, path) => existsSync(join(root, sourceOf(path))))).toEqual([]);
});

test('every npm script that a document names is there', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  expect(missing(/`?npm run ([a-z-]+)/g, (_document, script) => Object.hasOwn(scripts, script))).toEqual([]);
});

test('docs/billing.md has every type of the feed, and no other', () => {
  const rows = readFileSync(join(root, 'docs', 'billing.md'), 'utf8').matchAll(
    /^\| \w+ \| (`([a-z_]+)\.[a-z_]+`.*) \|$/gm,
  );
  const described = [...rows].flatMap(([, cell = '', noun]) =>
    [...cell.matchAll(/`\w*(\.\w+)`/g)].map(([, verb]) => `${noun}${verb}`),
  );
  expect(described).toEqual([...FEED_TYPES]);
});
