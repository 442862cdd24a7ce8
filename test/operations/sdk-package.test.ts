// What someone has who packs the SDK and installs it: a package that runs and has types, with a README that is true.

import { createPackageFromTarballData, checkPackage } from '@arethetypeswrong/core';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { makeServiceAccount } from '../support/service-accounts.ts';
import { ownWeir } from '../support/use-weir.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
/** Without what the npm that runs the tests tells its children: theirs is another project. */
const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));

const weir = ownWeir();
let project: string;
let tarball: Buffer;
let installed: string;
let env: Record<string, string | undefined>;
let examples: string[];

beforeAll(async () => {
  const admin = await signUp(weir);
  const feature = await weir.request('POST', '/api/v1/features', {
    session: admin.session,
    body: { name: 'Tokens', lookup_key: 'tokens', type: 'meter', aggregation_type: 'SUM' },
  });
  project = await mkdtemp(join(tmpdir(), 'weir-sdk-'));
  const apiKey = await admin.createKey('usage.write', 'usage.read');
  const outbox = join(project, 'outbox');
  env = {
    ...plain,
    WEIR_URL: weir.baseUrl,
    WEIR_API_KEY: apiKey,
    WEIR_SERVICE_TOKEN: (await makeServiceAccount(weir, admin, 'biller')).token,
    METER_TOKEN: feature.body.meter_token,
    OUTBOX: outbox,
  };

  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const pack = ['pack', '--workspace', '@weir/sdk', '--pack-destination', project];
  const packed = await run('npm', pack, { cwd: root, env: plain });
  const file = packed.stdout.trim().split('\n').at(-1) ?? '';
  await run('npm', ['install', '--offline', `./${file}`], { cwd: project, env: plain });
  tarball = await readFile(join(project, file));
  installed = join(project, 'node_modules/@weir/sdk');
  const readme = await readFile(join(installed, 'README.md'), 'utf8');
  examples = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code ?? '');
});
afterAll(async () => {
  await rm(project, { recursive: true });
});

async function runProgram(code: string, name = 'program.js'): Promise<string> {
  await writeFile(join(project, name), code);
  return (await run(process.execPath, [name], { cwd: project, env })).stdout;
}

test('the examples of the README run in an empty project, and their events are counted', async () => {
  const [first = '', batch = '', outbox = '', reading = '', pages = '', service = '', change = '', ...more] = examples;
  const [webhooks = '', errors = '', ...others] = more;
  expect(others).toEqual([]);
  expect(await runProgram(first)).toBe('{ isDone: true, unsent: [] }\n');
  expect(await runProgram(batch)).toMatch(/^[0-9a-f-]{36} false\n[0-9a-f-]{36} false\ninvalid_request .*quantity/);
  expect(await runProgram(outbox)).toBe('2 true\n');
  expect(await runProgram(service)).toBe('initech\n');
  expect(await runProgram(change)).toBe('Initech Inc.\n');
  expect(await runProgram(pages)).toBe('1\n');
  expect(await runProgram(webhooks)).toBe('');
  expect(await runProgram(errors)).toBe('404 meter_not_found false 1\n');
  await weir.drained();
  const { rows } = await weir.pool.query<{ quantity: string }>(
    'SELECT quantity::text FROM events ORDER BY events.quantity',
  );
  expect(rows.map(({ quantity }) => quantity)).toEqual(['1', '3', '7', '7', '1250']);
  expect(await runProgram(reading)).toMatch(/^1268 \d+\ntrue\n$/);
});

const types = `
  import { WeirClient, WeirError, type BatchOutcome, type Charge, type Entitlement, type UsageEvent, type Webhook } from '@weir/sdk';
  const event: UsageEvent = { meter_token: 'm', customer_external_id: 'acme', quantity: '0.1' };
  const weir = new WeirClient({ baseUrl: '', apiKey: '', queue: { onRefused: (error, { quantity }) => [error.code, quantity] } });
  export const outcomes: Promise<BatchOutcome[]> = weir.trackBatch([event]);
  export const entitled: Promise<Entitlement> = weir.entitlement({ customer_external_id: 'acme', feature: 'seats' });
  export const total: Promise<number> = weir.customers({ search: 'a' }).then(({ meta }) => meta.total);
  export const next: Promise<string | null> = weir.customers({ limit: 5 }).then(({ meta }) => meta.next_cursor);
  export const code = (error: unknown): string | undefined => error instanceof WeirError ? error.code : undefined;
  export const byFeature: UsageEvent = { lookup_key: 'tokens', customer_external_id: 'acme', quantity: 1 };
  interface Call { user_id: string; model?: string; tags: readonly string[]; cost: { usd: number } }
  const call: Call = { user_id: 'ada', tags: [], cost: { usd: 1 } };
  void weir.track({ ...event, metadata: call });
  void weir.trackBatch([{ ...event, metadata: call }, { ...event, metadata: { other: null } }]);
  void weir.queue({ ...event, metadata: {} });
  // @ts-expect-error A list is no object of JSON.
  void weir.queue({ ...event, metadata: ['ada'] });
  // @ts-expect-error What is in a Map would be lost.
  void weir.queue({ ...event, metadata: new Map([['user_id', 'ada']]) });
  // @ts-expect-error Nor is a text.
  void weir.queue({ ...event, metadata: 'ada' });
  // @ts-expect-error A meter is named in one way.
  export const both: UsageEvent = { ...event, lookup_key: 'tokens' };
  // @ts-expect-error A field that there is not may be a misspelt one.
  void weir.track({ ...event, idempotencyKey: 'a' });
  // @ts-expect-error An event has a customer.
  export const none: UsageEvent = { meter_token: 'm', quantity: 1 };
  // @ts-expect-error A meter has to be named.
  void weir.usage({ group_by: 'day' });
  export const due = (webhook: Webhook): string => webhook.type === 'invoice.paid' ? webhook.data.amount_due : '';
  // @ts-expect-error What a subscription tells has no amount.
  export const paid = (webhook: Webhook): string => webhook.type === 'subscription.created' ? webhook.data.amount_due : '';
  export const tiers = (charge: Charge): number => charge.type === 'USAGE' && charge.model === 'volume' ? charge.tiers.length : 0;`;

/** What TypeScript says of files of the project, in the strictest of its usual modes. */
async function typeCheck(...files: string[]): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noImplicitOverride'];
  const target = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom'];
  // For `process`, which the examples read their settings from.
  const node = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
  const args = [tsc, '--noEmit', ...strict, ...target, ...node, ...files];
  return await run(process.execPath, args, { cwd: project }).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
}

test('the examples of both READMEs are right by the types of the package, in strict mode', async () => {
  const readmes = await Promise.all([root, installed].map((folder) => readFile(join(folder, 'README.md'), 'utf8')));
  const [ofReadme = [], ofClient = []] = readmes.map((readme) =>
    [...readme.matchAll(/^```(?:js|ts)\n(.*?)^```/gms)].map(([, code]) => code ?? ''),
  );
  expect([ofReadme.length > 0, ofClient.length > examples.length]).toEqual([true, true]);
  const files = [...ofReadme, ...ofClient].map((code, index) => [`example-${index}.ts`, code] as const);
  for (const [file, code] of files) await writeFile(join(project, file), code);
  expect(await typeCheck(...files.map(([file]) => file))).toBe('');
  await writeFile(join(project, 'wrong.ts'), ofReadme[0]?.replace('quantity: 1250', 'quantity: true') ?? '');
  expect(await typeCheck('wrong.ts')).toContain("Type 'boolean' is not assignable to type 'string | number'");
});

test('its types are found by projects of both kinds, and are those of what it does', async () => {
  await writeFile(join(project, 'program.ts'), types);
  await writeFile(join(project, 'program.cts'), types);
  expect(await typeCheck('program.ts', 'program.cts')).toBe('');
});

test('a change by it is made of what was read, or not at all', async () => {
  const code = `
    import { WeirClient } from '@weir/sdk';
    const weir = new WeirClient({ baseUrl: process.env.WEIR_URL, serviceToken: process.env.WEIR_SERVICE_TOKEN });
    const { id } = await weir.request('POST', '/customers', { body: { name: 'Ada' } });
    const read = await weir.exchange('GET', '/customers/' + id);
    const same = await weir.exchange('GET', '/customers/' + id, { ifNoneMatch: read.etag });
    const change = (name, ifMatch) => weir.exchange('PATCH', '/customers/' + id, { body: { name }, ifMatch });
    const changed = await change('Grace', read.etag);
    const refused = await change('Joan', read.etag).catch((error) => error);
    const now = await weir.exchange('GET', '/customers/' + id);
    console.log(read.status, same.status, same.etag === read.etag, changed.etag === now.etag, refused.code, now.body.name);
    console.log((await weir.exchange('GET', '/customers')).etag);`;
  expect(await runProgram(code)).toBe('200 304 true true precondition_failed Grace\nundefined\n');
});

test('a process may use it by require and by import at once, and tells its errors by one class', async () => {
  const code = `
    const { WeirClient, WeirError } = require('@weir/sdk');
    const refused = (weir) => weir.queue({ meter_token: 'm', customer_external_id: 'c', quantity: 1 }).catch((error) => error);
    import('@weir/sdk').then(async (module) => {
      const weir = new WeirClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k' });
      await weir.close();
      const error = await refused(weir);
      const other = new module.WeirError({ status: 0, code: 'other', detail: '' });
      console.log(module.WeirClient !== WeirClient, error.code);
      console.log(error instanceof module.WeirError, other instanceof WeirError, new Error('x') instanceof WeirError);
    });`;
  expect(await runProgram(code, 'program.cjs')).toBe('true queue_closed\ntrue true false\n');
});

test('publint and are-the-types-wrong find nothing, and it depends on nothing', async () => {
  const { messages, pkg } = await publint({ pkgDir: installed, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
  // A resolution of before package.json had exports is not promised, yet found: by main and types.
  expect(analysis).toMatchObject({ types: { kind: 'included' }, problems: [] });
  expect(pkg).not.toHaveProperty('dependencies');
  expect(pkg).not.toHaveProperty('peerDependencies');
});
