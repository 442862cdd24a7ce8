// The Weir of a test file in one line of it: the one that a worker's files share, or one of its own. It is there from `beforeAll`
// on, and nobody has to close it.

import { afterAll, afterEach, beforeAll, beforeEach, test } from 'vitest';
import { startWeir, type Weir, type WeirOptions } from './harness.ts';

/** Started for the first file of a worker that asks for it, and closed when the worker ends. */
// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which fixtures this one needs: none.
const sharing = test.extend('shared', { scope: 'worker' }, async ({}, { onCleanup }) => {
  const weir = await startWeir();
  onCleanup(() => weir.close());
  return weir;
});

/**
 * A Weir with default settings that files share, one after another, each with organizations of its own. What a file starts beside
 * it ends with the file.
 *
 * A file has one of its own when it moves clocks, stops something, leaves events in the queue, or looks at all rows of a table or
 * at what processes say of themselves.
 */
export function sharedWeir(): Weir {
  const weir = {} as Weir;
  const closers: (() => Promise<void>)[] = [];
  const closed =
    <Settings extends unknown[], Started>(
      start: (...settings: Settings) => Promise<Started>,
      close: (started: Started) => Promise<void>,
    ) =>
    async (...settings: Settings): Promise<Started> => {
      const started = await start(...settings);
      closers.push(() => close(started));
      return started;
    };
  sharing.beforeAll(({ shared }) => {
    Object.assign(weir, shared, {
      startApi: closed(shared.startApi, (api) => api.close()),
      startWorker: closed(shared.startWorker, (worker) => worker.close()),
      spawnApi: closed(shared.spawnApi, (api) => api.stop()),
      spawnWorker: closed(shared.spawnWorker, (worker) => worker.stop()),
    });
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });
  return weir;
}

/** A Weir of a file's own, or of the `describe` in which this is called. A function is asked for options when it starts. */
export function ownWeir(options?: WeirOptions | (() => WeirOptions)): Weir {
  const weir = {} as Weir;
  beforeAll(() => startInto(weir, options));
  afterAll(() => weir.close());
  return weir;
}

/** A new Weir for each test. */
export function weirOfEachTest(options?: WeirOptions): Weir {
  const weir = {} as Weir;
  beforeEach(() => startInto(weir, options));
  afterEach(() => weir.close());
  return weir;
}

async function startInto(weir: Weir, options?: WeirOptions | (() => WeirOptions)): Promise<void> {
  Object.assign(weir, await startWeir(typeof options === 'function' ? options() : options));
}
