// What someone has who packs the SDK and installs it: a package that runs and has types, with a README that is true.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, startWeir, type Weir } from '../support/harness.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
/** Without what the npm that runs the tests tells its children: theirs is another project. */
const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));

let weir: Weir;
let project: string;
let env: Record<string, string | undefined>;
let examples: string[];

beforeAll(async () => {
  weir = await startWeir();
  const admin = await signUp(weir);
  const { token } = await admin.createMeter('SUM');
  env = { ...plain, WEIR_URL: weir.baseUrl, WEIR_API_KEY: await admin.createKey('usage.write'), METER_TOKEN: token };

  project = await mkdtemp(join(tmpdir(), 'weir-sdk-'));
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const pack = ['pack', '--workspace', '@weir/sdk', '--pack-destination', project];
  const packed = await run('npm', pack, { cwd: root, env: plain });
  const file = packed.stdout.trim().split('\n').at(-1) ?? '';
  await run('npm', ['install', '--offline', `./${file}`], { cwd: project, env: plain });
  const readme = await readFile(join(project, 'node_modules/@weir/sdk/README.md'), 'utf8');
  examples = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code ?? '');
});
afterAll(async () => {
  await weir.close();
  await rm(project, { recursive: true });
});

async function runProgram(code: string): Promise<string> {
  await writeFile(join(project, 'program.js'), code);
  return (await run(process.execPath, ['program.js'], { cwd: project, env })).stdout;
}

test('the examples of the README run in an empty project, and their events are counted', async () => {
  const [first = '', batch = '', errors = '', ...others] = examples;
  expect(others).toEqual([]);
  const id = (await runProgram(first)).split(' ')[0];
  expect(await runProgram(first)).toBe(`${id} true\n`);
  expect(await runProgram(batch)).toMatch(/^[0-9a-f-]{36} false\ninvalid_request .*quantity/);
  expect(await runProgram(errors)).toBe('404 meter_not_found false 1\n');
  await weir.drained();
  const { rows } = await weir.pool.query('SELECT idempotency_key AS key, quantity::text FROM events ORDER BY 1');
  expect(rows).toEqual([
    { key: 'job-1', quantity: '3' },
    { key: 'request-4711', quantity: '1250' },
  ]);
});

test('its types are found, and are those of what it does', async () => {
  await writeFile(
    join(project, 'program.ts'),
    `import { WeirClient, type BatchOutcome } from '@weir/sdk';
     import { WeirError } from '@weir/sdk/error';
     import type { UsageEvent } from '@weir/sdk/event';
     const event: UsageEvent = { meter_token: 'm', customer_external_id: 'acme', quantity: '0.1' };
     export const outcomes: Promise<BatchOutcome[]> = new WeirClient({ baseUrl: '', apiKey: '' }).trackBatch([event]);
     export const code = (error: WeirError): string => error.code;
     // @ts-expect-error An event has a customer.
     export const none: UsageEvent = { meter_token: 'm', quantity: 1 };`,
  );
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await expect(run(process.execPath, [tsc, ...options, 'program.ts'], { cwd: project })).resolves.toBeDefined();
});
