import { MutationCache, QueryCache, QueryClient, type Query } from '@tanstack/react-query';
import type { GetPath } from './client.ts';
import { ApiError, isSignedOut } from './problem.ts';

/** A refusal stays one, however often one asks; only what got no answer is worth a second try. */
const RETRIES_MAX = 2;

/** What is on the screen is at most this old when one comes back to it. */
const STALE_MS = 5_000;

/** `onSignedOut` is called whenever an answer says that the session is over. */
export function buildQueries(onSignedOut: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (isSignedOut(error)) onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        if (!isSessionQuery(query)) onError(error);
      },
    }),
    mutationCache: new MutationCache({ onError }),
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

/** Whether one is signed in is asked by the router, which knows what to do with the answer. */
function isSessionQuery(query: Query<unknown, unknown>): boolean {
  return query.queryKey[0] === '/api/v1/auth/me';
}

/** Reads anew whatever was read from these paths, whatever the parameters. */
export async function invalidate(queries: QueryClient, ...stale: GetPath[]): Promise<void> {
  await Promise.all(stale.map((path) => queries.invalidateQueries({ queryKey: [path] })));
}
