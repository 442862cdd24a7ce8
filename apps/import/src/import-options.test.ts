import { Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { parseImportOptions, type Environment, type Started } from './import-options.ts';

const needed = ['--file', 'dir/usage.csv', '--meter', 'm', '--customer', 'c', '--quantity', 'q', '--timestamp', 't'];
const demo = { base_url: 'http://127.0.0.1:4000', api_key: 'org_live_demo' };

function parseAll(argv: string[], environment: Environment = {}, started: Started = { demo }) {
  const command = new Command().exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  return parseImportOptions(argv, environment, started, command);
}

function parse(argv: string[], environment?: Environment) {
  return parseAll([...needed, ...argv], environment);
}

test('beside meter and columns everything has a default', () => {
  expect(parse([], { INIT_CWD: '/home' })).toEqual({
    file: '/home/dir/usage.csv',
    format: 'csv',
    csv: { delimiter: ',', header: true },
    specs: { meter: 'm', customer: 'c', quantity: 'q', timestamp: 't', metadata: [], path: '/home/dir/usage.csv' },
    time: { timezone: 'UTC' },
    url: 'http://127.0.0.1:4000',
    apiKey: 'org_live_demo',
    batchSize: 500,
    concurrency: 2,
    patienceMs: 300_000,
    dryRun: false,
  });
});

test('options come before the environment, the environment before the demo', () => {
  const environment = { WEIR_URL: 'http://env/', WEIR_API_KEY: 'env' };
  expect(parse([], environment)).toMatchObject({ url: 'http://env', apiKey: 'env' });
  expect(parse(['--url', 'http://arg', '--key', 'arg'], environment)).toMatchObject({
    url: 'http://arg',
    apiKey: 'arg',
  });
});

test('without a demo it is the service that npm start runs, and without that one on the usual port', () => {
  const environment = { WEIR_API_KEY: 'mine' };
  const urlWith = (started: Started) => parseAll(needed, environment, started).url;
  const baseUrl = 'http://127.0.0.1:23456';
  expect(urlWith({ baseUrl })).toBe(baseUrl);
  expect(urlWith({ baseUrl: 'https://weir.example.com', demo })).toBe(demo.base_url);
  expect(urlWith({})).toBe('http://127.0.0.1:3000');
  // Who made npm start take another port may listen there.
  expect(() => urlWith({ baseUrl: null })).toThrow('npm start does not run here: start it, or set WEIR_URL');
  expect(urlWith({ baseUrl: null, demo })).toBe(demo.base_url);
  expect(parseAll(needed, { ...environment, WEIR_URL: 'http://there' }, { baseUrl: null }).url).toBe('http://there');
});

test('the key of the demo is sent to no other address', () => {
  expect(() => parse(['--url', 'http://elsewhere'])).toThrow('no API key');
  expect(() => parse([], { WEIR_API_KEY: '' })).toThrow('no API key');
  expect(parse(['--url', `${demo.base_url}/`])).toMatchObject({ apiKey: 'org_live_demo' });
});

test('the ending of the file says its format and delimiter, options say more', () => {
  expect(parse(['--file', 'a.JSONL'])).toMatchObject({ format: 'ndjson' });
  expect(parse(['--file', 'a.tsv'])).toMatchObject({ format: 'csv', csv: { delimiter: '\t' } });
  expect(parse(['--file', 'a.txt', '--format', 'csv', '--delimiter', ';', '--no-header'])).toMatchObject({
    csv: { delimiter: ';', header: false },
  });
  expect(() => parse(['--file', 'a.txt'])).toThrow('--format');
});

test('metadata is KEY=SPEC, as often as wanted', () => {
  const options = parse(['--metadata', 'user_id=user-{row}', '--metadata', 'kind==x']);
  expect(options.specs.metadata).toEqual([
    ['user_id', 'user-{row}'],
    ['kind', '=x'],
  ]);
});

test('rows that can be equal by chance need a name that no other file has', () => {
  const untimed = needed.slice(0, -2);
  expect(() => parseAll(untimed)).toThrow('--name');
  expect(parseAll([...untimed, '--name', 'june'])).toMatchObject({ specs: { name: 'june' } });
  expect(parseAll([...untimed, '--idempotency-key', 'id'])).toBeDefined();
  expect(() => parse(['--file', '-', '--format', 'csv'])).toThrow('standard input has no name');
});

test('an address with a password or a query is refused, and nothing tells it', () => {
  for (const url of ['https://ada:secret@x', 'https://x/?key=secret', 'https://x/#secret', 'ftp://ada:secret@x']) {
    for (const argv of [[], ['--dry-run']]) {
      expect(() => parse(argv, { WEIR_URL: url, WEIR_API_KEY: 'k' })).toThrow(/^(?!.*secret).*WEIR_URL is no address/s);
    }
  }
});

test('what cannot be meant is refused, naming the option', () => {
  for (const [argv, message] of [
    [['--batch-size', '1001'], '--batch-size'],
    [['--concurrency', '0'], '--concurrency'],
    [['--retry-for', '1.5'], '--retry-for'],
    [['--timezone', 'Mars'], '--timezone'],
    [['--timestamp-unit', 'h'], '--timestamp-unit'],
    [['--delimiter', ',,'], '--delimiter'],
    [['--metadata', 'x'], '--metadata'],
    [['--format', 'xml'], '--format'],
    [['--url', 'nowhere'], '--url'],
    [['--url', 'localhost:3000'], '--url'],
    [['--custmer', 'x'], '--custmer'],
    [['--meter', ''], '--meter'],
    [['--lookup-key', 'tokens'], 'either --meter or --lookup-key'],
  ] as const) {
    expect(() => parse([...argv])).toThrow(CommanderError);
    expect(() => parse([...argv])).toThrow(message);
  }
  expect(() => parseAll(['--file', 'a.csv', '--customer', 'c', '--quantity', 'q'])).toThrow('--meter');
});
