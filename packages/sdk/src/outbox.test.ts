import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HeldEvent } from './held-event.ts';
import { Outbox } from './outbox.ts';
import { keyAndEncode } from './event.ts';

let base: string;
let problems: string[];
let opened: Outbox[];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'weir-outbox-'));
  problems = [];
  opened = [];
});

afterEach(async () => {
  for (const outbox of opened) await outbox.close();
  rmSync(base, { recursive: true });
});

const listeners = { onProblem: (_kind: string, text: string) => void problems.push(text), onFound: () => {} };

function open(bytesMax?: number): Outbox {
  const outbox = new Outbox({ folder: base, ...(bytesMax !== undefined && { bytesMax }) }, 1000, listeners);
  opened.push(outbox);
  return outbox;
}

function made(key: string, note = ''): HeldEvent {
  const event = {
    meter_token: 'm',
    customer_external_id: 'äöü',
    quantity: '0.10',
    idempotency_key: key,
    metadata: { note },
  };
  const encoded = keyAndEncode(event);
  return { ...encoded, bytes: Buffer.byteLength(encoded.json) };
}

const keysOf = (events: HeldEvent[]) => events.map(({ key }) => key);
const take = (outbox: Outbox, max = 1000) => outbox.take(max, 1e9);

/** The files of the outbox, as `folder/file`. */
const files = () =>
  readdirSync(base).flatMap((folder) => readdirSync(join(base, folder)).map((file) => join(base, folder, file)));

/** Files as a process left them that is gone: no process has that number. */
function leave(text: string, file = '00000001.ndjson', folder = '999999999-0-0123456789ab'): void {
  mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, folder, file), text);
}

test('an event is on disk when it is added, is taken in order, and leaves no file when it is settled', async () => {
  const outbox = open();
  await Promise.all([outbox.add(made('a')), outbox.add(made('b', 'ü'.repeat(300_000))), outbox.add(made('c'))]);
  expect(files().map((file) => readFileSync(file, 'utf8').split('\n').length - 1)).toEqual([3]);
  expect(outbox.waiting).toBe(3);
  const events = await take(outbox);
  expect(keysOf(events)).toEqual(['a', 'b', 'c']);
  expect(events[0]?.json).toBe(made('a').json);
  expect(outbox.isEmpty).toBe(false);
  outbox.settle(events);
  expect([outbox.isEmpty, outbox.waiting]).toEqual([true, 0]);
  await outbox.close();
  expect(readdirSync(base)).toEqual([]);
});

test('what is not settled stays on disk, and the next one takes it over with its digits', async () => {
  const first = open();
  await first.add(made('a'));
  await first.add(made('b'));
  first.giveBack(await take(first, 1));
  await first.close();
  expect(files()).toHaveLength(1);

  const second = open();
  const events = await take(second);
  expect(events.map(({ json }) => json)).toEqual([made('a').json, made('b').json]);
  second.settle(events);
  await second.close();
  expect(readdirSync(base)).toEqual([]);
});

test('an event that is added at once does not hold up what others have left', async () => {
  leave(`${made('left').json}\n`);
  const outbox = open();
  await outbox.add(made('own'));
  expect(keysOf(await take(outbox))).toEqual(['left', 'own']);
});

test('a torn last line is left out, and what is before it and in other files is taken', async () => {
  leave(`${made('a').json}\n${made('b').json}\n${made('torn').json.slice(0, 30)}`);
  leave(`${made('c').json}\n${made('whole, but for the end of its line').json}`, '00000002.ndjson');
  leave('', '00000003.ndjson');
  const outbox = open();
  expect(outbox.waiting).toBe(Infinity);
  const events = await take(outbox);
  expect(keysOf(events)).toEqual(['a', 'b', 'c']);
  outbox.settle(events);
  expect(await take(outbox)).toEqual([]);
  expect([outbox.isEmpty, outbox.bytes, problems]).toEqual([true, 0, []]);
});

test('a line that is no event is told of, and costs no other', async () => {
  leave(`${made('a').json}\n\0\0\0\0\n{"quantity":1}\n${made('b').json}\n`);
  expect(keysOf(await take(open()))).toEqual(['a', 'b']);
  expect(problems).toHaveLength(2);
});

test('the folder of a process that lives is left alone, and so is what is no folder of an outbox', async () => {
  const first = open();
  await first.add(made('a'));
  leave(`${made('b').json}\n`, '00000001.ndjson', `${process.ppid}-0-0123456789ab`);
  leave('x', 'notes.txt', 'mine');
  expect(await take(open())).toEqual([]);
  expect(files()).toHaveLength(3);
});

test('of two that come for the same files each file has one taker', async () => {
  for (const n of Array.from({ length: 30 }, (_, index) => index))
    leave(`${made(`k${n}`).json}\n`, `${String(n).padStart(8, '0')}.ndjson`);
  const taken = await Promise.all([open(), open()].map((outbox) => take(outbox)));
  expect(new Set(taken.flat().map(({ key }) => key)).size).toBe(30);
  expect(taken.flat()).toHaveLength(30);
});

test('an event that is written while another process takes its file over is written again elsewhere', async () => {
  const outbox = open();
  await outbox.add(made('a'));
  const [file = ''] = files();
  const other = `${base}-taken-over`;
  renameSync(file, other);
  await outbox.add(made('b'));
  expect(files().map((path) => readFileSync(path, 'utf8'))).toEqual([`${made('b').json}\n`]);
  expect(keysOf(await take(outbox))).toEqual(['b']);
  rmSync(other);
});

test('what is written is counted once while its full file is closed', async () => {
  const outbox = open(400);
  let isAdded = false;
  const added = outbox.add(made('a', 'x'.repeat(100))).then(() => (isAdded = true));
  const lasts = new Set<number>();
  while (!isAdded) {
    lasts.add(outbox.last);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await added;
  expect([...lasts]).toEqual([1]);
});

test('it is full at so many bytes, and has room again when a file is done', async () => {
  const outbox = open(1_200_000);
  let count = 0;
  for (; outbox.hasRoom(100_000); count += 1) await outbox.add(made(`k${count}`, 'x'.repeat(100_000)));
  expect(count).toBe(11);
  const events = await take(outbox, 6);
  outbox.settle(events);
  expect(outbox.hasRoom(100_000)).toBe(true);
  expect(keysOf(await take(outbox))).toEqual(['k6', 'k7', 'k8', 'k9', 'k10']);
});

test('a small one has room again as soon as all is settled', async () => {
  const outbox = open(1000);
  await take(outbox);
  for (let round = 0; round < 5; round += 1) {
    let count = 0;
    for (; outbox.hasRoom(1200); count += 1) await outbox.add(made(`k${round}-${count}`, 'x'.repeat(1000)));
    expect(count).toBe(1);
    outbox.settle(await take(outbox));
  }
});

test('an event that cannot be written is not queued, and its caller hears why', async () => {
  writeFileSync(join(base, 'file'), '');
  const outbox = new Outbox({ folder: join(base, 'file') }, 10, listeners);
  await expect(outbox.add(made('a'))).rejects.toMatchObject({ code: 'outbox_failed', idempotencyKeys: ['a'] });
  expect(problems).toHaveLength(1);
  expect(outbox.isEmpty).toBe(true);
});

/** Runs a program, within limits of the shell, and returns what it prints. */
function runWithin(limits: string, program: string): unknown {
  const limited = `${limits}; export TSX_DISABLE_CACHE=1; exec "$0" --import tsx --input-type=module --eval "$1"`;
  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  return JSON.parse(execFileSync('sh', ['-c', limited, process.execPath, program], { cwd, encoding: 'utf8' }));
}

test('a full disk gets no file with each event that it refuses', () => {
  const program = `
    import { readdirSync } from 'node:fs';
    import { WeirClient } from '${new URL('client.ts', import.meta.url).href}';
    const queue = { outbox: { folder: '${base}' } };
    const weir = new WeirClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', queue });
    const event = { meter_token: 'm', customer_external_id: 'c', quantity: 1, metadata: { note: 'x'.repeat(9_000) } };
    const codes = [];
    for (let n = 0; n < 5; n += 1) await weir.queue(event).catch(({ code }) => codes.push(code));
    const left = readdirSync('${base}', { recursive: true }).filter((name) => name.endsWith('.ndjson'));
    console.log(JSON.stringify({ codes, left }));`;
  // No file may have more than a few kB: to whoever writes that is as a disk that is full.
  expect(runWithin('ulimit -f 4', program)).toEqual({ codes: Array(5).fill('outbox_failed'), left: [] });
});

test('a process with too many files open keeps no file and no folder of what it cannot finish opening', () => {
  const program = `
    import { closeSync, openSync, readdirSync } from 'node:fs';
    import { Outbox } from '${new URL('outbox.ts', import.meta.url).href}';
    const outbox = new Outbox({ folder: '${base}' }, 10, { onProblem: () => {}, onFound: () => {} });
    const event = ${JSON.stringify(made('a'))};
    const told = [];
    await outbox.take(1, 1);
    const before = readdirSync('/proc/self/fd').length;
    for (const free of [0, 1]) {
      const others = [];
      try {
        for (;;) others.push(openSync('/dev/null'));
      } catch {}
      for (let n = 0; n < free; n += 1) closeSync(others.pop());
      for (let n = 0; n < 5; n += 1) await outbox.add(event).catch(({ code }) => told.push(code));
      for (const each of others) closeSync(each);
      told.push(...readdirSync('${base}', { recursive: true }).filter((name) => free === 0 || name.endsWith('.ndjson')));
    }
    const opened = readdirSync('/proc/self/fd').length;
    await outbox.add(event);
    console.log(JSON.stringify({ told, waiting: outbox.waiting, more: opened - before }));`;
  expect(runWithin('ulimit -n 200', program)).toEqual({
    told: Array(10).fill('outbox_failed'),
    waiting: 1,
    more: 0,
  });
});
