// The one way to the API. Reads are options for useQuery (`read`), and what changes something is a promise (`send`); both
// throw an ApiError, never anything else, and both are typed from the API's own document.

import { queryOptions } from '@tanstack/react-query';
import createClient, { type FetchResponse, type MaybeOptionalInit } from 'openapi-fetch';
import type { PathsWithMethod } from 'openapi-typescript-helpers';
import type { components, paths } from './openapi.d.ts';
import { noteAnswer } from './pace.ts';
import { ApiError, type Problem } from './problem.ts';

/** A shape of the document by its name: `Schema<'Plan'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

export const client = createClient<paths>({ baseUrl: window.location.origin, fetch: fetchOrExplain });

/** A path that can be read. */
export type GetPath = PathsWithMethod<paths, 'get'>;
type GetInit<Path extends GetPath> = MaybeOptionalInit<paths[Path], 'get'>;
type GetData<Path extends GetPath> = NonNullable<
  FetchResponse<paths[Path]['get'] & Record<string | number, unknown>, GetInit<Path>, 'application/json'>['data']
>;

/** What `GET path` answers. */
export type Answer<Path extends GetPath> = GetData<Path>;

/** Options for useQuery. The path and its parameters are the key: `invalidate('/api/v1/plans')` reads all pages anew. */
export function read<Path extends GetPath>(path: Path, params?: NonNullable<GetInit<Path>>['params']) {
  return queryOptions({
    queryKey: [path, params ?? {}] as const,
    queryFn: ({ signal }) =>
      // The path and the parameters fit by the signature above; the union of all paths is too much to prove it anew.
      send(client.GET(path as never, { params, signal } as never) as Promise<Sent<GetData<Path>>>),
  });
}

interface Sent<Data> {
  data?: Data | undefined;
  error?: unknown;
  response: Response;
}

/** Returns the body of an answer, and throws an ApiError for a refusal: `await send(client.POST('/api/v1/plans', { body }))`. */
export async function send<Data>(sent: Promise<Sent<Data>>): Promise<Data> {
  const { data, error, response } = await sent;
  if (response.ok) return data as Data;
  const seconds = Number(response.headers.get('retry-after') ?? 0);
  throw new ApiError({ ...(isProblem(error) ? error : notOfWeir(response)), retry_after_seconds: seconds });
}

async function fetchOrExplain(request: Request): Promise<Response> {
  const began = performance.now();
  try {
    const response = await fetch(request);
    noteAnswer(performance.now() - began);
    return response;
  } catch (error) {
    // A read that is not wanted any more.
    if (request.signal.aborted) throw error;
    const detail = 'Weir cannot be reached: check your connection, and whether Weir runs.';
    throw new ApiError({ code: 'no_answer', detail });
  }
}

function isProblem(error: unknown): error is Problem {
  return typeof error === 'object' && error !== null && 'detail' in error && 'code' in error;
}

/** A proxy in between answers in its own words. */
function notOfWeir(response: Response): Problem {
  return {
    code: 'no_answer',
    detail: `Something between this page and Weir answered with ${response.status}: try again in a moment.`,
    request_id: response.headers.get('x-request-id') ?? undefined,
  };
}
