// Files of an outbox of which little is not settled: that little is moved, and takes the room that it needs and no more.

import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import fsPromises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventOf, FakeService, range, refuseAsProxy } from '../../../test/support/fake-service.ts';
import { WeirClient, type QueueOptions } from './client.ts';
import { keyAndEncode } from './event.ts';
import type { HeldEvent } from './held-event.ts';
import { Outbox, type OutboxEvent } from './outbox.ts';
import { writeFile } from './outbox-segment.ts';

const BYTES_MAX = 80_000;

let base: string;
let problems: string[];
let opened: Outbox[];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'weir-outbox-'));
  problems = [];
  opened = [];
});

afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  for (const outbox of opened) await outbox.close();
  rmSync(base, { recursive: true });
});

function open(folder = base): Outbox {
  const listeners = { onProblem: (_kind: string, text: string) => void problems.push(text), onFound: () => {} };
  const outbox = new Outbox({ folder, bytesMax: BYTES_MAX }, 1000, listeners);
  opened.push(outbox);
  return outbox;
}

function made(key: string): HeldEvent {
  const note = 'x'.repeat(1_900);
  const encoded = keyAndEncode({ ...eventOf(1), idempotency_key: key, metadata: { note } });
  return { ...encoded, bytes: Buffer.byteLength(encoded.json) };
}

const keysOf = (events: HeldEvent[]) => events.map(({ key }) => key);
const files = (folder = base) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ndjson'))
    .map((name) => join(folder, name));
const bytesIn = (folder: string) => files(folder).reduce((bytes, file) => bytes + statSync(file).size, 0);

/** Files are removed in the background. */
async function untilFiles(count: number): Promise<void> {
  while (files().length !== count) await new Promise((resolve) => setImmediate(resolve));
}

/** An outbox with three files of ten events, of each of which all but the first is settled: it returns those three. */
async function fill(outbox: Outbox): Promise<OutboxEvent[]> {
  for (const n of range(30)) await outbox.add(made(`k${n}`));
  const events = await outbox.take(1000, 1e9);
  // The ends of the files are found.
  await outbox.take(1, 1);
  outbox.settle(events.filter((_, index) => index % 10 > 0));
  return events.filter((_, index) => index % 10 === 0);
}

/** Calls `see` before each step that the outbox makes on the disk. */
async function watch(see: (step: string) => void): Promise<void> {
  const handle = await fsPromises.open(base, 'r');
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const spy = <Name extends string>(on: Record<Name, (...args: never[]) => unknown>, name: Name) => {
    const original = on[name];
    vi.spyOn(on as Record<string, (...args: never[]) => unknown>, name).mockImplementation(function (
      this: unknown,
      ...args
    ) {
      see(name);
      return original.apply(this, args);
    });
  };
  for (const name of ['writeFile', 'datasync', 'sync'] as const) spy(handles, name);
  for (const name of ['open', 'rm'] as const) spy(fsPromises, name);
  syncBuiltinESMExports();
}

test('a few events that a firewall refuses do not fill an outbox, and those to come are sent', async () => {
  const service = await FakeService.open();
  const isRefused = (quantity: number) => quantity % 125 === 0;
  service.interfere = (events, response) =>
    events.some(({ quantity }) => isRefused(quantity)) && refuseAsProxy(response, 403);
  const queue: QueueOptions = { outbox: { folder: base, bytesMax: 2 * 1024 * 1024 }, whenFull: 'reject' };
  const makeClient = () =>
    new WeirClient({ baseUrl: service.url, apiKey: 'k', queue: { ...queue, intervalMs: 1, onWarning: () => {} } });
  const client = makeClient();
  // More than twice of what it holds. All at once would be more than that.
  const metadata = { note: 'x'.repeat(2_000) };
  for (const chunk of range(10)) {
    const events = range(250).map((n) => ({ ...eventOf((chunk - 1) * 250 + n), metadata }));
    await Promise.all(events.map((event) => client.queue(event)));
    while (service.accepted.size < chunk * 248) await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await client.close()).isDone).toBe(false);
  expect(bytesIn(base)).toBeLessThan(1.25 * 1024 * 1024);

  service.interfere = () => false;
  expect((await makeClient().close()).isDone).toBe(true);
  expect(service.accepted.size).toBe(2_500);
  await service.close();
});

test('what is not settled is moved to one file, is still held, and leaves no file when it is settled', async () => {
  const outbox = open();
  const [first, second, third] = await fill(outbox);
  await outbox.add(made('later'));
  outbox.giveBack([third!], 'behind');
  const { bytes } = outbox;
  await outbox.compact();
  await untilFiles(2);
  expect(outbox.bytes).toBe(bytesIn(base));
  expect(outbox.bytes).toBeLessThan(bytes / 5);
  expect(outbox.isSettledTo(1)).toBe(false);
  const later = await outbox.take(10, 1e9);
  expect(keysOf(later)).toEqual(['k21', 'later']);
  outbox.settle([first!, second!, ...later]);
  await outbox.close();
  expect([outbox.isEmpty, outbox.bytes, files(), problems]).toEqual([true, 0, [], []]);
});

test('files of which as much is not settled, or that are little together, are left as they are', async () => {
  const outbox = open();
  for (const n of range(30)) await outbox.add(made(`k${n}`));
  const events = await outbox.take(1000, 1e9);
  await outbox.take(1, 1);
  // Of the first little is left, and of the others most.
  outbox.settle(events.filter((_, index) => index > 0 && (index < 10 || index % 10 > 5)));
  const before = files();
  await outbox.compact();
  expect(files()).toEqual(before);
});

test('what is settled while it is moved is not held any more', async () => {
  const outbox = open();
  const left = await fill(outbox);
  const compacting = outbox.compact();
  outbox.settle(left.splice(0, 2));
  await compacting;
  await untilFiles(1);
  expect(bytesIn(base)).toBe(outbox.bytes);
  outbox.settle(left);
  await outbox.close();
  expect([outbox.isEmpty, outbox.bytes, files()]).toEqual([true, 0, []]);
});

test('a process that is killed at any step of that loses nothing', async () => {
  const outbox = open();
  const left = keysOf(await fill(outbox));
  const steps: string[] = [];
  const copies = mkdtempSync(join(tmpdir(), 'weir-outbox-'));
  await watch((step) => {
    steps.push(step);
    const [folder = ''] = readdirSync(base);
    // As the folder of a process that is gone.
    cpSync(join(base, folder), join(copies, `${steps.length}`, '999999999-0-0123456789ab'), { recursive: true });
  });
  await outbox.compact();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  // The names of files are on disk, too, before the first one goes.
  expect(steps.slice(0, steps.indexOf('rm'))).toEqual(
    expect.arrayContaining(['open', 'writeFile', 'datasync', 'sync']),
  );
  expect(steps.filter((step) => step === 'rm')).toHaveLength(3);
  for (const [index, step] of steps.entries()) {
    const next = open(join(copies, `${index + 1}`));
    const taken = keysOf(await next.take(1000, 1e9));
    expect(taken, `before ${step}`).toEqual(expect.arrayContaining(left));
  }
  rmSync(copies, { recursive: true });
});

test('where another process takes the new file before it is whole, the old ones stay', async () => {
  const outbox = open();
  const left = await fill(outbox);
  const before = files();
  const other = `${base}-taken-over`;
  await watch((step) => {
    const file = files().find((each) => !before.includes(each));
    if (step === 'writeFile' && file !== undefined) renameSync(file, other);
  });
  await outbox.compact();
  expect(files()).toEqual(before);
  rmSync(other);
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await outbox.compact();
  await untilFiles(1);
  outbox.settle(left);
  expect(outbox.isEmpty).toBe(true);
});

test('on a disk that is full the old files stay, no other does, and it is told', async () => {
  const outbox = open();
  const left = await fill(outbox);
  const before = files();
  await watch((step) => {
    if (step === 'datasync') throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  });
  await outbox.compact();
  expect(files()).toEqual(before);
  expect(problems).toEqual([expect.stringContaining('ENOSPC')]);
  outbox.settle(left);
  await outbox.close();
  expect([outbox.bytes, files()]).toEqual([0, []]);
});

test('a file of which it cannot be seen whether it is there leaves nothing', async () => {
  vi.spyOn(fsPromises, 'stat').mockRejectedValue(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
  syncBuiltinESMExports();
  await expect(writeFile(join(base, 'new'), Buffer.from('text'))).rejects.toMatchObject({ code: 'EMFILE' });
  expect(readdirSync(base)).toEqual([]);
});
