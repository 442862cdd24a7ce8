// One import from end to end: lines → rows → events → batches → the service. Nothing is kept between runs: the
// idempotency keys make the service itself remember which rows it has.

import type { Readable } from 'node:stream';
import { encodeEvent } from '@weir/sdk';
import type { Output } from '@weir/shared/progress-line';
import type { ImportOptions } from './import-options.ts';
import { ImportProgress, type RowCounts } from './import-progress.ts';
import { readLines } from './read-lines.ts';
import { openCsv, openNdjson, type Table } from './read-rows.ts';
import { sendRows } from './send.ts';
import { compileToEvent, type ToEvent } from './to-event.ts';

export interface Source {
  stream: Readable;
  /** Undefined when it is not known beforehand. */
  sizeBytes: number | undefined;
}

const dryRunRows = 5;

/**
 * Imports the source and resolves to the numbers, also when it was stopped before the end. Progress and bad rows are
 * written to `log`, the result to `result`. Throws an OptionError, a StoppedError or a WeirError when it cannot go on.
 */
export async function importFile(
  options: ImportOptions,
  source: Source,
  log: Output,
  result: Output,
  stop: AbortSignal,
): Promise<RowCounts> {
  const endReading = () => source.stream.destroy();
  stop.addEventListener('abort', endReading, { once: true });
  try {
    const lines = readLines(source.stream);
    const table = options.format === 'csv' ? await openCsv(lines, options.csv) : openNdjson(lines);
    const toEvent = compileToEvent(options.specs, table.column, options.time);
    const progress = new ImportProgress(log, source.sizeBytes);
    if (options.dryRun) await showFirst(table, toEvent, progress, result);
    else await send(options, table, toEvent, progress, result, stop);
    return progress.counts;
  } finally {
    stop.removeEventListener('abort', endReading);
    endReading();
  }
}

async function send(
  options: ImportOptions,
  table: Table,
  toEvent: ToEvent,
  progress: ImportProgress,
  result: Output,
  stop: AbortSignal,
): Promise<void> {
  progress.note(announce(options));
  try {
    await sendRows(table.rows, toEvent, options, progress, stop);
  } finally {
    progress.clear();
    result.write(`${progress.summary()}\n`);
    if (stop.aborted) result.write('Stopped. Run the same command again to go on: nothing is counted twice.\n');
  }
}

async function showFirst(table: Table, toEvent: ToEvent, progress: ImportProgress, result: Output): Promise<void> {
  for await (const row of table.rows) {
    const made = toEvent(row);
    if ('problem' in made) progress.bad(row.line, made.problem);
    else result.write(`${encodeEvent(made.event)}\n`);
    if (row.row === dryRunRows) break;
  }
}

function announce({ specs, time, url }: ImportOptions): string {
  const zone = specs.timestamp !== undefined && !time.unit ? `; times without an offset are in ${time.timezone}` : '';
  return `Importing ${specs.path} into ${specs.meter ?? specs.lookupKey} at ${url}${zone}`;
}
