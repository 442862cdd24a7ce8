// The Python client, on the Python of this machine: its own tests, against a real Weir.

import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { makeServiceAccount } from '../support/service-accounts.ts';
import { sharedWeir } from '../support/use-weir.ts';

const run = promisify(execFile);
const client = fileURLToPath(new URL('../../clients/python', import.meta.url));

const tests = join(client, 'tests');

const weir = sharedWeir();
let env: Record<string, string | undefined>;

beforeAll(async () => {
  const admin = await signUp(weir);
  const { session } = admin;
  const feature = await weir.request('POST', '/api/v1/features', {
    session,
    body: { name: 'Tokens', lookup_key: 'tokens', type: 'meter', aggregation_type: 'SUM' },
  });
  await weir.request('POST', '/api/v1/customers', { session, body: { external_id: 'py-customer' } });
  env = {
    ...process.env,
    PYTHONPATH: client,
    PYTHONDONTWRITEBYTECODE: '1',
    WEIR_URL: weir.baseUrl,
    WEIR_API_KEY: await admin.createKey(),
    WEIR_SERVICE_TOKEN: (await makeServiceAccount(weir, admin, 'admin')).token,
    METER_TOKEN: feature.body.meter_token,
    FEATURE: 'tokens',
  };
});

test('python3 is there, and new enough', async () => {
  const said = await run('python3', ['-c', 'import sys; print(sys.version_info >= (3, 9))']).catch(() =>
    Promise.reject(new Error('There is no python3 on this machine: install it, with apt-get install python3.')),
  );
  expect(said.stdout).toBe('True\n');
});

test('every test of the Python client passes', async () => {
  const files = (await readdir(tests)).filter((name) => /^test_.*\.py$/.test(name));
  // Most of what they do is wait: all files at once take as long as the longest.
  const ended = await Promise.all(files.map(async (name) => [name, await ranOk(name)]));
  const written = await Promise.all(files.map(async (name) => [name, await countTests(name)]));
  expect(ended).toEqual(written);
  expect(files).toContain('test_real.py');
  // Each of them has its own limits; all of them together take a while on a machine that is busy.
}, 180_000);

/** How many tests of a file ran, where each passed; else what was said of them. */
async function ranOk(name: string): Promise<number | string> {
  const { stderr } = await run('python3', ['-m', 'unittest', 'discover', '-s', tests, '-p', name], {
    cwd: client,
    env,
  }).catch((error: { stderr: string }) => error);
  const [, count] = /\nRan (\d+) tests? in [\d.]+s\n\nOK\n$/.exec(stderr) ?? [];
  return count === undefined ? stderr : Number(count);
}

async function countTests(name: string): Promise<number> {
  return (await readFile(join(tests, name), 'utf8')).match(/^ +(async )?def test_/gm)?.length ?? 0;
}
