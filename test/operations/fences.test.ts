// Who may import what, and what else `npm run check` is to hold: a rule that matches nothing passes silently, so each
// is seen to fail here. One violation of each kind is planted in a copy of the repository.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Violation {
  what: string;
  /** Where it is planted; what is there already stays. */
  file: string;
  code: string;
  /** The one that is to see it. Default: oxlint. */
  tool?: 'tsc' | 'knip' | 'oxfmt';
  /** What the tool says, on the line that names the file. */
  says: RegExp;
}

const importing = (specifier: string): string => `import * as planted from '${specifier}';\nvoid planted;\n`;

const IMPORTS = /weir\(imports\)/;

const violations: Violation[] = [
  ...(
    [
      ['packages/shared', '@weir/db/record'],
      ['packages/shared', '@weir/queue/keys'],
      ['packages/shared', 'ioredis'],
      ['packages/shared', '../../../apps/api/src/settings.ts'],
      ['packages/sdk', '@weir/shared/errors'],
      ['packages/sdk', 'bullmq'],
      ['packages/rating', '@weir/db/record'],
      ['packages/rating', 'pg'],
      ['packages/rating', '@weir/billing/due'],
      ['packages/billing', '@weir/db/record'],
      ['packages/billing', 'kysely'],
      ['packages/billing', 'node:fs'],
      ['packages/db', '@weir/queue/keys'],
      ['packages/db', '@weir/api/settings'],
      ['packages/db', 'ioredis'],
      ['packages/queue', '@weir/db/record'],
      ['packages/queue', '@weir/rating/exact'],
      ['packages/queue', '@weir/worker/settings'],
      ['packages/queue', 'kysely'],
      ['apps/worker', '@weir/api/ingest/admit'],
      ['apps/api', '@weir/services/processes'],
      ['apps/api', '@weir/sdk'],
      ['apps/api', '../../../test/support/harness.ts'],
      ['apps/api', '../../../bench/counts.ts'],
      ['apps/reconcile', '../../../chaos/history.ts'],
      ['apps/reconcile', '../../../services/src/processes.ts'],
      ['apps/worker', 'pg'],
      ['apps/worker', 'kysely'],
      ['apps/worker', 'bullmq'],
      ['apps/worker', 'ioredis/built/Redis.js'],
      ['apps/worker', 'rate-limiter-flexible'],
      ['apps/import', '@weir/db/record'],
      ['apps/import', 'pg'],
      ['apps/console', '@weir/shared/errors'],
      ['apps/console', 'node:fs'],
      ['services', '@weir/shared/errors'],
    ] as const
  ).map(([folder, specifier], index): Violation => {
    const file = `${folder}/src/planted-${index}.ts`;
    return { what: `${folder} imports ${specifier}`, file, code: importing(specifier), says: IMPORTS };
  }),
  {
    what: 'bench imports chaos',
    file: 'bench/planted.ts',
    code: importing('../chaos/history.ts'),
    says: IMPORTS,
  },
  {
    what: 'chaos imports the tests',
    file: 'chaos/planted.ts',
    code: importing('../test/support/harness.ts'),
    says: IMPORTS,
  },
  {
    what: 'an app imports the type of a pool',
    file: 'apps/reconcile/src/planted-type.ts',
    code: `import type { Pool } from 'pg';\nexport type Planted = Pool;\n`,
    says: IMPORTS,
  },
  {
    what: 'an app names the type of a pool without an import statement',
    file: 'apps/reconcile/src/planted-type-only.ts',
    code: `export type Planted = import('pg').Pool;\n`,
    says: /consistent-type-imports/,
  },
  {
    what: 'an app imports pg while it runs',
    file: 'apps/reconcile/src/planted-late.ts',
    code: `export const planted = await import('pg');\n`,
    says: IMPORTS,
  },
  {
    what: 'an app passes kysely on',
    file: 'apps/reconcile/src/planted-passed-on.ts',
    code: `export { sql } from 'kysely';\n`,
    says: IMPORTS,
  },
  {
    what: 'a relative path leads into another workspace',
    file: 'apps/worker/src/planted-path.ts',
    code: importing('../../api/src/settings.ts'),
    tool: 'tsc',
    says: /TS6307|TS6059/,
  },
  {
    what: 'the console changes something without saying what it was',
    file: 'apps/console/src/planted-patch.ts',
    code: `import { client } from './api/client.ts';\nexport const planted = client.PATCH('/api/v1/organization', { body: { name: 'x' } });\n`,
    tool: 'tsc',
    says: /TS2339.*'PATCH'/,
  },
  {
    what: 'an app runs SQL on a pool that it was given',
    file: 'apps/api/src/planted-sql.ts',
    code: `export const planted = (pool: { query(text: string): unknown }) => pool.query('SELECT 1');\n`,
    says: /weir\(no-sql\)/,
  },
  {
    what: 'an app builds SQL on a Kysely that it was given',
    file: 'apps/api/src/planted-builder.ts',
    code: `export const planted = (db: { selectFrom(table: string): unknown }) => db.selectFrom('events');\n`,
    says: /weir\(no-sql\)/,
  },
  {
    what: 'a route answers with an error status',
    file: 'apps/api/src/planted-code.ts',
    code: `export const planted = (reply: { code(status: number): unknown }, ok: boolean) => reply.code(ok ? 200 : 404);\n`,
    says: /weir\(no-error-status\)/,
  },
  {
    what: 'an answer below the framework has an error status',
    file: 'apps/api/src/planted-status-code.ts',
    code: `export const planted = (raw: { statusCode: number }) => {\n  raw.statusCode = 503;\n};\n`,
    says: /weir\(no-error-status\)/,
  },
  {
    what: 'a file that is no main file reads process.env',
    file: 'packages/shared/src/planted-env.ts',
    code: 'export const planted = process.env;\n',
    says: /no-restricted-properties/,
  },
  {
    what: 'a file that is no main file takes env out of process',
    file: 'apps/api/src/planted-env.ts',
    code: 'const { env } = process;\nexport const planted = env;\n',
    says: /no-restricted-properties/,
  },
  {
    what: 'the console takes what a browser has only over HTTPS',
    file: 'apps/console/src/planted-key.ts',
    code: 'export const planted = crypto.randomUUID();\n',
    says: /no-restricted-properties/,
  },
  ...(
    [
      ['packages/db/src/billing/usage/planted.ts', '../plans/charges.ts'],
      ['packages/db/src/billing/subscriptions/planted.ts', '../invoices/invoices.ts'],
      ['packages/db/src/billing/run/planted.ts', '../checks/billing-checks.ts'],
      ['packages/db/src/billing/planted.ts', './usage/closing.ts'],
      ['packages/db/src/billing/usage/planted-around.ts', '../../alerts/perform-alerts.ts'],
      ['packages/db/src/planted-above.ts', './moves/move-slice.ts'],
      ['apps/api/src/http/planted.ts', '../access/authenticate.ts'],
      ['apps/api/src/http/planted-settings.ts', '../settings.ts'],
    ] as const
  ).map(([file, specifier]): Violation => ({
    what: `${file} imports ${specifier}`,
    file,
    code: importing(specifier),
    says: /weir\(layers\)/,
  })),
  {
    what: 'a folder of billing imports the type of one that stands above it',
    file: 'packages/db/src/billing/plans/planted.ts',
    code: `import type { InvoiceRow } from '../invoices/invoices.ts';\nexport type Planted = InvoiceRow;\n`,
    says: /weir\(layers\)/,
  },
  {
    what: 'two files import each other’s types',
    file: 'apps/worker/src/planted-type-here.ts',
    code: `import type { There } from './planted-type-there.ts';\nexport type Here = There | undefined;\n`,
    says: /no-cycle/,
  },
  {
    what: 'two files import each other’s types, seen from the other one',
    file: 'apps/worker/src/planted-type-there.ts',
    code: `import type { Here } from './planted-type-here.ts';\nexport interface There {\n  here: Here;\n}\n`,
    says: /no-cycle/,
  },
  {
    what: 'two files import each other',
    file: 'apps/worker/src/planted-here.ts',
    code: `import { there } from './planted-there.ts';\nexport const here = (): unknown => there();\n`,
    says: /no-cycle/,
  },
  {
    what: 'two files import each other, seen from the other one',
    file: 'apps/worker/src/planted-there.ts',
    code: `import { here } from './planted-here.ts';\nexport const there = (): unknown => here();\n`,
    says: /no-cycle/,
  },
  {
    what: 'a file only passes on what others export',
    file: 'packages/shared/src/planted-barrel.ts',
    code: `export * from './errors.ts';\n`,
    says: /no-barrel-file/,
  },
  {
    what: 'a file has more than 400 lines',
    file: 'apps/worker/src/planted-long.ts',
    code: Array.from({ length: 401 }, (_, index) => `export const planted${index} = ${index};\n`).join(''),
    says: /max-lines/,
  },
  {
    what: 'nobody waits for a promise',
    file: 'apps/worker/src/planted-promise.ts',
    code: `export function planted(): void {\n  Promise.resolve(1).finally(() => {});\n}\n`,
    says: /no-floating-promises/,
  },
  {
    what: 'a package has a file that nobody imports',
    file: 'packages/db/src/planted-file.ts',
    code: 'export const planted = 1;\n',
    tool: 'knip',
    says: /^planted /,
  },
  {
    what: 'an app has a type that nobody uses',
    file: 'apps/api/src/settings.ts',
    code: 'export type Planted = 1;\n',
    tool: 'knip',
    says: /^Planted .* type /,
  },
  {
    what: 'services has an export that nobody uses',
    file: 'services/src/home.ts',
    code: 'export const planted = 1;\n',
    tool: 'knip',
    says: /^planted /,
  },
  {
    what: 'chaos has a file that nobody imports',
    file: 'chaos/planted-file.ts',
    code: 'export const planted = 1;\n',
    tool: 'knip',
    says: /^chaos/,
  },
  {
    what: 'a file is not formatted',
    file: 'apps/worker/src/planted-format.ts',
    code: 'export const planted = "1"\n',
    tool: 'oxfmt',
    says: /planted-format/,
  },
];

let copy: string;

beforeAll(async () => {
  copy = await realpath(await mkdtemp(join(tmpdir(), 'weir-fences-')));
  await copyRepository(copy);
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** Every file that is kept under version control and what was compiled of them, with links in place of what was installed. */
async function copyRepository(to: string): Promise<void> {
  const left = new Set(['.git', '.weir', 'node_modules']);
  // As old as they are: what was compiled is taken for that of its source.
  await cp(root, to, { recursive: true, preserveTimestamps: true, filter: (path) => !left.has(basename(path)) });
  await mkdir(join(to, 'node_modules'));
  for (const name of await readdir(join(root, 'node_modules'))) {
    const [from, at] = [join(root, 'node_modules', name), join(to, 'node_modules', name)];
    // Those are links to the workspaces, and have to lead to the ones of the copy.
    if (name === '@weir') await cp(from, at, { recursive: true, verbatimSymlinks: true });
    else if (name !== '.cache') await symlink(from, at);
  }
  for (const folder of ['apps', 'packages', '.']) {
    for (const name of await readdir(join(root, folder))) {
      const installed = join(root, folder, name, 'node_modules');
      if (existsSync(installed)) await symlink(installed, join(to, folder, name, 'node_modules'));
    }
  }
}

interface Planted {
  files: string[];
  /** Of those that the compiler is to see. */
  workspaces: string[];
}

/**
 * The commands of `npm run check` that look at everything, and what each is told here to look at: what is planted, since all the
 * rest has no violation and takes most of a minute.
 */
const COMMANDS: Record<string, (planted: Planted) => string[]> = {
  'tsc -b': ({ workspaces }) => ['-b', ...workspaces],
  'oxfmt --check .': ({ files }) => ['--check', ...files],
  oxlint: ({ files }) => ['--format=unix', ...files],
  knip: () => [],
};

async function plant(those: Violation[]): Promise<void> {
  for (const { file, code } of those) {
    await mkdir(dirname(join(copy, file)), { recursive: true });
    await appendFile(join(copy, file), code);
  }
}

/** Runs tools of `npm run check` in the copy, each whatever the others say; returns what those said that failed. */
async function check(commands: string[], planted: Planted): Promise<Record<string, string>> {
  const json = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'));
  const { scripts } = await json('package.json');
  // One after the other, or in quotes for those that are run at once.
  expect(scripts.check.split(/ && |"/)).toEqual(expect.arrayContaining(commands));
  const { references } = await json('tsconfig.json');
  const built = (references as { path: string }[]).map(({ path }) => path);
  expect(built).toEqual(expect.arrayContaining(planted.workspaces));
  const said: Record<string, string> = {};
  for (const command of commands) {
    const [tool = ''] = command.split(' ');
    said[tool] = await run(join(root, 'node_modules/.bin', tool), COMMANDS[command]?.(planted) ?? []);
  }
  return said;
}

function run(program: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: copy, maxBuffer: 2 ** 26 }, (error, out, err) =>
      resolve(error === null ? '' : `${out}${err}` || error.message),
    );
  });
}

test('every violation is seen by the check that is to see it', { timeout: 300_000 }, async () => {
  const worker = join(copy, 'apps/worker/package.json');
  await writeFile(worker, (await readFile(worker, 'utf8')).replace('"prom-client"', '"uuid": "14.0.3", "prom-client"'));

  const isTyped = ({ tool }: Violation) => tool === 'tsc';
  const planted: Planted = {
    files: [...new Set(violations.map(({ file }) => file))],
    workspaces: violations.filter(isTyped).map(({ file }) => file.split('/').slice(0, 2).join('/')),
  };
  // First: of the packages below there is nothing to compile as long as nothing is planted in them.
  await plant(violations.filter(isTyped));
  const compiled = await check(['tsc -b'], planted);
  await plant(violations.filter((each) => !isTyped(each)));
  const said = { ...compiled, ...(await check(['oxfmt --check .', 'oxlint', 'knip'], planted)) };
  const unseen = violations.filter(({ file, tool = 'oxlint', says }) => {
    const lines = said[tool]?.split('\n').filter((line) => line.includes(file));
    return lines?.some((line) => says.test(line)) !== true;
  });
  expect(unseen.map(({ what }) => what)).toEqual([]);
  expect(said.knip, 'a workspace has a dependency that it does not use').toMatch(/^uuid +apps\/worker/m);
});

type Change = [file: string, before: string, after: string];

/** What is added as the table of CONTRIBUTING.md says: the name in its list, then all of it there, with the types that are made of it. */
const ADDITIONS: { row: string; named: Change; known: Change[] }[] = [
  {
    row: 'an aggregation',
    named: ['packages/shared/src/meter.ts', "'UNIQUE_COUNT'] as", "'UNIQUE_COUNT', 'PLANTED'] as"],
    known: [
      ['packages/shared/src/meter.ts', '  SUM: {', "  PLANTED: { kind: 'extreme', ofNothing: null },\n  SUM: {"],
      ['apps/console/src/api/openapi.d.ts', '"UNIQUE_COUNT"', '"UNIQUE_COUNT" | "PLANTED"'],
    ],
  },
  {
    row: 'a charge model',
    named: ['packages/rating/src/charge-terms.ts', "'percentage'] as", "'percentage', 'planted'] as"],
    known: [
      [
        'packages/rating/src/charge-terms.ts',
        '  percentage: P',
        "  planted: Bounds & { type: 'USAGE'; model: 'planted' };\n  percentage: P",
      ],
      ['apps/console/src/api/openapi.d.ts', 'model: "percentage";', 'model: "percentage" | "planted";'],
    ],
  },
];

const inSupport = (name: string) => `test/support/${name}.ts`;

/** What takes the names apart: to compile all that only passes them on takes longer than the rest here. */
const KNOWING = {
  include: ['shared', 'rating', 'billing', 'db/src/aggregations.ts', 'db/src/usage', 'db/src/billing/usage']
    .map((path) => `packages/${path}`)
    .concat('apps/api/src/billing/charge-models.ts', 'apps/api/src/pdf/words.ts', 'chaos/judge')
    .concat(['charge-kinds', 'usage-model', 'billing-model/random*', 'billing-model/prices'].map(inSupport)),
  exclude: ['**/dist', '**/*.test.ts', '**/planted*'],
};

/** The console finds what it imports as Vite does. */
const KNOWING_CONSOLE = {
  extends: './tsconfig.json',
  compilerOptions: { incremental: false, tsBuildInfoFile: null },
  include: ['src/catalog/*.ts', 'src/usage/*.ts'],
  exclude: ['**/*.test.ts'],
};

test('without what CONTRIBUTING.md names a new aggregation or charge model does not compile', async () => {
  const compilerOptions = { composite: false, noEmit: true, rewriteRelativeImportExtensions: false };
  const base = {
    extends: './tsconfig.base.json',
    compilerOptions: { ...compilerOptions, declaration: false, sourceMap: false, allowImportingTsExtensions: true },
  };
  for (const { named } of ADDITIONS) await change(named);
  const begun = await refusedIn('.', { ...base, files: ADDITIONS.map(({ named: [file] }) => file) });
  for (const each of ADDITIONS.flatMap(({ known }) => known)) await change(each);
  const refused = [...begun, ...(await refusedIn('.', { ...base, ...KNOWING }))];
  refused.push(...(await refusedIn('apps/console', KNOWING_CONSOLE)));
  const table = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
  const places = ADDITIONS.map(({ row }) => {
    const [, said = ''] = new RegExp(`^\\| ${row} \\|.* does not compile without (.*?) Beside`, 'm').exec(table) ?? [];
    return [...said.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
  });
  expect(new Set(refused)).toEqual(new Set(places.flat()));
});

async function change([file, before, after]: Change): Promise<void> {
  const path = join(copy, file);
  const text = await readFile(path, 'utf8');
  expect(text).toContain(before);
  await writeFile(path, text.replaceAll(before, after));
}

/** The files in which the compiler finds an error. */
async function refusedIn(folder: string, project: object): Promise<string[]> {
  const path = join(folder, 'tsconfig.planted.json');
  await writeFile(join(copy, path), JSON.stringify(project));
  const said = await run(join(root, 'node_modules/.bin/tsc'), ['-p', path]);
  return [...said.matchAll(/^(\S+?)\(\d+,\d+\): error /gm)].map(([, file = '']) => file);
}
