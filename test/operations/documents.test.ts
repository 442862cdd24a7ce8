// The documents lead to what is there: files, headings, paths and commands.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
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

/** What a document says of this kind and is not there, each with the document. Fails where none says anything of it. */
function missing(pattern: RegExp, isPresent: (document: string, found: string) => boolean): string[] {
  const said = documents.flatMap((document) =>
    [...readFileSync(document, 'utf8').matchAll(pattern)].map(([, found = '']) => ({ document, found })),
  );
  expect(said.length).toBeGreaterThan(0);
  return said
    .filter(({ document, found }) => !isPresent(document, found))
    .map(({ document, found }) => `${relative(root, document)}: ${found}`);
}

test('every relative link leads to a file that is there, and to a heading that it has', () => {
  expect(documents.length).toBeGreaterThan(20);
  expect(missing(/\]\((?![a-z]+:)([^)\s]+)\)/g, isThere)).toEqual([]);
});

test('a move of Redis, which a process names in its log, is described, and its last worker stops last', () => {
  const operations = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
  const sources = readFileSync(join(root, 'packages', 'queue', 'src', 'ownership.ts'), 'utf8');
  const [, named = ''] = /"([^"]+)" in docs\/operations\.md/.exec(sources) ?? [];
  const [, section = ''] = operations.split(`\n### ${named}\n`);
  const steps = section.split(/\n#+ /)[0]?.match(/^\d\. .*/gm) ?? [];
  const places = ['with the former address', 'Upgrade', 'both say 0', 'Stop the worker', 'reconcile'].map((text) =>
    steps.findIndex((step) => step.includes(text)),
  );
  expect(places).toEqual([0, 1, 2, 3, 4]);
  // Before the numbers, which are 0 in each quiet moment, who still is there.
  expect(/^3\. ([^]*?)^4\. /m.exec(section)?.[1]).toMatch(/GET '\{weir\}:database'[^]*CLIENT LIST[^]*ZCARD/);
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

test('the import in a container has the file where it is outside, so that another file has another path', () => {
  const operations = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
  const [, mounted, file] = /-v "([^"]+):ro" api apps\/import\/dist\/main\.js --file (\S+)`/.exec(operations) ?? [];
  // Below /data, so that no folder lies over the programs of the image.
  expect([mounted, file]).toEqual(['$PWD:/data$PWD', '"/data$PWD/usage.csv"']);
});

test('the steps of a restore say of every table what becomes of what was written to it since the backup', () => {
  const operations = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
  const [, steps = ''] = /^### Restore or move Postgres\n([^]*?)^### /m.exec(operations) ?? [];
  const schema = readFileSync(join(root, 'packages', 'db', 'schema.sql'), 'utf8');
  const tables = [...schema.matchAll(/^CREATE TABLE (\w+) \(/gm)].map(([, name = '']) => name);
  // What clients send again, what is made of it and of what is entered again, and what Weir keeps for itself.
  const made = [
    'accepted_events events rejected_events duplicate_events idempotency_keys late_events perhaps_staged_events pending_claims',
    'customer_usage_hours customer_usage_days customer_value_days meter_usage_quarters meter_value_days touched_usage',
    'customer_group_hours customer_group_value_days meter_group_quarters meter_group_value_days metadata_groups ungrouped_events',
    'metadata_backfills recording_versions alert_crossings unbilled_usage_days unbilled_usage_looks unbilled_usage_told',
    'billed_meters billing_feeds closings credit_entries dues invoice_numbers revenue_reckonings subscription_periods',
    'drained_counts ended_widget_tokens installation migrations reconciliations webhook_deliveries',
  ].flatMap((names) => names.split(' '));
  const access = [
    'users sessions password_resets invitations api_keys widget_tokens service_accounts service_account_tokens',
    'webhook_endpoints',
  ].flatMap((names) => names.split(' '));
  expect(tables.length).toBeGreaterThan(60);
  const isNamed = (table: string) => new RegExp(`\`${table}\`|(?:FROM|INTO|UPDATE) ${table}\\b`).test(steps);
  expect(tables.filter((table) => !isNamed(table) && ![...made, ...access].includes(table))).toEqual([]);
  expect(made.filter((table) => !tables.includes(table))).toEqual([]);
  // Until step 14, and from the first step on.
  expect(/^1\. ([^]*?)^2\. /m.exec(steps)?.[1]).toContain('Stop whatever collects');
  // Before an API answers anybody.
  const [, beforeStart = ''] = /^4\. ([^]*?)^5\. Start the API/m.exec(steps) ?? [];
  for (const table of access) expect(beforeStart).toMatch(new RegExp(`\\b${table}\\b`));
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

test('CONTRIBUTING.md names every file that has each type of the feed, by hand or made', () => {
  const row = /^\| a type of the feed \|.*$/m.exec(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'))?.[0] ?? '';
  const all = ['apps', 'packages', 'clients', 'test'].flatMap((folder) => sourcesIn(join(root, folder)));
  const listing = all.filter((path) => {
    const text = readFileSync(path, 'utf8');
    return FEED_TYPES.every((type) => text.includes(type));
  });
  expect(listing.length).toBeGreaterThan(5);
  expect(listing.map((path) => basename(path)).filter((name) => !row.includes(`${name}\``))).toEqual([]);
});

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return /\.(?:tsx?|py)$/.test(entry.name) ? [path] : [];
    const isSkipped = entry.name.startsWith('.') || ['node_modules', 'dist'].includes(entry.name);
    return entry.isDirectory() && !isSkipped ? sourcesIn(path) : [];
  });
}

test('each number up to the last one is a decision, or is said to be none', () => {
  const folder = join(root, 'docs', 'decisions');
  const taken = readdirSync(folder).flatMap((name) => /^\d{4}(?=-)/.exec(name)?.map(Number) ?? []);
  const [, said = ''] = /never taken: (.*)\./.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? [];
  const free = said.split(', ').flatMap((part) => {
    const [from = 0, to = from] = part.split(' to ').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
  const numbers = [...taken, ...free].toSorted((one, other) => one - other);
  expect(numbers).toEqual(Array.from({ length: Math.max(...taken) }, (_, index) => index + 1));
});

test('an image is built with its commit, and pushed under a name that is of this commit alone', () => {
  // `up --build` takes no arguments of a build.
  const builds = /(docker (?:compose )?build\b.*|docker compose up\b.*--build\b.*)/g;
  const told = /^docker (?:compose )?build --build-arg REVISION=\$\(git rev-parse HEAD\)/;
  expect(missing(builds, (_document, build) => told.test(build))).toEqual([]);
  const tags = /registry\.example\.com\/weir:(.*?)(?: \.)?$/gm;
  expect(missing(tags, (_document, tag) => tag === '$(git rev-parse HEAD)')).toEqual([]);
});

test('a tool of node_modules is installed before a script or CONTRIBUTING.md runs it', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const isOwn = (script: string) => /^(?:exec )?node (?:services\/start\.mjs|\S+\/dist\/\S+\.js)$/.test(script);
  const rest = Object.entries(scripts).filter(([, script]) => !isOwn(script));
  expect(rest.length).toBeGreaterThan(8);
  expect(rest.filter(([, script]) => !script.startsWith('node services/install.mjs && '))).toEqual([]);
  const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  expect(contributing.split('npx ')[0]).toContain('`npm ci`');
});

test('CONTRIBUTING.md says how long a file may be as the linter counts it', () => {
  const lint = readFileSync(join(root, '.oxlintrc.json'), 'utf8');
  expect(lint).toContain('"max-lines": ["error", { "max": 400, "skipBlankLines": true, "skipComments": true }]');
  const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').replaceAll('\n', ' ');
  expect(contributing).toContain('has at most 400 lines, blank ones and comments apart');
});
