import { QueryClient } from '@tanstack/react-query';
import type { GetPath } from './client.ts';
import { ApiError } from './problem.ts';

/** A refusal stays one, however often one asks; only what got no answer is worth a second try. */
const RETRIES_MAX = 2;

/** What is on the screen is at most this old when one comes back to it. */
const STALE_MS = 5_000;

export function buildQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      mutations: { networkMode: 'always' },
      queries: {
        // Whether Weir can be reached is learnt by asking. A browser that thinks it is offline would wait without a word.
        networkMode: 'always',
        staleTime: STALE_MS,
        retry: (count, error) =>
          count < RETRIES_MAX &&
          (!(error instanceof ApiError) || ['no_answer', 'unavailable'].includes(error.problem.code)),
      },
    },
  });
}

/** Longer than this no dialog is held open by it: the change is made, whatever becomes of the read after it. */
const READ_ANEW_MS_MAX = 3_000;

/**
 * Reads anew whatever was read from these paths, whatever the parameters. Waits for that for some seconds: a dialog that closes after
 * it gives the focus back to what is there then.
 */
export async function invalidate(queries: QueryClient, ...stale: GetPath[]): Promise<void> {
  const areRead = Promise.all(stale.map((path) => queries.invalidateQueries({ queryKey: [path] })));
  await Promise.race([areRead, new Promise((resolve) => setTimeout(resolve, READ_ANEW_MS_MAX))]);
}
