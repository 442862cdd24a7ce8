import { WeirClient, type BatchOutcome, type WeirError } from '@weir/sdk';
import { StoppedError } from './errors.ts';
import type { ImportOptions } from './import-options.ts';
import type { ImportProgress } from './import-progress.ts';
import type { Row } from './read-rows.ts';
import { badFirstRow, namesFile, type EventSpecs, type ToEvent } from './to-event.ts';

/** How long a stopped import waits for answers under way; without them it does not know what was accepted. */
const graceMs = 5000;
/** So many bad rows before any good one: not bad rows but the wrong meter, column or file. */
const badFirstMax = 1000;
/** So many rows refused in place of Weir, and none taken since the first of them: not those rows, but all that is sent. */
const refusedMax = 30;

/**
 * Sends the rows through the queue of the SDK and counts them, holding at most `concurrency` + 1 batches in memory. After `stop` no
 * further row is read, and those that were read are waited for. Throws a StoppedError when the service stays unreachable for
 * `patienceMs`, every one of the first rows is bad, or the first one is and names the file, or a proxy refuses all that is sent; and a
 * WeirError when the service refuses the import as a whole.
 */
export async function sendRows(
  rows: AsyncIterable<Row>,
  toEvent: ToEvent,
  options: Pick<ImportOptions, 'specs' | 'url' | 'apiKey' | 'batchSize' | 'concurrency' | 'patienceMs'>,
  progress: ImportProgress,
  stop: AbortSignal,
): Promise<void> {
  // Aborted with the reason why nothing more can be delivered.
  const halt = new AbortController();
  const ended = AbortSignal.any([stop, halt.signal]);
  const client = openClient(options, progress, (reason) => halt.abort(reason));
  // Before another batch begins.
  halt.signal.addEventListener('abort', () => void client.close({ timeout: 0 }), { once: true });
  const giveUpWaiting = () => setTimeout(() => halt.abort(stop.reason), graceMs).unref();
  stop.addEventListener('abort', giveUpWaiting, { once: true });

  let isHeard = false;
  // Bad rows as soon as Weir takes another one: until then everything may be refused.
  const refused: RefusedRow[] = [];
  const listRefused = () => {
    for (const { line, error } of refused.splice(0)) reportBad(line, explainRefused(error));
  };
  const onDoubtful = (row: Row, bytes: number) => (error: WeirError) => {
    progress.settle(bytes);
    refused.push({ line: row.line, error });
    if (refused.length >= refusedMax || namesFile(row, options.specs)) halt.abort(allRefused(refused));
  };

  const onSettled = (row: Row, bytes: number) => (outcome: BatchOutcome) => {
    progress.settle(bytes);
    isHeard = true;
    listRefused();
    if (!('error' in outcome)) progress.counts[outcome.duplicate ? 'alreadyThere' : 'accepted'] += 1;
    else if (!isAboutContent(outcome.error)) halt.abort(outcome.error);
    // With a reused key it is there already, and so is the name that it gives.
    else if (outcome.error.code !== 'idempotency_key_reused' && namesFile(row, options.specs)) {
      halt.abort(badFirstRow(row, explain(outcome.error, options.specs)));
    } else reportBad(row.line, explain(outcome.error, options.specs));
  };
  const reportBad = (line: number, reason: string) => {
    progress.bad(line, reason);
    const { accepted, alreadyThere, bad } = progress.counts;
    if (bad < badFirstMax || accepted + alreadyThere > 0 || halt.signal.aborted) return;
    halt.abort(new StoppedError(`${bad} rows are bad and none is good: is it the right meter, file and column?`));
  };

  let endByte = 0;
  try {
    for await (const row of rows) {
      if (ended.aborted) break;
      const bytes = row.endByte - endByte;
      endByte = row.endByte;
      const made = toEvent(row);
      if ('event' in made) {
        // Without a time where the row has none: each run would give it another one, and so make it another event.
        const listeners = { onSettled: onSettled(row, bytes), onDoubtful: onDoubtful(row, bytes) };
        await client.queueAsItIs(made.event, { signal: ended, ...listeners });
        // Alone: the others go in under the name that it gives them.
        if (namesFile(row, options.specs)) await client.flush({ signal: ended });
      } else {
        progress.settle(bytes);
        reportBad(row.line, made.problem);
      }
    }
  } catch (error) {
    // A source that breaks off because the import was stopped is no failure.
    if (!ended.aborted) halt.abort(error);
  }
  await client.close({ timeout: Infinity });
  // Where it ended early they may be good rows: the next run meets them again.
  if (!ended.aborted) {
    if (isHeard) listRefused();
    else if (refused.length > 0) halt.abort(allRefused(refused));
  }
  stop.removeEventListener('abort', giveUpWaiting);
  if (!stop.aborted) halt.signal.throwIfAborted();
}

function openClient(
  { url, apiKey, batchSize, concurrency, patienceMs }: Parameters<typeof sendRows>[2],
  progress: ImportProgress,
  giveUp: (reason: StoppedError) => void,
): WeirClient {
  let trouble: { since: number; settled: number } | undefined;
  let isLimited = false;
  const settled = () => progress.counts.accepted + progress.counts.alreadyThere;
  return new WeirClient({
    baseUrl: url,
    apiKey,
    queue: {
      eventsMax: batchSize * (concurrency + 1),
      batchEventsMax: batchSize,
      concurrency,
      // It would keep what a proxy refuses in place of Weir and try again by the minute; a person can do something about it. How long
      // an outage is waited for is for onRetry to say.
      onWarning: (message, kind) => {
        if (kind !== 'away') giveUp(new StoppedError(message));
      },
    },
    onRetry: (error) => {
      if (error.status === 429 && error.isFromWeir) {
        // Weir answers, and takes what its limit allows: that may last longer than an outage.
        trouble = undefined;
        if (!isLimited) progress.note(`${error.detail} The import goes on as fast as Weir takes rows.`);
        isLimited = true;
        return;
      }
      const now = performance.now();
      // What came in since then ended the earlier trouble.
      if (trouble === undefined || settled() > trouble.settled) {
        trouble = { since: now, settled: settled() };
        progress.note(`${error.detail}. Trying again for up to ${patienceMs / 1000} s.`);
      } else if (now - trouble.since > patienceMs) {
        giveUp(new StoppedError(`Gave up after ${patienceMs / 1000} s: ${error.detail}`));
      }
    },
  });
}

function isAboutContent({ status, code }: WeirError): boolean {
  return status === 400 || status === 413 || status === 422 || code === 'meter_not_found';
}

interface RefusedRow {
  line: number;
  error: WeirError;
}

function allRefused(rows: readonly RefusedRow[]): StoppedError {
  // Batches are refused beside each other.
  const { line, error } = rows.reduce((first, row) => (row.line < first.line ? row : first));
  const who = error.isFromWeir ? 'Weir' : 'What answers in place of Weir, such as a proxy,';
  return new StoppedError(`${who} refuses what is sent from line ${line} on: ${error.message}`);
}

function explainRefused({ detail, code, isFromWeir }: WeirError): string {
  return `was refused${isFromWeir ? '' : ' by what answers in place of Weir, such as a firewall'}: ${detail} (${code})`;
}

function explain(error: WeirError, { idempotencyKey }: EventSpecs): string {
  if (error.code !== 'idempotency_key_reused') return `${error.detail} (${error.code})`;
  return idempotencyKey === undefined
    ? 'was imported before with other content, which stands: correct that event. Another --name would count all rows of this file ' +
        'again; only a file of which no row is in needs one (idempotency_key_reused)'
    : 'has the key of an event with other content, which stands: correct that event. Another key would count the row beside it ' +
        '(idempotency_key_reused)';
}
