// A process that somebody starts with nothing but its file still runs with the option that halves p99.

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

test.each(['api', 'worker'])('the %s gives V8 its option before it reads its settings', async (app) => {
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(recorder)}`;
  const ended = await runToEnd(`apps/${app}/dist/main.js`, { NODE_OPTIONS });
  expect(ended).toMatchObject({ code: 1, out: '--heap-growing-percent=300\n' });
  expect(ended.err).toMatch(/^Cannot start: DATABASE_URL is not set/);
});
