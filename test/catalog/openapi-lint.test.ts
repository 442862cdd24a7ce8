// The linter of the check, on the document as it is and on some with a fault.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWeir } from '../support/harness.ts';

const run = promisify(execFile);
const linter = fileURLToPath(new URL('../../apps/api/openapi/lint.mjs', import.meta.url));

let folder: string;
let served: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-openapi-'));
  const weir = await startWeir({ withWorker: false });
  try {
    served = JSON.stringify((await weir.request('GET', '/openapi.json')).body);
  } finally {
    await weir.close();
  }
});
afterAll(() => rm(folder, { recursive: true }));

/** What the linter says of a document; empty when nothing is wrong. */
async function lint(text: string): Promise<string> {
  const file = join(folder, 'openapi.json');
  await writeFile(file, text);
  return await run(process.execPath, [linter, file]).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
}

test('the document that is served passes', async () => {
  expect(await lint(served)).toBe('');
});

test.each([
  ['a style within a schema', '"schema":{"type":"object"', '"schema":{"style":"deepObject","type":"object"', 'struct'],
  [
    'a reference that leads nowhere',
    '"#/components/schemas/Problem"',
    '"#/components/schemas/Porblem"',
    'no-unresolved-refs',
  ],
  ['an example that its schema does not allow', '"quantity":1,', '"quantity":"one",', 'no-invalid-media-type-examples'],
])('%s does not', async (_, good, bad, rule) => {
  expect(served).toContain(good);
  expect(await lint(served.replace(good, bad))).toContain(rule);
});
