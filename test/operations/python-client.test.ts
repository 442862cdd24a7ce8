// The Python client, on the Python of this machine: its own tests, against a real Weir.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { makeServiceAccount } from '../support/service-accounts.ts';
import { sharedWeir } from '../support/use-weir.ts';

const run = promisify(execFile);
const client = fileURLToPath(new URL('../../clients/python', import.meta.url));

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
  const ended = await run('python3', ['-m', 'unittest', 'discover', '-s', 'tests'], { cwd: client, env }).catch(
    (error: { stderr: string }) => error,
  );
  expect(ended.stderr).toMatch(/\nRan \d+ tests in [\d.]+s\n\nOK\n$/);
  // Each of them has its own limits; all of them together take a while on a machine that is busy.
}, 180_000);
