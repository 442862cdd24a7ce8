// Whose outbox is taken over by a process that runs, and whose is left alone.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keyAndEncode } from './event.ts';
import type { HeldEvent } from './held-event.ts';
import { Outbox } from './outbox.ts';
import { ownName } from './outbox-owner.ts';

/** How often the outboxes here look: much sooner than in earnest. */
const LOOK_MS = 5;

let base: string;
let opened: Outbox[];
let found: number;
let problems: string[];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'weir-outbox-'));
  opened = [];
  found = 0;
  problems = [];
});

afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  for (const outbox of opened) await outbox.close();
  rmSync(base, { recursive: true });
});

function open(): Outbox {
  const listeners = {
    onProblem: (_kind: string, text: string) => void problems.push(text),
    onFound: () => (found += 1),
  };
  const outbox = new Outbox({ folder: base }, 1000, listeners, LOOK_MS);
  opened.push(outbox);
  return outbox;
}

function made(key: string): HeldEvent {
  const encoded = keyAndEncode({ meter_token: 'm', customer_external_id: 'c', quantity: 1, idempotency_key: key });
  return { ...encoded, bytes: Buffer.byteLength(encoded.json) };
}

/** A folder with one event, whose key is the name of the folder. */
function leave(folder: string): void {
  mkdirSync(join(base, folder));
  writeFileSync(join(base, folder, '00000001.ndjson'), `${made(folder).json}\n`);
}

const HOUR_AGO = new Date(Date.now() - 3_600_000);
const grow = (folder: string) => utimesSync(join(base, folder), HOUR_AGO, HOUR_AGO);
const keysOf = (events: HeldEvent[]) => events.map(({ key }) => key);

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}

/** Takes until so many events have come. */
async function takeAll(outbox: Outbox, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    await until(() => outbox.waiting > 0);
    const events = await outbox.take(1000, 1e9);
    keys.push(...keysOf(events));
    outbox.settle(events);
  }
  return keys;
}

/** Waits until it has looked at all folders once more: each look begins with touching its own. */
async function afterLook(outbox: Outbox): Promise<void> {
  await outbox.add(made('own'));
  const isOwn = (name: string) => readdirSync(join(base, name)).some((file) => hasKey(join(base, name, file), 'own'));
  const [folder = ''] = readdirSync(base).filter(isOwn);
  for (let looks = 0; looks < 2; looks += 1) {
    grow(folder);
    await until(() => isTouched(folder));
  }
}
const hasKey = (file: string, key: string) => readFileSync(file, 'utf8').includes(`"${key}"`);
const isTouched = (folder: string) => statSync(join(base, folder)).mtimeMs > Date.now() - 60_000;

/** When a process began, as its folder's name tells it. */
const startOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')[19] ?? '';

test('what a process leaves that ends while others run is found by one of them, and its folder goes', async () => {
  const takers = [open(), open(), open()];
  for (const outbox of takers) expect(await outbox.take(10, 1e9)).toEqual([]);
  const gone = Array.from({ length: 20 }, (_, n) => `99999999${n % 10}-0-${String(n).padStart(12, '0')}`);
  for (const folder of gone) leave(folder);
  await until(() => gone.every((folder) => !existsSync(join(base, folder))));
  await until(() => found > 0);
  const taken = await Promise.all(takers.map((outbox) => outbox.take(1000, 1e9)));
  expect(keysOf(taken.flat()).toSorted()).toEqual(gone.toSorted());
});

test('it is read before what is still written to, and neither is read twice', async () => {
  const outbox = open();
  await outbox.add(made('own'));
  const [own] = await outbox.take(1, 1e9);
  await outbox.add(made('own too'));
  leave('999999999-0-0123456789ab');
  await until(() => found > 0);
  expect(keysOf(await outbox.take(1, 1e9))).toEqual(['999999999-0-0123456789ab']);
  expect(keysOf(await outbox.take(10, 1e9))).toEqual(['own too']);
  expect(own?.key).toBe('own');
  expect(problems).toEqual([]);
});

test('a process that ended, and whose parent has not asked about it, is gone', async () => {
  // The shell becomes another program, which knows nothing of the child that it has.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
    const zombie = Number(pid.toString());
    await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
    process.kill(zombie, 'SIGKILL');
    await until(() => /\) Z /.test(readFileSync(`/proc/${zombie}/stat`, 'utf8')));
    const folder = `${zombie}-${startOf(zombie)}-0123456789ab-${(await ownName()).tail}`;
    leave(folder);
    expect(await takeAll(open(), 1)).toEqual([folder]);
  } finally {
    parent.kill('SIGKILL');
  }
});

test('a process that lives keeps its folder, however long untouched; its number alone does not do that', async () => {
  const { tail } = await ownName();
  const alive = `${process.ppid}-${startOf(process.ppid)}`;
  const [living, livingOfBefore] = [`${alive}-000000000001-${tail}`, `${alive}-000000000002`];
  const reused = `${process.ppid}-1-000000000003-${tail}`;
  for (const folder of [living, livingOfBefore, reused]) leave(folder);
  for (const folder of [living, livingOfBefore, reused]) grow(folder);
  const outbox = open();
  expect(await takeAll(outbox, 1)).toEqual([reused]);
  await afterLook(outbox);
  expect(readdirSync(base)).toEqual(expect.arrayContaining([living, livingOfBefore]));
});

test('a process that cannot be seen from here keeps its folder while it is touched', async () => {
  const { head, tail } = await ownName();
  const elsewhere = ['1-5-000000000001-00000000', '1-5-000000000002-00000000'] as const;
  const ofThread = [`${head}-000000000003-${tail}`, `${head}-000000000004-${tail}`] as const;
  const unknownStart = [`${process.ppid}-0-000000000005`, `${process.ppid}-0-000000000006`] as const;
  for (const [kept, left] of [elsewhere, ofThread, unknownStart]) {
    leave(kept);
    leave(left);
    grow(left);
  }
  const outbox = open();
  expect((await takeAll(outbox, 3)).toSorted()).toEqual([elsewhere[1], ofThread[1], unknownStart[1]].toSorted());
  await afterLook(outbox);
  expect(readdirSync(base)).toEqual(expect.arrayContaining([elsewhere[0], ofThread[0], unknownStart[0]]));
});

test('the folder of a process that cannot be seen, and whose clock was ahead, is not waited for until then', async () => {
  const folder = '1-5-000000000001-00000000';
  leave(folder);
  const ahead = new Date(Date.now() + 3_600_000);
  utimesSync(join(base, folder), ahead, ahead);
  expect(await takeAll(open(), 1)).toEqual([folder]);
});

test('it touches its own folder, and makes it again when someone who took it for gone has removed it', async () => {
  const outbox = open();
  await outbox.add(made('a'));
  const [folder = ''] = readdirSync(base);
  grow(folder);
  await until(() => isTouched(folder));
  rmSync(join(base, folder), { recursive: true });
  await outbox.add(made('b'));
  expect(keysOf(await outbox.take(10, 1e9))).toEqual(['b']);
});

test('a folder that cannot be read is told of, and keeps no other from being taken over', async () => {
  writeFileSync(join(base, '999999999-0-000000000001'), 'no folder');
  leave('999999999-0-000000000002');
  expect(await takeAll(open(), 1)).toEqual(['999999999-0-000000000002']);
  expect(problems[0]).toContain('ENOTDIR');
});

test('a file that cannot be read now holds no other up, is not taken for sent, and is read when it can be', async () => {
  const outbox = open();
  await outbox.add(made('own'));
  const [folder = ''] = readdirSync(base);
  const file = join(base, folder, '00000001.ndjson');
  const elsewhere = join(base, 'elsewhere');
  renameSync(file, elsewhere);
  // Whoever reads it fails, as a process does that has too many files open.
  mkdirSync(file);
  leave('999999999-0-0123456789ab');
  await until(() => found > 0);
  const left = await outbox.take(10, 1e9);
  expect(left.map(({ key }) => key)).toEqual(['999999999-0-0123456789ab']);
  outbox.settle(left);
  await until(async () => (await outbox.take(10, 1e9)).length === 0 && problems.length > 0);
  expect(problems[0]).toContain('cannot be read now');
  expect([outbox.isEmpty, outbox.isSettledTo(1)]).toEqual([false, false]);
  rmdirSync(file);
  renameSync(elsewhere, file);
  let taken: HeldEvent[] = [];
  await until(async () => (taken = await outbox.take(10, 1e9)).length > 0);
  expect(taken.map(({ key }) => key)).toEqual(['own']);
});

test('while a file of others cannot be read, what is queued still waits to go with more', async () => {
  const outbox = open();
  leave('999999999-0-0123456789ab');
  const folder = readdirSync(base).find((name) => name.startsWith('999999999')) ?? '';
  const file = join(base, folder, '00000001.ndjson');
  rmSync(file);
  mkdirSync(file);
  await until(async () => (await outbox.take(10, 1e9)).length === 0 && problems.length > 0);
  await outbox.add(made('own'));
  // With each look it is tried again, and waits for a moment.
  await until(async () => {
    outbox.giveBack(await outbox.take(10, 1e9));
    return outbox.waiting === 1;
  });
  expect(outbox.isEmpty).toBe(false);
});

test('a process whose own folder was removed takes over what others leave all the same', async () => {
  const outbox = open();
  await outbox.add(made('own'));
  outbox.settle(await outbox.take(1, 1e9));
  const [folder = ''] = readdirSync(base);
  rmSync(join(base, folder), { recursive: true });
  leave('999999999-0-0123456789ab');
  await until(() => found > 0);
  expect((await outbox.take(10, 1e9)).map(({ key }) => key)).toEqual(['999999999-0-0123456789ab']);
});

/** From now on the disk has no room for another folder. */
function fillDisk(): void {
  vi.spyOn(fsPromises, 'mkdir').mockImplementation(async (path) => {
    if (!existsSync(path)) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    return undefined;
  });
  syncBuiltinESMExports();
}

test('what is on a full disk is sent and removed, although there is no room for a folder of its own', async () => {
  const left = ['999999999-0-000000000001', '999999999-0-000000000002'];
  for (const folder of left) leave(folder);
  writeFileSync(join(base, left[0]!, '00000007.ndjson'), `${made('seventh').json}\n`);
  fillDisk();
  const [outbox, other] = [open(), open()];
  const taken = await Promise.all([outbox, other].map((each) => each.take(10, 1e9)));
  expect(keysOf(taken.flat()).toSorted()).toEqual([...left, 'seventh'].toSorted());
  const takers = [outbox, other].filter((_, index) => taken[index]!.length > 0);
  // What is written then is in no file that is still to be sent.
  for (const each of takers) await each.add(made('own'));
  for (const each of takers) expect(keysOf(await each.take(10, 1e9))).toEqual(['own']);
  for (const [index, each] of [outbox, other].entries()) {
    each.settle(taken[index]!);
    await each.close();
  }
  const files = readdirSync(base, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ndjson'));
  expect(files).toHaveLength(takers.length);
});
