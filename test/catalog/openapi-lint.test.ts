// The linter of the check, on the document as it is and on some with a fault.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedWeir } from '../support/use-weir.ts';

const run = promisify(execFile);
const linter = fileURLToPath(new URL('../../apps/api/openapi/lint.mjs', import.meta.url));

const weir = sharedWeir();
let folder: string;
let served: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-openapi-'));
  served = JSON.stringify((await weir.request('GET', '/openapi.json')).body);
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

test('a style within a schema, a reference to nowhere and an example that does not fit are told', async () => {
  let wrong = served;
  for (const [good, bad] of [
    ['"schema":{"type":"object"', '"schema":{"style":"deepObject","type":"object"'],
    ['"#/components/schemas/Problem"', '"#/components/schemas/Porblem"'],
    ['"quantity":1,', '"quantity":"one",'],
  ] as const) {
    expect(wrong).toContain(good);
    wrong = wrong.replace(good, bad);
  }
  const told = await lint(wrong);
  for (const rule of ['struct', 'no-unresolved-refs', 'no-invalid-media-type-examples']) expect(told).toContain(rule);
});
