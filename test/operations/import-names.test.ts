// What `npm run import` asks a name for: a path that is another file each time.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-import-'));
  await writeFile(join(folder, 'usage.csv'), 'time,customer,quantity\n2026-11-01,acme,1\n');
});
afterAll(() => rm(folder, { recursive: true }));

const IMPORT =
  '"$NODE" "$MAIN" --dry-run --format csv --meter t --customer customer --quantity quantity --timestamp time';

/** What a shell in the folder says of these lines, in which `$IMPORT` begins the command. */
function runShell(lines: string): Promise<{ code: number; out: string; err: string }> {
  const main = fileURLToPath(new URL('../../apps/import/dist/main.js', import.meta.url));
  const env = { PATH: process.env['PATH'], NODE: process.execPath, MAIN: main, WEIR_HOME: folder };
  return new Promise((resolve) => {
    execFile('sh', ['-c', lines.replace('$IMPORT', IMPORT)], { cwd: folder, env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });
}

test.each([
  ['a pipe', 'cat usage.csv | $IMPORT --file /dev/stdin'],
  ['what the shell has opened', '$IMPORT --file /dev/stdin < usage.csv'],
  ['a named pipe', 'mkfifo pipe; cat usage.csv > pipe & $IMPORT --file pipe; code=$?; kill $!; exit $code'],
])('%s needs a name', async (_, lines) => {
  const { code, out, err } = await runShell(lines);
  expect([code, out, err]).toEqual([2, '', expect.stringContaining('give --name')]);
});

test('a file in memory needs none: its path does name it', async () => {
  const inMemory = await mkdtemp('/dev/shm/weir-import-');
  try {
    const { code, out } = await runShell(`cp usage.csv ${inMemory}; $IMPORT --file ${inMemory}/usage.csv`);
    expect([code, out]).toEqual([0, expect.stringContaining(`"import:t:${inMemory}/usage.csv@2026-11-01:2"`)]);
  } finally {
    await rm(inMemory, { recursive: true });
  }
});

test('with a name a pipe is read', async () => {
  const { code, out } = await runShell('cat usage.csv | $IMPORT --file /dev/stdin --name november');
  expect([code, out]).toEqual([0, expect.stringContaining('"import:t:november:2"')]);
});
