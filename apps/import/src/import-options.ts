import { extname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { OptionError } from './errors.ts';
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

export interface Environment {
  INIT_CWD?: string | undefined;
  WEIR_URL?: string | undefined;
  WEIR_API_KEY?: string | undefined;
}

export const usage = `Imports a CSV or NDJSON file of usage into Weir.

npm run import -- --file usage.csv --meter TOKEN --customer SPEC --quantity SPEC [options]

  --file PATH              the file; - reads standard input (then with --format and --name)
  --meter TOKEN            the meter's token, or a template
  --customer SPEC          your identifier of the customer
  --quantity SPEC          a number for every row, or a column
  --timestamp SPEC         when it happened; without it the time of the import (then with --name)
  --metadata KEY=SPEC      a metadata value; may be given again
  --idempotency-key SPEC   instead of the key made of meter, name and line
  --name NAME              what the file is called in those keys (default: its path and the day of its first row)

  A SPEC is a column (ContextTokens, in NDJSON also usage.tokens), a template ('cust-{row%20}', '{region}/{line}')
  or, after =, a fixed text (=acme).

  --format csv|ndjson      default: by the file's ending
  --delimiter CHAR         default: a comma, in .tsv files a tab
  --no-header              the CSV file has no row of column names; columns are {1}, {2}, …
  --timezone ZONE          for times without an offset, an IANA name (default UTC)
  --timestamp-unit s|ms    timestamps are numbers of seconds or milliseconds since 1970
  --dry-run                show the first events as they would be sent, and send nothing

  --url URL                default: WEIR_URL, else the service that npm start runs, else http://127.0.0.1:3000
  --key KEY                default: WEIR_API_KEY, else the key of the service that npm start runs
  --batch-size N           events in a request, 1 to 1000 (default 500)
  --concurrency N          requests at the same time (default 2)
  --retry-for SECONDS      how long to wait for a service that does not answer (default 300)

Running the same command again goes on where it stopped: nothing is counted twice.`;

/** A key has at most 255 characters, and the meter's token and the line are in it too. */
const nameLengthMax = 128;

const string = { type: 'string' } as const;
const boolean = { type: 'boolean', default: false } as const;

/** Undefined when help was asked for. Throws an OptionError that names the option at fault. */
export function parseOptions(argv: string[], environment: Environment, demo?: Demo): ImportOptions | undefined {
  const given = readArguments(argv);
  if (given.help) return undefined;
  const path = required(given.file, '--file');
  // Under npm the process runs in the project's folder, while paths are meant from where the command was typed.
  const file = path === '-' ? path : resolve(environment.INIT_CWD ?? '.', path);
  const extension = extname(file).toLowerCase();
  const url = trimSlashes(given.url ?? environment.WEIR_URL ?? demo?.base_url ?? 'http://127.0.0.1:3000');
  const demoKey = demo && url === trimSlashes(demo.base_url) ? demo.api_key : undefined;
  const apiKey = given.key ?? environment.WEIR_API_KEY ?? demoKey;
  if (!URL.canParse(url)) throw new OptionError(`--url ${url} is no URL`);
  if (apiKey === undefined && !given['dry-run']) {
    throw new OptionError('no API key: set WEIR_API_KEY to a key with the scope usage.write');
  }
  return {
    file,
    format: readFormat(given.format, extension),
    csv: { delimiter: readDelimiter(given.delimiter, extension), header: !given['no-header'] },
    specs: {
      meter: required(given.meter, '--meter'),
      customer: required(given.customer, '--customer'),
      quantity: required(given.quantity, '--quantity'),
      timestamp: given.timestamp,
      idempotencyKey: given['idempotency-key'],
      metadata: given.metadata.map(readMetadataOption),
      name: readName(given, file),
      path: file,
    },
    time: { timezone: readTimezone(given.timezone), unit: readUnit(given['timestamp-unit']) },
    url,
    apiKey: apiKey ?? '',
    batchSize: readNumber(given['batch-size'], '--batch-size', 500, 1000),
    concurrency: readNumber(given.concurrency, '--concurrency', 2, 64),
    patienceMs: readNumber(given['retry-for'], '--retry-for', 300, 86_400) * 1000,
    dryRun: given['dry-run'],
  };
}

function readArguments(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      options: {
        file: string,
        meter: string,
        customer: string,
        quantity: string,
        timestamp: string,
        metadata: { type: 'string', multiple: true, default: [] },
        'idempotency-key': string,
        name: string,
        format: string,
        delimiter: string,
        'no-header': boolean,
        timezone: string,
        'timestamp-unit': string,
        'dry-run': boolean,
        url: string,
        key: string,
        'batch-size': string,
        concurrency: string,
        'retry-for': string,
        help: boolean,
      },
    }).values;
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
}

function required(value: string | undefined, option: string): string {
  if (value === undefined || value === '') throw new OptionError(`${option} is missing`);
  return value;
}

function readFormat(format: string | undefined, extension: string): 'csv' | 'ndjson' {
  if (format === 'csv' || format === 'ndjson') return format;
  if (format !== undefined) throw new OptionError(`--format is csv or ndjson, not ${format}`);
  if (extension === '.csv' || extension === '.tsv') return 'csv';
  if (extension === '.ndjson' || extension === '.jsonl') return 'ndjson';
  throw new OptionError('the file name does not say what the file holds: give --format csv or --format ndjson');
}

function readDelimiter(delimiter: string | undefined, extension: string): string {
  if (delimiter === undefined) return extension === '.tsv' ? '\t' : ',';
  const character = delimiter === '\\t' ? '\t' : delimiter;
  if (character.length !== 1 || character === '"') throw new OptionError('--delimiter is one character, or \\t');
  return character;
}

function readMetadataOption(option: string): readonly [string, string] {
  const end = option.indexOf('=');
  if (end < 1) throw new OptionError(`--metadata ${option} is not KEY=SPEC`);
  return [option.slice(0, end), option.slice(end + 1)];
}

/** A file without path or times could be taken for another one and its rows for events that are already there. */
function readName(
  given: { name?: string | undefined; timestamp?: string | undefined; 'idempotency-key'?: string | undefined },
  file: string,
): string | undefined {
  const { name } = given;
  if (name === '' || (name !== undefined && name.length > nameLengthMax)) {
    throw new OptionError(`--name has 1 to ${nameLengthMax} characters`);
  }
  if (name !== undefined || given['idempotency-key'] !== undefined) return name;
  if (file === '-') throw new OptionError('standard input has no name: give --name, the same when you run this again');
  if (given.timestamp === undefined) {
    throw new OptionError('without --timestamp, give --name: a name for this file that no other file gets');
  }
  if (file.length > nameLengthMax) throw new OptionError('the path of the file is long: give --name');
  return undefined;
}

function readTimezone(timezone = 'UTC'): string {
  if (!isTimezone(timezone)) throw new OptionError(`--timezone ${timezone} is no IANA time zone`);
  return timezone;
}

function readUnit(unit: string | undefined): 's' | 'ms' | undefined {
  if (unit === undefined || unit === 's' || unit === 'ms') return unit;
  throw new OptionError(`--timestamp-unit is s or ms, not ${unit}`);
}

function readNumber(text: string | undefined, option: string, otherwise: number, max: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  throw new OptionError(`${option} is a whole number from 1 to ${max}, not ${text}`);
}

function trimSlashes(url: string): string {
  return url.replace(/\/+$/, '');
}
