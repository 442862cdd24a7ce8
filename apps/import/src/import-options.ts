import { extname, resolve } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { isTimezone, type TimestampFormat } from './timestamps.ts';
import type { CsvFormat } from './read-rows.ts';
import type { EventSpecs } from './to-event.ts';

export interface ImportOptions {
  /** An absolute path, or `-` for standard input. */
  file: string;
  format: 'csv' | 'ndjson';
  csv: CsvFormat;
  specs: EventSpecs;
  time: TimestampFormat;
  url: string;
  apiKey: string;
  /** Events in a request, 1 to 1000. */
  batchSize: number;
  /** Requests at the same time. */
  concurrency: number;
  /** How long a service that does not answer is tried again before the import stops, in milliseconds. */
  patienceMs: number;
  /** Show the first events instead of sending any. */
  dryRun: boolean;
}

/** What `npm start` leaves in `demo.json` for tools on the same machine. */
export interface Demo {
  base_url: string;
  api_key: string;
}

/** What `npm start` left in WEIR_HOME. */
export interface Started {
  demo?: Demo | undefined;
  /** Of `services.json`: where Weir is also where there is no demo. `null`: that is there, and says no address, as while it does not run. */
  baseUrl?: string | null | undefined;
}

export interface Environment {
  INIT_CWD?: string | undefined;
  WEIR_URL?: string | undefined;
  WEIR_API_KEY?: string | undefined;
}

/** As commander has them: parsers have run, and defaults are filled in. */
interface Values {
  file: string;
  meter?: string;
  lookupKey?: string;
  customer: string;
  quantity: string;
  timestamp?: string;
  metadata?: [string, string][];
  idempotencyKey?: string;
  name?: string;
  format?: 'csv' | 'ndjson';
  delimiter?: string;
  header: boolean;
  timezone: string;
  timestampUnit?: 's' | 'ms';
  dryRun?: true;
  url?: string;
  key?: string;
  batchSize: number;
  concurrency: number;
  retryFor: number;
}

const HELP = `
  A SPEC is a column (ContextTokens, in NDJSON also usage.tokens), a template ('cust-{row%20}', '{region}/{line}')
  or, after =, a fixed text (=acme).

Running the same command again goes on where it stopped: nothing is counted twice.`;

/** A key has at most 255 characters, and the meter's token and the line are in it too. */
const pathLengthMax = 128;
/** Any name that an import without `--name` had can be given later. */
const nameLengthMax = pathLengthMax + '@2023-11-16'.length;

/** Ends the process after the help, and with a message that names the option at fault. */
export function parseImportOptions(
  args: readonly string[],
  environment: Environment,
  { demo, baseUrl }: Started,
  command: Command,
): ImportOptions {
  const given = command
    .name('npm run import --')
    .description('Imports a CSV or NDJSON file of usage into Weir.')
    .requiredOption('--file <path>', 'the file; - reads standard input (then with --format and --name)', notEmpty)
    .option('--meter <token>', "the meter's token, or a template", notEmpty)
    .option('--lookup-key <spec>', 'in its place the lookup_key of the feature, or a template', notEmpty)
    .requiredOption('--customer <spec>', 'your identifier of the customer', notEmpty)
    .requiredOption('--quantity <spec>', 'a number for every row, or a column', notEmpty)
    .option('--timestamp <spec>', 'when it happened; without it when Weir receives the row (then with --name)')
    .option('--metadata <key=spec>', 'a metadata value; may be given again', addMetadata)
    .option('--idempotency-key <spec>', 'instead of the key made of meter, name and line')
    .option('--name <name>', 'the file in those keys (default: its path and the day of its first row)', nameOfFile)
    .addOption(new Option('--format <format>', "default: by the file's ending").choices(['csv', 'ndjson']))
    .option('--delimiter <char>', 'default: a comma, in .tsv files a tab', delimiter)
    .option('--no-header', 'the CSV file has no row of column names; columns are {1}, {2}, …')
    .option('--timezone <zone>', 'for times without an offset, an IANA name', timezone, 'UTC')
    .addOption(new Option('--timestamp-unit <unit>', 'timestamps are numbers since 1970').choices(['s', 'ms']))
    .option('--dry-run', 'show the first events as they would be sent, and send nothing')
    .option(
      '--url <url>',
      'default: WEIR_URL, else the service that npm start runs; where it never did, http://127.0.0.1:3000',
    )
    .option('--key <key>', 'default: WEIR_API_KEY, else the key of the service that npm start runs')
    .option('--batch-size <n>', 'events in a request', numberTo(1_000), 500)
    .option('--concurrency <n>', 'requests at the same time', numberTo(64), 2)
    .option('--retry-for <seconds>', 'how long to wait for a service that does not answer', numberTo(86_400), 300)
    .addHelpText('after', HELP)
    .parse(args, { from: 'user' })
    .opts<Values>();
  const refuse = (message: string): never => command.error(`error: ${message}`);
  // Under npm the process runs in the project's folder, while paths are meant from where the command was typed.
  const file = given.file === '-' ? given.file : resolve(environment.INIT_CWD ?? '.', given.file);
  const extension = extname(file).toLowerCase();
  const givenUrl = given.url ?? environment.WEIR_URL;
  // Another program may listen at 3000, and is to get no key.
  if (givenUrl === undefined && demo === undefined && baseUrl === null && given.dryRun === undefined) {
    refuse('npm start does not run here: start it, or set WEIR_URL');
  }
  const url = trimSlashes(givenUrl ?? demo?.base_url ?? baseUrl ?? 'http://127.0.0.1:3000');
  const demoKey = demo && url === trimSlashes(demo.base_url) ? demo.api_key : undefined;
  const apiKey = given.key ?? environment.WEIR_API_KEY ?? demoKey;
  // Not told as it is: a password would be in a log.
  if (!isBaseUrl(url)) {
    refuse(
      '--url or WEIR_URL is no address that begins with http:// or https:// and has no user, password, query or fragment',
    );
  }
  if ((apiKey ?? '') === '' && given.dryRun === undefined) {
    refuse('no API key: set WEIR_API_KEY to a key with the scope usage.write');
  }
  if ((given.meter === undefined) === (given.lookupKey === undefined)) refuse('give either --meter or --lookup-key');
  const unsafeName = nameProblem(given, file);
  if (unsafeName !== undefined) refuse(unsafeName);
  const { meter, lookupKey, customer, quantity, timestamp, idempotencyKey, metadata = [], name } = given;
  return {
    file,
    format:
      given.format ??
      formatOf(extension) ??
      refuse('the file name does not say what the file holds: give --format csv or --format ndjson'),
    csv: { delimiter: given.delimiter ?? (extension === '.tsv' ? '\t' : ','), header: given.header },
    specs: { meter, lookupKey, customer, quantity, timestamp, idempotencyKey, metadata, name, path: file },
    time: { timezone: given.timezone, unit: given.timestampUnit },
    url,
    apiKey: apiKey ?? '',
    batchSize: given.batchSize,
    concurrency: given.concurrency,
    patienceMs: given.retryFor * 1000,
    dryRun: given.dryRun === true,
  };
}

function formatOf(extension: string): 'csv' | 'ndjson' | undefined {
  if (extension === '.csv' || extension === '.tsv') return 'csv';
  return extension === '.ndjson' || extension === '.jsonl' ? 'ndjson' : undefined;
}

/** A file without path or times could be taken for another one and its rows for events that are already there. */
function nameProblem({ name, idempotencyKey, timestamp }: Values, file: string): string | undefined {
  if (name !== undefined || idempotencyKey !== undefined) return undefined;
  if (file === '-') return 'standard input has no name: give --name, the same when you run this again';
  if (timestamp === undefined) return 'without --timestamp, give --name: a name for this file that no other file gets';
  return file.length > pathLengthMax ? 'the path of the file is long: give --name' : undefined;
}

function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

function nameOfFile(name: string): string {
  if (name !== '' && name.length <= nameLengthMax) return name;
  throw new InvalidArgumentError(`It has 1 to ${nameLengthMax} characters.`);
}

function delimiter(text: string): string {
  const character = text === '\\t' ? '\t' : text;
  if (character.length === 1 && character !== '"') return character;
  throw new InvalidArgumentError('It is one character, or \\t.');
}

function addMetadata(text: string, before: [string, string][] = []): [string, string][] {
  const end = text.indexOf('=');
  if (end < 1) throw new InvalidArgumentError('It is written as KEY=SPEC.');
  return [...before, [text.slice(0, end), text.slice(end + 1)]];
}

function timezone(text: string): string {
  if (!isTimezone(text)) throw new InvalidArgumentError('It is no IANA time zone.');
  return text;
}

function numberTo(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`It is a whole number from 1 to ${max}.`);
  };
}

/** Whether the client takes it. */
function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

function trimSlashes(url: string): string {
  return url.replace(/\/+$/, '');
}
