// deploy/reconcile-nightly.sh, which compose runs: its exit status must be seen by somebody who does not look.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/harness.ts';
import { runToEnd } from '../support/run-to-end.ts';

const script = fileURLToPath(new URL('../../deploy/reconcile-nightly.sh', import.meta.url));
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-nightly-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([0, 1])(
  'leaves exit status %i for the health check, logs it as an error unless it is 0, and stops when told',
  async (status) => {
    // In place of reconcile: says what it was asked for, and what the health check reads meanwhile, and exits like it.
    writeFileSync(join(folder, 'node'), `#!/bin/sh\necho "$@"\ncat "$RECONCILE_STATUS"\nexit ${status}\n`);
    chmodSync(join(folder, 'node'), 0o755);
    const statusFile = join(folder, `status-${status}`);
    const child = spawn('sh', [script], {
      env: {
        PATH: `${folder}:${process.env['PATH']}`,
        RECONCILE_AT: '08:09',
        RECONCILE_STATUS: statusFile,
        RECONCILE_OPTIONS: '--archived-through 2026-01',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    await until(
      () => out.split('\n').length > 2 && readFileSync(statusFile, 'utf8') === `${status}\n`,
      'the status is there',
    );
    if (status !== 0) await until(() => out.includes('"level":50'), 'the error is logged');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    const [asked, meanwhile, ...errors] = out.trim().split('\n');
    expect(meanwhile).toBe('0');
    expect(asked).toBe('apps/reconcile/dist/main.js --archived-through 2026-01');
    const line = { level: 50, time: expect.any(Number), name: 'weir-reconcile', status, msg: expect.any(String) };
    expect(errors.map((error) => JSON.parse(error) as unknown)).toEqual(status === 0 ? [] : [line]);
  },
);

test.each([
  [3, [], '0\n'],
  [99, [50], '2\n'],
])('after %i runs that found nothing out, five minutes apart, it tells %j of it', (bad, loud, told) => {
  const own = mkdtempSync(join(folder, 'again-'));
  const [runs, slept, statusFile] = ['runs', 'slept', 'status'].map((name) => join(own, name)) as [
    string,
    string,
    string,
  ];
  for (const [name, text] of [
    ['node', '#!/bin/sh\necho . >>"$RUNS"\n[ "$(wc -l <"$RUNS")" -gt "$BAD" ] || exit 2\n'],
    ['sleep', '#!/bin/sh\necho "$1" >>"$SLEPT"\n[ "$1" = 300 ] || kill "$PPID"\n'],
    ['date', '#!/bin/sh\necho 1800000000\n'],
  ] as const) {
    writeFileSync(join(own, name), text);
    chmodSync(join(own, name), 0o755);
  }
  const PATH = `${own}:${process.env['PATH']}`;
  const env = { PATH, RECONCILE_STATUS: statusFile, RUNS: runs, SLEPT: slept, BAD: String(bad) };
  const { status, stdout } = spawnSync('sh', [script], { env, encoding: 'utf8', timeout: 60_000 });
  expect(status).toBe(0);
  const again = Math.min(bad, 12);
  expect(readFileSync(slept, 'utf8').trim().split('\n')).toEqual([...Array<string>(again).fill('300'), '68400']);
  expect(readFileSync(statusFile, 'utf8')).toBe(told);
  const levels = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { level: number }).level);
  expect(levels).toEqual([...Array<number>(again).fill(40), ...loud]);
});

// In place of what it waits for: says for how long.
const sleep = '#!/bin/sh\necho "$1" >"$SLEPT"\nkill "$PPID"\n';

test.each([
  ['0:30', 1_800],
  ['00:00', 0],
  ['9:05', 32_700],
  ['08:09', 29_340],
  ['23:59', 86_340],
])('waits until %s', (at, due) => {
  const own = mkdtempSync(join(folder, 'waits-'));
  const slept = join(own, 'slept');
  for (const [name, text] of [
    ['node', '#!/bin/sh\n'],
    ['sleep', sleep],
    ['date', '#!/bin/sh\necho 1800000000\n'],
  ] as const) {
    writeFileSync(join(own, name), text);
    chmodSync(join(own, name), 0o755);
  }
  const env = {
    PATH: `${own}:${process.env['PATH']}`,
    RECONCILE_AT: at,
    RECONCILE_STATUS: join(own, 'status'),
    SLEPT: slept,
  };
  const { status, stderr } = spawnSync('sh', [script], { env, encoding: 'utf8', timeout: 60_000 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  // 1,800,000,000 s after 1970 it is 08:00.
  expect(Number(readFileSync(slept, 'utf8'))).toBe(due > 28_800 ? due - 28_800 : 86_400 - 28_800 + due);
});

test.each(['25:99', '24:00', '12:60', '7', '1:2', '03:00:00', 'three', ' 3:00'])(
  'refuses %j, which is no time of day, in one line',
  (at) => {
    const { status, stdout, stderr } = spawnSync('sh', [script], {
      env: { RECONCILE_AT: at },
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: `RECONCILE_AT is ${at}: write a time of day in UTC, from 0:00 to 23:59\n`,
    });
  },
);

test('an error that nobody catches ends reconcile with status 2, and not with that of a difference', async () => {
  // Once it has begun, in the two seconds for which it tries a closed port.
  const throwLater =
    "globalThis.look=setInterval(()=>{if(process.listenerCount('SIGTERM')>0){clearInterval(look);throw(new(Error)('planted'))}},1)";
  const { code, err } = await runToEnd('apps/reconcile/dist/main.js', {
    NODE_OPTIONS: `--import=data:text/javascript,${throwLater}`,
    DATABASE_URL: 'postgres://weir@127.0.0.1:1/weir',
    REDIS_URL: 'redis://127.0.0.1:1',
  });
  expect(err).toContain('Error: planted');
  expect(code).toBe(2);
});
