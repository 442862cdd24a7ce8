// The one way to the API. Reads are options for useQuery (`read`), and what changes something is a promise (`send`); both
// throw an ApiError, never anything else, and both are typed from the API's own document.

import { queryOptions } from '@tanstack/react-query';
import createClient, { type Client, type MaybeOptionalInit } from 'openapi-fetch';
import type { PathsWithMethod } from 'openapi-typescript-helpers';
import type { components, paths } from './openapi.d.ts';
import { notify } from '../components/outcomes/notices.tsx';
import { noteAnswer } from './pace.ts';
import { ApiError, type Problem } from './problem.ts';
import { buildSentWrites, isRead } from './sent-writes.ts';
import { noteSessionOver } from './session-end.ts';

/** A shape of the document by its name: `Schema<'Plan'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

export const sentWrites = buildSentWrites(window.sessionStorage);

const connect = (headers: Record<string, string> = {}): Client<paths> =>
  createClient<paths>({ baseUrl: window.location.origin, fetch: fetchOrExplain, headers });

/** It has no PATCH: what is changed says what it was, by `openToChange` or `changeShown`. */
export const client: Pick<Client<paths>, 'GET' | 'POST' | 'PUT' | 'DELETE'> = connect();

/** A path that can be read. */
export type GetPath = PathsWithMethod<paths, 'get'>;
type GetInit<Path extends GetPath> = MaybeOptionalInit<paths[Path], 'get'>;
/** As the document has it: the types of the client leave out fields that are always null, such as the meter of a FIXED charge. */
type GetData<Path extends GetPath> = paths[Path]['get'] extends {
  responses: { 200: { content: { 'application/json': infer Data extends object } } };
}
  ? Data
  : never;

/** The answer of `GET path`. */
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

/** Makes a change with the PATCH that it is given, which carries the If-Match: `(PATCH) => PATCH(path, { params, body })`. */
export type Change<Answered> = (PATCH: Client<paths>['PATCH']) => Promise<Sent<Answered>>;

/** A thing that a form changes, as it was read for that. */
export interface Opened<Data> {
  readonly data: Data;
  /** Changes it, unless somebody else has since it was read. */
  change: <Answered>(change: Change<Answered>) => Promise<Answered>;
  /** Reads it anew: a change after that is one of what was read then. */
  reload: () => Promise<Data>;
}

/** What ETags became by changes of this page: other forms on it need not be told of them. */
const ownChanges = new Map<string, string>();

function afterOwnChanges(tag: string): string {
  let now = tag;
  for (let next = ownChanges.get(now); next !== undefined; next = ownChanges.get(now)) now = next;
  return now;
}

/** Reads a thing with the ETag that a change of it names. */
export async function openToChange<Path extends GetPath>(
  path: Path,
  params?: NonNullable<GetInit<Path>>['params'],
): Promise<Opened<GetData<Path>>> {
  let { data, tag } = await readTagged(path, params);
  return {
    data,
    async reload() {
      ({ data, tag } = await readTagged(path, params));
      return data;
    },
    async change(change) {
      const [answered, after] = await changeTagged(tag, change);
      tag = after;
      return answered;
    },
  };
}

/** An ETag of nothing: the API refuses a change that names it, unless it has made that change before. */
const OF_NOTHING = '"changed"';

/**
 * Changes a thing by one click, without a form. `shown` is what the page said of that which the click changes: where it is not so any
 * more, nothing is done.
 */
export async function changeShown<Path extends GetPath, Answered>(
  path: Path,
  params: NonNullable<GetInit<Path>>['params'],
  shown: Partial<GetData<Path>>,
  change: Change<Answered>,
): Promise<Answered> {
  const { data, tag } = await readTagged(path, params);
  const now = new Map<string, unknown>(Object.entries(data));
  const isAsShown = Object.entries(shown).every(([name, value]) => now.get(name) === value);
  const [answered] = await changeTagged(isAsShown ? tag : OF_NOTHING, change);
  return answered;
}

async function readTagged<Path extends GetPath>(
  path: Path,
  params: NonNullable<GetInit<Path>>['params'] | undefined,
): Promise<{ data: GetData<Path>; tag: string }> {
  const asked = client.GET(path as never, { params } as never) as Promise<Sent<GetData<Path>>>;
  const data = await send(asked);
  const tag = tagIn(await asked);
  if (tag === undefined) throw new Error(`${path} is answered without an ETag`);
  // Somebody may have brought back what this page had changed.
  ownChanges.delete(tag);
  return { data, tag };
}

/** Returns what a change is answered with, and the ETag that the next one names. */
async function changeTagged<Answered>(tag: string, change: Change<Answered>): Promise<[Answered, string]> {
  const before = afterOwnChanges(tag);
  const asked = change(connect({ 'if-match': before }).PATCH);
  const answered = await send(asked);
  // A plan is changed without one: it is read anew before it is changed again.
  const after = tagIn(await asked) ?? before;
  if (after !== before) {
    // Nothing leads back to where it came from.
    ownChanges.delete(after);
    ownChanges.set(before, after);
  }
  return [answered, after];
}

/** Tags of Weir are never weak: one that is was weakened by who compressed the answer on its way, and Weir takes none in If-Match. */
const tagIn = ({ response }: Sent<unknown>): string | undefined => response.headers.get('etag')?.replace(/^W\//, '');

/** Who is signed in is asked by the router, and a sign-in that is refused ends nothing. */
const NO_SESSION_NEEDED = /\/api\/v1\/auth\/(?:me|login|password)$/;

interface Sent<Data> {
  data?: Data | undefined;
  error?: unknown;
  response: Response;
}

/** Returns the body of an answer, and throws an ApiError for a refusal: `await send(client.POST('/api/v1/plans', { body }))`. */
export async function send<Data>(sent: Promise<Sent<Data>>): Promise<Data> {
  const askedAt = performance.now();
  const { data, error, response } = await sent;
  if (response.ok) return data as Data;
  if (!isProblem(error)) throw new Error(`${response.url} is refused without a reason`);
  if (error.code === 'unauthenticated' && !NO_SESSION_NEEDED.test(response.url)) noteSessionOver(askedAt);
  throw new ApiError({
    ...error,
    status: response.status,
    was_sent_before: answersToRepeats.has(response),
    retry_after_seconds: retryAfterSeconds(response),
  });
}

/** Answers to writes that had been sent before, with an outcome that is not known. */
const answersToRepeats = new WeakSet<Response>();

async function fetchOrExplain(request: Request): Promise<Response> {
  const began = performance.now();
  const write = sentWrites.begin(
    request.method,
    request.url,
    request.method === 'GET' ? '' : await request.clone().text(),
  );
  if (write !== undefined) request.headers.set('idempotency-key', write.key);
  try {
    const response = await fetchWhenAllowed(request);
    noteAnswer(performance.now() - began);
    if (!isOfWeir(response)) throw notOfWeir(response, request);
    // An answer that breaks off is none: whoever sent it cannot be told what became of it.
    if (write !== undefined && response.ok && response.status !== 204) await response.clone().json();
    if (write !== undefined && isOutcomeKnown(response)) sentWrites.settle(write, response.ok);
    else if (write !== undefined && (await hasDoneNothing(response))) sentWrites.refuse(write);
    if (write?.wasSentBefore === true) answersToRepeats.add(response);
    if (response.headers.get('idempotent-replay') === 'true') notify(DONE_BEFORE, 'noted');
    return response;
  } catch (error) {
    // A read that is not wanted any more.
    if (request.signal.aborted || error instanceof ApiError) throw error;
    const detail = isRead(request.method, request.url)
      ? CANNOT_BE_REACHED
      : `No answer came, so ${notKnown(request.url)}`;
    throw new ApiError({ code: 'no_answer', detail });
  }
}

const CANNOT_BE_REACHED = 'Weir cannot be reached: check your connection, and whether Weir runs.';

/** Once they are done, these are refused when they are sent again, since there is the account, or the link is used up. */
const DONE_ONCE = /\/auth\/(?:signup|invitation\/accept|password-reset)$/;

/** The request may have been carried out: only its answer is missing for sure. */
const notKnown = (url: string): string =>
  DONE_ONCE.test(url)
    ? 'it is not known whether Weir has done this. Try to sign in with this password; where that is refused, send it again.'
    : 'it is not known whether Weir has done this. Look at the page in a new tab, or send it again as it is: it is not done twice.';

const DONE_BEFORE = 'Weir had done this already when it was sent before. It was not done a second time.';

/** What Weir answers with, where it does what it was asked for. */
const ANSWERS = /^(?:application\/(?:json|pdf)|text\/csv)(?:;|$)/;

/** Whether Weir said it. A proxy or a sign-in before it answers in its own words, also with 200. */
function isOfWeir({ ok, status, headers }: Response): boolean {
  const type = headers.get('content-type') ?? '';
  if (!headers.has('x-request-id')) return false;
  return ok ? status === 204 || ANSWERS.test(type) : type.startsWith('application/problem+json');
}

/** A refusal to do it now, and a failure on the way, leave open what became of it when it was sent before. */
function isOutcomeKnown({ ok, status }: Response): boolean {
  return ok || (status < 500 && ![401, 408, 409, 429].includes(status));
}

/** Whether a refusal says of this request that nothing of it was kept: so does one that comes before a write begins. */
async function hasDoneNothing(response: Response): Promise<boolean> {
  if (response.status === 401 || response.status === 429) return true;
  const problem: unknown = await response.clone().json();
  return isProblem(problem) && problem.outcome === 'not_accepted';
}

/** Longer than this nobody waits without a word. */
const WAIT_SECONDS_MAX = 20;

/** Longer than any answer takes. A connection that broke without a word would keep a button busy, or a list loading, for ever. */
const ANSWER_MS_MAX = 60_000;

/** What is asked for is being done, by a request of before whose answer did not come. */
const UNDER_WAY = 'request_under_way';

/**
 * A refusal because of too many requests has done nothing: after the time that the answer names, the request is sent again. So is
 * one that is under way already, to hear what becomes of it.
 */
async function fetchWhenAllowed(request: Request): Promise<Response> {
  for (let waited = 0; ;) {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
    const response = await fetch(request.clone(), { signal });
    const seconds = await secondsToWait(response, request.url);
    waited += seconds;
    if (seconds === 0 || waited > WAIT_SECONDS_MAX) return response;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    request.signal.throwIfAborted();
  }
}

/** How long to wait before a request is sent again; 0 for an answer that stands. */
async function secondsToWait(response: Response, url: string): Promise<number> {
  // Wrong passwords are counted: to send one again by itself would only make the wait longer.
  if (response.status === 429 && !url.includes('/api/v1/auth/')) return retryAfterSeconds(response);
  if (response.status !== 409 || !isOfWeir(response)) return 0;
  const problem: unknown = await response.clone().json();
  return isProblem(problem) && problem.code === UNDER_WAY ? Math.max(retryAfterSeconds(response), 1) : 0;
}

/** A number of seconds, or from a proxy the time of day; 0 where nothing that can be read is said. */
function retryAfterSeconds({ headers }: Response): number {
  const text = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const seconds = Math.ceil((Date.parse(text) - Date.now()) / 1_000);
  return seconds > 0 ? seconds : 0;
}

function isProblem(error: unknown): error is Problem {
  return typeof error === 'object' && error !== null && 'detail' in error && 'code' in error;
}

function notOfWeir({ status, headers }: Response, { method, url }: Request): ApiError {
  const what = `Something between this page and Weir answered with ${status}, and not Weir`;
  const detail = isRead(method, url)
    ? `${what}. Load the page anew: it may ask you to sign in there.`
    : `${what}: ${notKnown(url)}`;
  return new ApiError({ code: 'no_answer', detail, status, request_id: headers.get('x-request-id') ?? undefined });
}
