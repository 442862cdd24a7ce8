import { expect, test, vi } from 'vitest';
import { WeirClient } from './client.ts';

// What a program without types passes on from its environment.
const open = (options: Record<string, unknown>) => () =>
  new WeirClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'org_live_x', ...options });

test.each([
  [undefined, 'undefined'],
  ['', "''"],
  ['foo', "'foo'"],
  ['usage.example.com:3000', "'usage.example.com:3000'"],
])('the address %s is refused with what it should be', (baseUrl, told) => {
  const message = `baseUrl must be the address of Weir, such as https://usage.example.com, not ${told}`;
  expect(open({ baseUrl })).toThrow(new TypeError(message));
});

test.each([
  'https://ada:secret@usage.example.com',
  'https://ada@usage.example.com',
  'https://usage.example.com/?a=b#c',
])('the address %s is refused, and what is secret in it not told', (baseUrl) => {
  expect(open({ baseUrl })).toThrow(/^baseUrl must be the address of Weir, .*, without [a-z, ]+$/);
});

test.each([undefined, ''])('without an API key (%o) there is no client', (apiKey) => {
  const message = 'apiKey must be an API key of your organization, such as org_live_…: there is none';
  expect(open({ apiKey })).toThrow(new TypeError(message));
});

test.each([
  [{ timeoutMs: NaN }, 'timeoutMs must be a number from 1, and not NaN'],
  [{ timeoutMs: 0 }, 'timeoutMs must be a number from 1, and not 0'],
  [{ retries: NaN }, 'retries must be a number from 0, and not NaN'],
  [{ retries: -1 }, 'retries must be a number from 0, and not -1'],
  [{ queue: { intervalMs: NaN } }, 'intervalMs must be a number from 0, and not NaN'],
  [{ queue: { exitTimeoutMs: -1 } }, 'exitTimeoutMs must be a number from 0, and not -1'],
  [{ queue: { whenFull: 'raise' } }, "whenFull must be 'wait' or 'reject', and not raise"],
  [{ queue: { batchEventsMax: 1001 } }, 'batchEventsMax must be a whole number from 1 to 1000, and not 1001'],
  [{ queue: { concurrency: 0 } }, 'concurrency must be a whole number from 1 to 1000, and not 0'],
  [{ queue: { eventsMax: 1.5 } }, 'eventsMax must be a whole number from 1, and not 1.5'],
  [
    { queue: { outbox: { folder: '/dev/null/outbox', bytesMax: NaN } } },
    'outbox.bytesMax must be a number from 1, and not NaN',
  ],
])('the option %o is refused when a client is made', (options, message) => {
  expect(open(options)).toThrow(new RangeError(message));
});

const event = { meter_token: 'm', customer_external_id: 'acme', quantity: 1 };

test('a call refuses a time that is none, and a number of retries, before anything is sent', async () => {
  const fetch = vi.fn<typeof globalThis.fetch>();
  const weir = open({ fetch })();
  await expect(weir.track(event, { timeoutMs: 0 })).rejects.toThrow('timeoutMs must be a number from 1, and not 0');
  await expect(weir.trackBatch([event], { timeoutMs: NaN })).rejects.toThrow(RangeError);
  await expect(weir.trackBatch([event], { retries: NaN })).rejects.toThrow('retries must be a number from 0');
  await expect(weir.customers({}, { retries: -1 })).rejects.toThrow(RangeError);
  await expect(weir.close({ timeout: NaN })).rejects.toThrow('timeout must be a number from 0, and not NaN');
  expect(fetch).not.toHaveBeenCalled();
  // It was not closed by that.
  expect(await weir.queue({ ...event, idempotency_key: 'mine' })).toBe('mine');
  await weir.close({ timeout: -1 });
});

test('a time-out of Infinity is no limit', async () => {
  vi.useFakeTimers();
  try {
    let limit: AbortSignal | undefined;
    let answer: (response: Response) => void = () => {};
    const fetch = async (_url: string, { signal }: { signal: AbortSignal }) => {
      limit = signal;
      return await new Promise<Response>((resolve) => (answer = resolve));
    };
    const tracked = open({ fetch, timeoutMs: Infinity })().track(event);
    await vi.advanceTimersByTimeAsync(86_400_000);
    expect(limit?.aborted).toBe(false);
    answer(Response.json({ id: 'e1' }, { status: 201 }));
    expect(await tracked).toEqual({ id: 'e1', duplicate: false });
  } finally {
    vi.useRealTimers();
  }
});
