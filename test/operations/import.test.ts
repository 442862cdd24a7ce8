import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signUp, until, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

/** A row of the file; quantities are counted in thousandths, so that the test's own sums are exact too. */
interface UsageRow {
  hour: number;
  time: string;
  customer: string;
  user: string;
  thousandths: number;
}

const hours = 30;
const customers = ['acme', 'globex', 'initech', 'umbrella', 'hooli'];
const start = Date.parse('2024-03-01T00:00:00Z');
const end = new Date(start + hours * 3_600_000).toISOString();
const rows = Array.from({ length: 3000 }, (_, index): UsageRow => {
  const seconds = (index * 7919) % (hours * 3600);
  return {
    hour: Math.floor(seconds / 3600),
    // As databases write it: a space, no zone, and more digits than a microsecond has.
    time: `${new Date(start + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}.9999999`,
    customer: customers[(index * 31) % customers.length] ?? '',
    user: `user-${(index * 104_729) % 211}`,
    thousandths: ((index * 6007) % 9973) + 1,
  };
});

const weir = ownWeir();
let organization: Organization;
let apiKey: string;
let folder: string;
let file: string;

beforeAll(async () => {
  organization = await signUp(weir);
  apiKey = await organization.createKey('usage.write');
  folder = await mkdtemp(join(tmpdir(), 'weir-import-'));
  file = join(folder, 'usage.csv');
  await writeFile(file, csv(rows));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

function csv(usage: UsageRow[]): string {
  const lines = usage.map((row) => [row.time, row.customer, decimal(row.thousandths), row.user].join(','));
  return ['time,customer,quantity,user', ...lines, ''].join('\r\n');
}

function decimal(thousandths: number): string {
  return `${Math.floor(thousandths / 1000)}.${String(thousandths % 1000).padStart(3, '0')}`;
}

/** The import as a process of its own; `feed` writes to its standard input and may end it. */
async function runImport(argv: string[], feed?: (child: ReturnType<typeof spawn>) => Promise<void>) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const child = spawn(process.execPath, ['apps/import/dist/main.js', ...argv, '--quantity', 'quantity'], {
    cwd: root,
    env: { PATH: process.env['PATH'], WEIR_URL: weir.baseUrl, WEIR_API_KEY: apiKey, WEIR_HOME: folder },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[number]>;
  let output = '';
  let errors = '';
  child.stdout.on('data', (part: Buffer) => (output += part.toString()));
  child.stderr.on('data', (part: Buffer) => (errors += part.toString()));
  if (feed) await feed(child);
  else child.stdin.end();
  const [status] = await closed;
  await weir.drained();
  return { status, output, errors };
}

const columns = ['--customer', 'customer', '--timestamp', 'time', '--metadata', 'user_id=user'];

async function usageByHour(meterId: string, customer: string): Promise<{ usage: string; event_count: number }[]> {
  const query = new URLSearchParams({
    customer_external_id: customer,
    group_by: 'hour',
    start_date: new Date(start).toISOString(),
    end_date: end,
  });
  const answer = await organization.ask('GET', `/meters/${meterId}/usage?${query.toString()}`);
  expect(answer.status).toBe(200);
  return answer.body.grouped_data.map(({ usage, event_count }: { usage: string; event_count: number }) => {
    return { usage, event_count };
  });
}

/** What the test itself makes of the rows, with `total` as the meter would read a bucket. */
function expectedByHour(customer: string, total: (bucket: UsageRow[]) => string) {
  return Array.from({ length: hours }, (_, hour) => {
    const bucket = rows.filter((row) => row.customer === customer && row.hour === hour);
    return { usage: total(bucket), event_count: bucket.length };
  });
}

function sum(bucket: UsageRow[]): string {
  const thousandths = bucket.reduce((total, row) => total + row.thousandths, 0);
  return thousandths === 0 ? '0' : decimal(thousandths).replace(/\.?0+$/, '');
}

function users(bucket: UsageRow[]): string {
  return String(new Set(bucket.map((row) => row.user)).size);
}

async function expectUsage(meterId: string, total: (bucket: UsageRow[]) => string): Promise<void> {
  for (const customer of customers) {
    expect(await usageByHour(meterId, customer)).toEqual(expectedByHour(customer, total));
  }
}

describe('an imported file', () => {
  test('is counted once however often it is imported, for each meter, customer and hour', async () => {
    const meters = [
      { meter: await organization.createMeter('SUM'), total: sum },
      { meter: await organization.createMeter('SUM'), total: sum },
      { meter: await organization.createMeter('UNIQUE_COUNT'), total: users },
    ];
    for (const { meter, total } of meters) {
      const argv = ['--file', file, '--meter', meter.token, ...columns];
      const first = await runImport(argv);
      expect(first).toMatchObject({
        status: 0,
        output: expect.stringContaining('3,000 accepted, 0 already there, 0 bad'),
      });
      await expectUsage(meter.id, total);

      const second = await runImport(argv);
      expect(second).toMatchObject({
        status: 0,
        output: expect.stringContaining('0 accepted, 3,000 already there, 0 bad'),
      });
      await expectUsage(meter.id, total);
    }
  });

  test('that was interrupted goes on where it stopped', async () => {
    const meter = await organization.createMeter('SUM');
    const argv = ['--meter', meter.token, ...columns, '--name', 'interrupted', '--batch-size', '100'];
    const stopped = await runImport(['--file', '-', '--format', 'csv', ...argv], async (child) => {
      child.stdin?.write(csv(rows.slice(0, 1250)));
      await until(async () => (await countEvents(meter.id)) === 1250, 'what was read is recorded');
      child.kill('SIGINT');
    });
    expect(stopped).toMatchObject({ status: 130, output: expect.stringContaining('1,250 accepted') });
    expect(stopped.output).toContain('Run the same command again');

    const continued = await runImport(['--file', file, ...argv]);
    expect(continued.output).toContain('1,750 accepted, 1,250 already there, 0 bad');
    await expectUsage(meter.id, sum);
  });

  test('without times is counted once: interrupted, grown, and imported again', async () => {
    const meter = await organization.createMeter('SUM');
    const growing = join(folder, 'untimed.csv');
    const untimed = ['--meter', meter.token, '--customer', 'customer', '--name', 'untimed'];
    await writeFile(growing, csv(rows.slice(0, 300)));
    const stopped = await runImport(['--file', '-', '--format', 'csv', ...untimed], async (child) => {
      child.stdin?.write(csv(rows.slice(0, 200)));
      await until(async () => (await countEvents(meter.id)) === 200, 'what was read is recorded');
      child.kill('SIGINT');
    });
    expect(stopped).toMatchObject({ status: 130, output: expect.stringContaining('200 accepted') });
    for (const outcome of ['100 accepted, 200 already there, 0 bad', '0 accepted, 300 already there, 0 bad']) {
      const { status, output } = await runImport(['--file', growing, ...untimed]);
      expect(output).toContain(outcome);
      expect(status).toBe(0);
    }
    expect(await countEvents(meter.id)).toBe(300);
  });

  test('whose rows have ids and no times is counted once, also when the door has forgotten them', async () => {
    const meter = await organization.createMeter('SUM');
    const keyed = join(folder, 'keyed.csv');
    const argv = ['--file', keyed, '--meter', meter.token, '--customer', 'customer', '--idempotency-key', 'id'];
    await writeFile(keyed, 'id,customer,quantity\nkeyed-1,acme,1\nkeyed-2,acme,2\n');
    expect((await runImport(argv)).output).toContain('2 accepted, 0 already there, 0 bad');
    expect((await runImport(argv)).output).toContain('0 accepted, 2 already there, 0 bad');
    for (const key of ['keyed-1', 'keyed-2']) await weir.redis.unlink(await weir.claim(organization.id, key));
    expect((await runImport(argv)).output).toContain('2 accepted, 0 already there, 0 bad');
    const query = `meter_token=${meter.token}&start_date=2024-01-01`;
    const usage = await organization.ask('GET', `/usage?${query}`);
    expect(usage.body).toMatchObject({ total_usage: '3', event_count: 2 });
  });

  test('that is imported twice at the same time is counted once', async () => {
    const meter = await organization.createMeter('SUM');
    const argv = ['--file', file, '--meter', meter.token, ...columns, '--batch-size', '100'];
    const ended = await Promise.all([runImport(argv), runImport(argv)]);
    const [one, other] = ended.map(({ output }) => {
      const [, accepted, there] = /([\d,]+) accepted, ([\d,]+) already there, 0 bad/.exec(output) ?? [];
      return [accepted, there].map((count) => Number(count?.replace(',', '')));
    });
    expect(ended.map(({ status }) => status)).toEqual([0, 0]);
    expect(one!.reduce((sum, count) => sum + count)).toBe(3000);
    expect(other).toEqual(one!.toReversed());
    await expectUsage(meter.id, sum);
  });

  test('that grew at its end is continued', async () => {
    const meter = await organization.createMeter('SUM');
    const growing = join(folder, 'growing.csv');
    const argv = ['--file', growing, '--meter', meter.token, ...columns];
    // As it stands while whoever writes it is within the last value of a row.
    await writeFile(growing, csv(rows.slice(0, 701)).slice(0, -3));
    const { status, output, errors } = await runImport(argv);
    expect([status, output]).toEqual([1, expect.stringContaining('700 accepted, 0 already there, 1 bad')]);
    expect(errors).toContain('line 702: has no line feed at its end');
    await writeFile(growing, csv(rows));
    expect((await runImport(argv)).output).toContain('2,300 accepted, 700 already there, 0 bad');
    await expectUsage(meter.id, sum);
  });

  test('has its bad rows listed with their lines, the rest goes in, and corrected rows go in later', async () => {
    const meter = await organization.createMeter('SUM');
    const faulty = join(folder, 'faulty.csv');
    const argv = ['--file', faulty, '--meter', meter.token, ...columns];
    const lines = csv(rows).split('\r\n');
    const faults = new Map([
      [3, '2024-03-01 00:00:00,acme,many,user-1'],
      [4, 'yesterday,acme,1,user-1'],
      [100, '2024-03-01 00:00:00,acme,1'],
      [101, '2024-03-01 00:00:00,"ac"me,1,user-1'],
      [1500, '2024-03-01 00:00:00,acme,0,user-1'],
      [3001, '1999-03-01 00:00:00,acme,1,user-1'],
    ]);
    await writeFile(faulty, lines.map((line, index) => faults.get(index + 1) ?? line).join('\r\n'));
    const first = await runImport(argv);
    expect(first).toMatchObject({
      status: 1,
      output: expect.stringContaining('2,994 accepted, 0 already there, 6 bad'),
    });
    const listed = Array.from(first.errors.matchAll(/^line (\d+): (.+)$/gm), ([, line]) => Number(line));
    expect(listed.toSorted((a, b) => a - b)).toEqual([...faults.keys()]);
    expect(first.errors).toContain('line 3: quantity "many" is not a decimal number');

    await writeFile(faulty, lines.join('\r\n'));
    const second = await runImport(argv);
    expect(second).toMatchObject({
      status: 0,
      output: expect.stringContaining('6 accepted, 2,994 already there, 0 bad'),
    });
    await expectUsage(meter.id, sum);
  });

  test('whose first row is bad is not begun, so that correcting that row counts no other one twice', async () => {
    const meter = await organization.createMeter('SUM');
    const undated = join(folder, 'undated.csv');
    const argv = ['--file', undated, '--meter', meter.token, ...columns];
    const lines = ['time,customer,quantity', '2024-03-01,acme,1', '2024-03-02,acme,1', '2024-03-03,acme,1', ''];
    for (const [day, problem] of [
      ['soon', 'timestamp "soon" cannot be read'],
      ['1999-03-01', 'timestamp must be in the year 2000 or later'],
    ]) {
      await writeFile(undated, lines.with(1, `${day},acme,1`).join('\n'));
      const first = await runImport(argv.slice(0, 8));
      expect(first).toMatchObject({ status: 2, output: expect.stringContaining('0 accepted') });
      expect(first.errors).toContain(`line 2: ${problem}`);
      expect(first.errors).toContain('--name');
    }
    await writeFile(undated, lines.join('\n'));
    expect((await runImport(argv.slice(0, 8))).output).toContain('3 accepted, 0 already there, 0 bad');
    expect(await countEvents(meter.id)).toBe(3);
  });

  test('never counts a row again that was changed after it was accepted', async () => {
    const meter = await organization.createMeter('SUM');
    const changed = join(folder, 'changed.csv');
    const argv = ['--file', changed, '--meter', meter.token, ...columns];
    await writeFile(changed, csv(rows));
    await runImport(argv);
    await writeFile(changed, csv(rows.with(10, { ...rows[10]!, thousandths: 5_000_000 })));
    const { status, errors } = await runImport(argv);
    expect(status).toBe(1);
    expect(errors).toContain('line 12: was imported before with other content');
    expect(errors).toContain('Another --name would count all rows of this file again');
    await expectUsage(meter.id, sum);
  });
});

test('NDJSON keeps every digit of a quantity and the type of metadata', async () => {
  const meter = await organization.createMeter('SUM');
  const ndjson = join(folder, 'usage.ndjson');
  const events = [0, 1].map(
    (second) =>
      `{"at":"2024-03-01T00:00:0${second}+01:00","who":{"id":7},"quantity":0.1234567890123456789,"user":{"id":42,"tags":["a"]}}`,
  );
  await writeFile(ndjson, events.join('\n'));
  const fields = [
    '--customer',
    '{who.id}',
    '--timestamp',
    'at',
    '--metadata',
    'user_id=user.id',
    '--metadata',
    'tags=user.tags',
  ];
  const { status } = await runImport(['--file', ndjson, '--meter', meter.token, ...fields]);
  expect(status).toBe(0);
  const { rows: stored } = await weir.pool.query(
    'SELECT quantity::text, customer_external_id, metadata FROM events WHERE meter_id = $1',
    [meter.id],
  );
  expect(stored).toEqual(
    events.map(() => ({
      quantity: '0.1234567890123456789',
      customer_external_id: '7',
      metadata: { user_id: 42, tags: ['a'] },
    })),
  );
});

test('whoever no longer reads what it says does not end it', async () => {
  const meter = await organization.createMeter('SUM');
  const argv = ['--file', '-', '--format', 'csv', '--name', 'unread', '--meter', meter.token, ...columns];
  const { status, output } = await runImport(argv, async (child) => {
    child.stdin?.write(csv(rows.slice(0, 1)));
    await once(child.stderr!, 'data');
    child.stderr?.destroy();
    child.stdin?.end(['2024-03-01,acme,many,', '2024-03-01,acme,1,', '2024-03-01,acme,1,', ''].join('\r\n'));
  });
  expect([status, output]).toEqual([1, expect.stringContaining('3 accepted, 0 already there, 1 bad')]);
});

async function countEvents(meterId: string): Promise<number> {
  const { rows: counted } = await weir.pool.query('SELECT count(*)::int AS count FROM events WHERE meter_id = $1', [
    meterId,
  ]);
  return counted[0].count;
}
