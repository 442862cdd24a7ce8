import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Command } from 'commander';
import { importFile } from './import-file.ts';
import { parseImportOptions } from './import-options.ts';

interface SentEvent {
  idempotency_key: string;
  quantity: number;
}

let server: Server;
let requests: SentEvent[][];
/** Answers a request itself and returns true, or leaves it to a service that takes everything once. */
let interfere: (events: SentEvent[], response: ServerResponse) => boolean;

beforeEach(async () => {
  const accepted = new Set<string>();
  requests = [];
  interfere = () => false;
  server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { events } = JSON.parse(text) as { events: SentEvent[] };
      requests.push(events);
      if (interfere(events, response)) return;
      const data = events.map(({ idempotency_key: id }) => {
        if (accepted.has(id)) return { status: 409, code: 'duplicate_event', id };
        accepted.add(id);
        return { status: 201, id };
      });
      response.writeHead(207).end(JSON.stringify({ data }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const rows = (count: number, value = (row: number) => String(row)) =>
  `user,tokens\n${Array.from({ length: count }, (_, index) => `ann,${value(index + 1)}\n`).join('')}`;

async function run(text: string, argv: string[] = [], stop = new AbortController().signal) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = [
    '--file',
    'u.csv',
    '--name',
    'u',
    ...(argv.includes('--lookup-key') ? [] : ['--meter', 'm']),
    '--customer',
    'user',
    '--quantity',
    'tokens',
    '--url',
    url,
  ];
  const options = parseImportOptions([...args, '--key', 'k', ...argv], {}, {}, new Command().exitOverride());
  let log = '';
  let result = '';
  const done = importFile(
    options,
    { stream: Readable.from([Buffer.from(text)]), sizeBytes: text.length },
    { write: (part) => (log += part) },
    { write: (part) => (result += part) },
    stop,
  );
  const counts = await done.catch((error: unknown) => error);
  return { counts, log, result };
}

/** As Weir does it; a batch that is taken in part is no problem. */
const refuse = (response: ServerResponse, status: number, body = {}) => {
  const isProblem = status >= 300;
  response.writeHead(status, { 'content-type': isProblem ? 'application/problem+json' : 'application/json' });
  response.end(JSON.stringify({ ...(isProblem && { code: 'refused', status, request_id: 'r1' }), ...body }));
  return true;
};

const refuseAsProxy = (response: ServerResponse) => {
  response.writeHead(403, { 'content-type': 'text/html' }).end('<html>no</html>');
  return true;
};

test('all rows arrive in batches, and a second run finds them there', async () => {
  const first = await run(rows(1234));
  expect(first.counts).toEqual({ accepted: 1234, alreadyThere: 0, bad: 0 });
  expect(requests.map((events) => events.length).toSorted((a, b) => a - b)).toEqual([234, 500, 500]);
  expect(first.result).toMatch(/^1,234 rows in .* 1,234 accepted, 0 already there, 0 bad\.\n$/);
  expect((await run(rows(1234))).counts).toEqual({ accepted: 0, alreadyThere: 1234, bad: 0 });
});

test('an import says where it goes, however the meter is named', async () => {
  expect((await run(rows(1))).log).toMatch(/^Importing .*u\.csv into m at http:/);
  expect((await run(rows(1), ['--lookup-key', 'tokens-used'])).log).toMatch(
    /^Importing .*u\.csv into tokens-used at http:/,
  );
});

test('bad rows are listed with their lines and the rest goes in', async () => {
  const { counts, log } = await run(rows(10, (row) => (row === 3 ? 'many' : String(row))));
  expect(counts).toEqual({ accepted: 9, alreadyThere: 0, bad: 1 });
  expect(log).toContain('line 4: quantity "many" is not a decimal number\n');
});

test('a row that makes the service refuse its whole request is found, and costs no other', async () => {
  interfere = (events, response) => {
    const at = events.findIndex(({ quantity }) => quantity === 77);
    const errors = [{ path: `events[${at}]`, message: 'is no JSON' }];
    return at >= 0 && refuse(response, 400, { code: 'malformed_json', detail: 'Not JSON', errors });
  };
  const { counts, log } = await run(rows(100));
  expect(counts).toEqual({ accepted: 99, alreadyThere: 0, bad: 1 });
  expect(log).toContain('line 78: Not JSON (malformed_json)\n');
});

test('no more requests than asked for are open at once', async () => {
  let open = 0;
  let most = 0;
  interfere = (_events, response) => {
    most = Math.max(most, ++open);
    response.on('finish', () => (open -= 1));
    return false;
  };
  await run(rows(200), ['--batch-size', '10', '--concurrency', '3']);
  expect(most).toBeLessThanOrEqual(3);
  expect(requests).toHaveLength(20);
});

test('an outage is waited for and said once', async () => {
  let outages = 3;
  interfere = (_events, response) => outages-- > 0 && refuse(response, 503, { detail: 'Redis is down' });
  const { counts, log } = await run(rows(20), ['--batch-size', '20']);
  expect(counts).toMatchObject({ accepted: 20 });
  expect(log.match(/Redis is down/g)).toHaveLength(1);
});

test('an outage is waited for as long as was asked for, however often it was tried', async () => {
  // Each try again is at once.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
  let outages = 12;
  interfere = (_events, response) => outages-- > 0 && refuse(response, 503, { detail: 'Redis is down' });
  const { counts, log } = await run(rows(20), ['--batch-size', '20']);
  expect(counts).toEqual({ accepted: 20, alreadyThere: 0, bad: 0 });
  expect(log.match(/Redis is down/g)).toHaveLength(1);
});

test('an outage that is longer than asked for ends the import', async () => {
  interfere = (_events, response) => refuse(response, 503, { detail: 'Redis is down' });
  const { counts } = await run(rows(20), ['--retry-for', '1']);
  expect(counts).toMatchObject({ message: 'Gave up after 1 s: Redis is down' });
});

test('a limit of Weir ends no import, however long it lasts, and is said once', async () => {
  let waits = 0;
  let now = 0;
  const mocks = [
    vi.spyOn(performance, 'now').mockImplementation(() => now),
    // Each try again is at once.
    vi.spyOn(Math, 'random').mockReturnValue(0),
  ];
  onTestFinished(() => mocks.forEach((mock) => mock.mockRestore()));
  interfere = (_events, response) => {
    if (waits === 4) return false;
    waits += 1;
    now += 60_000;
    return refuse(response, 429, { code: 'rate_limited', detail: 'There were more than 100 events.' });
  };
  const { counts, log } = await run(rows(10), ['--retry-for', '1']);
  expect(counts).toEqual({ accepted: 10, alreadyThere: 0, bad: 0 });
  expect(log.match(/There were more than 100 events\. The import goes on as fast as Weir takes rows\./g)).toHaveLength(
    1,
  );
});

test('a refused key ends the import at once', async () => {
  interfere = (_events, response) => refuse(response, 401, { code: 'unauthorized', detail: 'This key is not valid' });
  const { counts, result } = await run(rows(2000));
  expect(counts).toMatchObject({ message: 'unauthorized: This key is not valid' });
  expect(requests.length).toBeLessThanOrEqual(2);
  expect(result).toContain('0 accepted');
});

test('rows that a firewall takes for an attack are listed, also many in a row, and cost no other', async () => {
  interfere = (events, response) => {
    const isAttack = events.some(({ quantity }) => quantity > 70 && quantity < 80);
    return isAttack && refuseAsProxy(response);
  };
  const { counts, log } = await run(rows(100));
  expect(counts).toEqual({ accepted: 91, alreadyThere: 0, bad: 9 });
  const listed = Array.from(log.matchAll(/^line (\d+): was refused by what answers in place of Weir, .*http_403/gm));
  expect(listed.map(([, line]) => Number(line))).toEqual([72, 73, 74, 75, 76, 77, 78, 79, 80]);
});

test('more rows in a row than make a proxy likely, and behind them rows that go in, end no import', async () => {
  interfere = (events, response) => {
    const isAttack = events.some(({ quantity }) => quantity >= 20 && quantity < 70);
    return isAttack && refuseAsProxy(response);
  };
  const { counts } = await run(rows(100));
  expect(counts).toEqual({ accepted: 50, alreadyThere: 0, bad: 50 });
});

test('what a proxy refuses in place of Weir ends the import, with a reason, and no row is bad', async () => {
  interfere = (_events, response) => refuseAsProxy(response);
  const { counts, log } = await run(rows(2000));
  expect(counts).toMatchObject({
    message: expect.stringMatching(/such as a proxy, refuses what is sent from line \d+ on/),
  });
  expect(log).not.toMatch(/^line/m);
  // Also where it begins to in the midst of a file.
  interfere = (events, response) => events.some(({ quantity }) => quantity >= 1000) && refuseAsProxy(response);
  const half = await run(rows(2000), ['--concurrency', '1']);
  expect(half.counts).toMatchObject({ message: expect.stringMatching(/refuses what is sent from line \d+ on/) });
  expect(half.log).not.toMatch(/^line/m);
  // Also where there are fewer rows than it takes to be sure.
  interfere = (_events, response) => refuseAsProxy(response);
  const few = await run(rows(2));
  expect(few.counts).toMatchObject({ message: expect.stringMatching(/from line 2 on: http_403/) });
});

test('an import in which nothing is right ends after a thousand bad rows', async () => {
  const { counts, log } = await run(rows(5000, () => 'x'));
  expect(counts).toMatchObject({ message: expect.stringContaining('1000 rows are bad and none is good') });
  expect(log.match(/^line/gm)).toHaveLength(1000);
});

test('a stopped import waits for the answers under way, and the next run goes on from there', async () => {
  const stop = new AbortController();
  interfere = () => {
    if (requests.length === 4) stop.abort();
    return false;
  };
  const { counts, result } = await run(rows(1000), ['--batch-size', '50'], stop.signal);
  const { accepted } = counts as { accepted: number };
  expect(accepted).toBe(requests.flat().length);
  expect(accepted).toBeLessThan(1000);
  expect(result).toContain('Run the same command again');
  expect((await run(rows(1000))).counts).toEqual({ accepted: 1000 - accepted, alreadyThere: accepted, bad: 0 });
});

test('a dry run shows the first events and sends none', async () => {
  const { result, log } = await run(
    rows(9, (row) => (row === 2 ? '' : '0.10')),
    ['--dry-run'],
  );
  expect(result.split('\n')).toHaveLength(5);
  expect(result).toContain('"quantity":0.10}');
  expect(log).toContain('line 3: has no quantity');
  expect(requests).toHaveLength(0);
});
