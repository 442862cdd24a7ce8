import { WeirClient } from '@weir/sdk';
import { WeirError } from '@weir/sdk/error';
import type { UsageEvent } from '@weir/sdk/event';
import { StoppedError } from './errors.ts';
import type { ImportOptions } from './import-options.ts';
import type { ImportProgress } from './import-progress.ts';
import type { Row } from './read-rows.ts';
import type { ToEvent } from './to-event.ts';

interface Item {
  line: number;
  event: UsageEvent;
}
interface Batch {
  items: Item[];
  bytes: number;
}

/** How long a stopped import waits for answers under way; without them it does not know what was accepted. */
const graceMs = 5000;
/** So many bad rows before any good one: not bad rows but the wrong meter, column or file. */
const badFirstMax = 1000;

/**
 * Sends the rows in batches and counts them, holding at most `concurrency` + 1 batches in memory. After `stop` no
 * further batch is sent and those under way are waited for. Throws a StoppedError when the service stays unreachable
 * for `patienceMs` or every one of the first rows is bad, and a WeirError when it refuses the import as a whole.
 */
export async function sendRows(
  rows: AsyncIterable<Row>,
  toEvent: ToEvent,
  options: Pick<ImportOptions, 'url' | 'apiKey' | 'batchSize' | 'concurrency' | 'patienceMs'>,
  progress: ImportProgress,
  stop: AbortSignal,
): Promise<void> {
  // Aborted with the reason why nothing more can be delivered; ends what is under way.
  const halt = new AbortController();
  const deliver = openDelivery(options, progress, halt);
  const underWay = new Set<Promise<void>>();
  const giveUpWaiting = () => setTimeout(() => halt.abort(stop.reason), graceMs).unref();
  stop.addEventListener('abort', giveUpWaiting, { once: true });
  try {
    for await (const batch of fillBatches(rows, toEvent, options.batchSize, progress)) {
      while (underWay.size >= options.concurrency) await Promise.race(underWay);
      if (stop.aborted || halt.signal.aborted) break;
      const delivery = deliver(batch)
        .catch((error: unknown) => halt.abort(error))
        .finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    }
  } catch (error) {
    // A source that breaks off because the import was stopped is no failure.
    if (!stop.aborted) halt.abort(error);
  }
  await Promise.all(underWay);
  stop.removeEventListener('abort', giveUpWaiting);
  if (!stop.aborted) halt.signal.throwIfAborted();
}

async function* fillBatches(
  rows: AsyncIterable<Row>,
  toEvent: ToEvent,
  batchSize: number,
  progress: ImportProgress,
): AsyncGenerator<Batch> {
  let items: Item[] = [];
  let startByte = 0;
  let endByte = 0;
  for await (const row of rows) {
    const made = toEvent(row);
    endByte = row.endByte;
    if ('problem' in made) reportBad(progress, row.line, made.problem);
    else if (items.push({ line: row.line, event: made.event }) === batchSize) {
      yield { items, bytes: endByte - startByte };
      items = [];
      startByte = endByte;
    }
  }
  if (items.length > 0) yield { items, bytes: endByte - startByte };
}

function reportBad(progress: ImportProgress, line: number, reason: string): void {
  progress.bad(line, reason);
  const { accepted, alreadyThere, bad } = progress.counts;
  if (bad >= badFirstMax && accepted + alreadyThere === 0) {
    throw new StoppedError(`${bad} rows are bad and none is good: is it the right meter, file and column?`);
  }
}

/** Returns the function that sends one batch until each of its events is settled. */
function openDelivery(
  { url, apiKey, patienceMs }: Pick<ImportOptions, 'url' | 'apiKey' | 'patienceMs'>,
  progress: ImportProgress,
  halt: AbortController,
): (batch: Batch) => Promise<void> {
  let troubleSince: number | undefined;
  const client = new WeirClient({
    baseUrl: url,
    apiKey,
    retries: Infinity,
    onRetry: (error) => {
      const now = performance.now();
      if (troubleSince === undefined) {
        troubleSince = now;
        progress.note(`${error.detail}. Trying again for up to ${patienceMs / 1000} s.`);
      } else if (now - troubleSince > patienceMs) {
        halt.abort(new StoppedError(`Gave up after ${patienceMs / 1000} s: ${error.detail}`));
      }
    },
  });

  const deliver = async (items: Item[]): Promise<void> => {
    try {
      const events = items.map((item) => item.event);
      const outcomes = await client.trackBatch(events, { signal: halt.signal });
      troubleSince = undefined;
      for (const [index, outcome] of outcomes.entries()) {
        if ('error' in outcome) {
          if (outcome.error.transient) throw new StoppedError(outcome.error.detail);
          reportBad(progress, items[index]!.line, explain(outcome.error));
        } else if (outcome.duplicate) progress.counts.alreadyThere += 1;
        else progress.counts.accepted += 1;
      }
    } catch (error) {
      if (!(error instanceof WeirError) || !isAboutContent(error)) throw error;
      if (items.length === 1) return reportBad(progress, items[0]!.line, explain(error));
      // One row can make the whole request too large or unreadable: the halves find it.
      const half = Math.ceil(items.length / 2);
      await deliver(items.slice(0, half));
      await deliver(items.slice(half));
    }
  };
  return async (batch) => {
    await deliver(batch.items);
    progress.settle(batch.bytes);
  };
}

function isAboutContent(error: WeirError): boolean {
  return error.status === 400 || error.status === 413 || error.status === 422;
}

function explain(error: WeirError): string {
  if (error.code !== 'idempotency_key_reused') return `${error.detail} (${error.code})`;
  return 'was imported before with other content, which stands; a file of its own needs its own --name (idempotency_key_reused)';
}
