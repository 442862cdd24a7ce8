// The one way to the API. Reads are options for useQuery (`read`), and what changes something is a promise (`send`); both
// throw an ApiError, never anything else, and both are typed from the API's own document.

import { queryOptions } from '@tanstack/react-query';
import createClient, { type FetchResponse, type MaybeOptionalInit } from 'openapi-fetch';
import type { PathsWithMethod } from 'openapi-typescript-helpers';
import type { components, paths } from './openapi.d.ts';
import { noteAnswer } from './pace.ts';
import { ApiError, type Problem } from './problem.ts';
import { setSessionOver } from './session-end.ts';

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

/** Who is signed in is asked by the router, and a sign-in that is refused ends nothing. */
const NO_SESSION_NEEDED = /\/api\/v1\/auth\/(?:me|login|password)$/;

interface Sent<Data> {
  data?: Data | undefined;
  error?: unknown;
  response: Response;
}

/** Returns the body of an answer, and throws an ApiError for a refusal: `await send(client.POST('/api/v1/plans', { body }))`. */
export async function send<Data>(sent: Promise<Sent<Data>>): Promise<Data> {
  const { data, error, response } = await sent;
  if (response.ok) return data as Data;
  const problem = isProblem(error) ? error : notOfWeir(response);
  if (problem.code === 'unauthenticated' && !NO_SESSION_NEEDED.test(response.url)) setSessionOver(true);
  throw new ApiError({ ...problem, status: response.status, retry_after_seconds: retryAfterSeconds(response) });
}

async function fetchOrExplain(request: Request): Promise<Response> {
  const began = performance.now();
  try {
    const response = await fetchWhenAllowed(request);
    noteAnswer(performance.now() - began);
    return response;
  } catch (error) {
    // A read that is not wanted any more.
    if (request.signal.aborted) throw error;
    const detail = request.method === 'GET' ? CANNOT_BE_REACHED : NOT_KNOWN;
    throw new ApiError({ code: 'no_answer', detail });
  }
}

const CANNOT_BE_REACHED = 'Weir cannot be reached: check your connection, and whether Weir runs.';

/** The request may have been carried out: only its answer is missing for sure. */
const NOT_KNOWN =
  'No answer came, so it is not known whether Weir has done this. Look at the page in a new tab before you send it again.';

/** Longer than this nobody waits without a word. */
const WAIT_SECONDS_MAX = 20;

/** A refusal because of too many requests has done nothing: after the time that the answer names, the request is sent again. */
async function fetchWhenAllowed(request: Request): Promise<Response> {
  for (let left = 3; ; left -= 1) {
    const response = await fetch(request.clone());
    const seconds = retryAfterSeconds(response);
    const isTooLong = seconds === 0 || seconds > WAIT_SECONDS_MAX;
    // Wrong passwords are counted: to send one again by itself would only make the wait longer.
    if (response.status !== 429 || left === 0 || isTooLong || request.url.includes('/api/v1/auth/')) return response;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    request.signal.throwIfAborted();
  }
}

function retryAfterSeconds(response: Response): number {
  return Number(response.headers.get('retry-after') ?? 0);
}

function isProblem(error: unknown): error is Problem {
  return typeof error === 'object' && error !== null && 'detail' in error && 'code' in error;
}

/** A proxy in between answers in its own words. */
function notOfWeir(response: Response): Problem {
  return {
    code: 'no_answer',
    detail: `Something between this page and Weir answered with ${response.status}. It is not known whether Weir has done anything: look before you try again.`,
    request_id: response.headers.get('x-request-id') ?? undefined,
  };
}
