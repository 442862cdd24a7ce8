// The command: the only file that reads the environment, the arguments and the signals.
// Exit status: 0 all rows are in, 1 some rows were bad, 2 it could not be done or not to the end, 130 stopped by Ctrl-C.

import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { WeirError } from '@weir/sdk/error';
import { OptionError, StoppedError } from './errors.ts';
import { parseOptions, usage, type Demo } from './import-options.ts';
import { runImport, type Source } from './import-file.ts';

const stop = new AbortController();
// A second Ctrl-C changes nothing: the wait for answers under way is short.
process.on('SIGINT', () => stop.abort());
process.on('SIGTERM', () => stop.abort());

try {
  const options = parseOptions(process.argv.slice(2), process.env, loadDemo());
  if (options) {
    const tally = await runImport(options, openSource(options.file), process.stderr, process.stdout, stop.signal);
    process.exitCode = stop.signal.aborted ? 130 : tally.bad > 0 ? 1 : 0;
  } else {
    console.log(usage);
  }
} catch (error) {
  process.exitCode = stop.signal.aborted ? 130 : 2;
  if (error instanceof OptionError) console.error(`import: ${error.message} (--help shows the options)`);
  else if (isExpected(error)) console.error(`import: ${error.message}`);
  else if (!stop.signal.aborted) console.error(error);
}

function isExpected(error: unknown): error is Error {
  return error instanceof WeirError || error instanceof StoppedError || (error instanceof Error && 'syscall' in error);
}

function openSource(file: string): Source {
  if (file === '-') return { stream: process.stdin, sizeBytes: undefined };
  try {
    return { sizeBytes: statSync(file).size, stream: createReadStream(file) };
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
}

function loadDemo(): Demo | undefined {
  try {
    return JSON.parse(readFileSync(join(process.env.WEIR_HOME ?? '.weir', 'demo.json'), 'utf8')) as Demo;
  } catch {
    return undefined;
  }
}
