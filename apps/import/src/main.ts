// The command: the only file that reads the environment, the arguments and the signals.
// Exit status: 0 all rows are in, 1 some rows were bad, 2 it could not be done or not to the end, 130 stopped by Ctrl-C.

import { createReadStream, readFileSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { WeirError } from '@weir/sdk';
import { outliveReaders } from '@weir/shared/progress-line';
import { Command } from 'commander';
import { OptionError, StoppedError } from './errors.ts';
import { importFile, type Source } from './import-file.ts';
import { parseImportOptions, type Demo, type ImportOptions, type Started } from './import-options.ts';

const stop = new AbortController();
// A second Ctrl-C changes nothing: the wait for answers under way is short.
process.on('SIGINT', () => stop.abort());
process.on('SIGTERM', () => stop.abort());
outliveReaders();

const command = new Command()
  .configureOutput({ outputError: (text, write) => write(text.replace(/\n$/, ' (--help shows the options)\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
const options = parseImportOptions(process.argv.slice(2), process.env, loadStarted(), command);
try {
  const { bad } = await importFile(options, openSource(options), process.stderr, process.stdout, stop.signal);
  process.exitCode = stop.signal.aborted ? 130 : bad > 0 ? 1 : 0;
} catch (error) {
  process.exitCode = stop.signal.aborted ? 130 : 2;
  if (error instanceof OptionError) command.error(`error: ${error.message}`);
  else if (isExpected(error)) console.error(`import: ${error.message}`);
  else if (!stop.signal.aborted) console.error(error);
}

function isExpected(error: unknown): error is Error {
  return error instanceof WeirError || error instanceof StoppedError || (error instanceof Error && 'syscall' in error);
}

function openSource({ file, specs: { name, idempotencyKey } }: ImportOptions): Source {
  if (file === '-') return { stream: process.stdin, sizeBytes: undefined };
  const stats = lookAt(file);
  if (name === undefined && idempotencyKey === undefined && isStream(file, stats)) {
    throw new OptionError(`${file} is another file each time, which its path does not name: give --name`);
  }
  return { sizeBytes: stats.size, stream: createReadStream(file) };
}

function lookAt(file: string): Stats {
  try {
    return statSync(file);
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
}

/** A pipe, or what the process was given open: `/dev/stdin` may be a regular file. In `/dev/shm` are files as elsewhere. */
function isStream(file: string, stats: Stats): boolean {
  return !(stats.isFile() || stats.isDirectory()) || /^\/(proc\/|dev\/(?!shm\/))/.test(file);
}

function loadStarted(): Started {
  const services = readLeft('services.json') as { base_url?: string } | undefined;
  return { demo: readLeft('demo.json') as Demo | undefined, baseUrl: services && (services.base_url ?? null) };
}

function readLeft(name: string): unknown {
  try {
    return JSON.parse(readFileSync(join(process.env.WEIR_HOME || '.weir', name), 'utf8'));
  } catch {
    return undefined;
  }
}
