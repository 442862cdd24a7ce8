// What a process does before it is loaded: somebody who starts nothing but its file gets the option that halves p99, and who may
// not open enough files is told so.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runToEnd } from '../support/run-to-end.ts';

/** Loaded before the program: says on standard output which options V8 is given. */
const recorder = `
  import v8 from 'node:v8';
  import { syncBuiltinESMExports } from 'node:module';
  const set = v8.setFlagsFromString;
  v8.setFlagsFromString = (option) => (process.stdout.write(option + '\\n'), set(option));
  syncBuiltinESMExports();
`;

test.concurrent.each(['api', 'worker'])('the %s gives V8 its option before it reads its settings', async (app) => {
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(recorder)}`;
  const ended = await runToEnd(`apps/${app}/dist/main.js`, { NODE_OPTIONS });
  expect(ended).toMatchObject({ code: 1, out: '--heap-growing-percent=300\n' });
  expect(ended.err).toMatch(/^Cannot start: DATABASE_URL is not set/);
});

/** Loaded before the program: says at its end whether the driver of Postgres was loaded, which all but the settings need. */
const loaded = `
  import { createRequire } from 'node:module';
  const { cache } = createRequire(process.cwd() + '/package.json');
  process.on('exit', () => console.log(Object.keys(cache).some((path) => path.includes('/node_modules/pg/'))));
`;

test.concurrent.each(['api', 'worker'])(
  'the %s tells of a wrong setting before all the rest is loaded',
  async (app) => {
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(loaded)}`;
    const wrong = { NODE_OPTIONS, DATABASE_URL: 'postgres://127.0.0.1/none', REDIS_URL: 'none' };
    const ended = await runToEnd(`apps/${app}/dist/main.js`, wrong);
    expect(ended).toMatchObject({ code: 1, out: 'false\n', err: expect.stringMatching(/^Cannot start: REDIS_URL: /) });
  },
);

test.concurrent.each(['api', 'worker'])(
  'the %s says in one line that it may not open enough files and connections',
  async (app) => {
    const child = spawn('bash', ['-c', `ulimit -n 256; exec "$0" apps/${app}/dist/main.js`, process.execPath], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let err = '';
    child.stderr.on('data', (chunk) => (err += String(chunk)));
    const [code] = (await once(child, 'close')) as unknown[];
    expect(code).toBe(1);
    expect(err).toMatch(
      /^Cannot start: this process may have 256 files and connections open, and needs \d+ [^\n]*ulimit -n[^\n]*\n$/,
    );
  },
);
