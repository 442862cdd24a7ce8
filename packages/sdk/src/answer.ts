import { WeirError, type FieldProblem } from './error.ts';
import { parseRetryAfter } from './retry.ts';

/** A refusal of the service, of a request or of one event of a batch. */
export interface Answer {
  status: number;
  /** Empty when the body was no JSON object. */
  body: Record<string, unknown>;
  /** The body as it came. */
  bytes: Uint8Array<ArrayBuffer>;
  headers: Headers;
  requestId: string | undefined;
  retryAfterMs: number | undefined;
  /** Whether Weir itself said it: a proxy before it answers for it, too, and knows nothing of events. */
  isFromWeir: boolean;
}

export interface Tracked {
  /** The event's id; for a duplicate the id of the event that was accepted first. */
  id: string;
  /** True when an event with this key had been accepted before: nothing was added. */
  duplicate: boolean;
}

/** All of an answer. */
export interface Reply<Body> {
  status: number;
  /** In the API's own words; an empty object where that is nothing. */
  body: Body;
  /** Of a write that was made before: what of its answer is not shown again, such as a secret. Else empty. */
  withheld: readonly string[];
  /** Names what was answered, for `ifMatch` and `ifNoneMatch`. Lists have none. */
  etag: string | undefined;
  headers: Headers;
}

/** The outcome of one event of a batch: Weir keeps it, or `error` says why not. */
export type BatchOutcome = Tracked | { error: WeirError };

/** Reads an answer whole. Rejects like `response.arrayBuffer()` when the connection breaks before the end of the body. */
export async function readAnswer(response: Response): Promise<Answer> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const body = parseObject(new TextDecoder().decode(bytes));
  return {
    status: response.status,
    body,
    bytes,
    headers: response.headers,
    requestId: text(body.request_id) ?? response.headers.get('x-request-id') ?? undefined,
    retryAfterMs: parseRetryAfter(response.headers.get('retry-after')),
    isFromWeir: isProblemOfWeir(response, body),
  };
}

/** Returns the ETag of Weir, which is never weak: one that is was weakened by who compressed the answer on its way. */
export function etagIn(headers: Headers): string | undefined {
  return headers.get('etag')?.replace(/^W\//, '');
}

/** Returns what was asked for. Throws a WeirError when the answer is no success, or none that can be read. */
export function readOrThrow(answer: Answer): object {
  // Of 204 there is nothing to read, nor where Weir keeps nothing of the answer to a write that was made before.
  const isEmpty = answer.status === 204 || answer.headers.has('idempotent-replay');
  if (!isSuccess(answer) || (!isEmpty && Object.keys(answer.body).length === 0)) throw refusal(answer, []);
  return answer.body;
}

export interface FilePage {
  bytes: Uint8Array<ArrayBuffer>;
  /** The query of the page behind it, with its `?`. Of a CSV the pages one after the other are one file; all else is whole. */
  next: string | undefined;
}

/** Returns the bytes of a file. Throws a WeirError when the answer is no success, or a page of HTML, which only others have. */
export function readFileOrThrow(answer: Answer): FilePage {
  const type = answer.headers.get('content-type') ?? '';
  if (!isSuccess(answer) || type.startsWith('text/html')) throw refusal(answer, []);
  const links = type.startsWith('text/csv') ? (answer.headers.get('link') ?? '') : '';
  return { bytes: answer.bytes, next: /<[^?>]*(\?[^>]*)>; rel="next"/.exec(links)?.[1] };
}

/** Returns the members of an answer that Weir does not show again: a secret is shown once, and a very long list is not kept. */
export function withheldIn(headers: Headers): string[] {
  return headers.get('idempotent-withheld')?.split(', ') ?? [];
}

/** Returns what to throw where the caller would take such an answer for the first one. */
export function answerWithheld(withheld: readonly string[]): WeirError {
  const detail =
    'It was done, and the answer got lost or was given before: sent with another key it is done twice. ' +
    `Weir does not show again: ${withheld.join(', ')}. Read the rest by a GET, or by exchange with the same key. ` +
    'Where that is a secret, delete what was made, and make another';
  return new WeirError({ status: 0, code: 'answer_withheld', detail, transient: false });
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** Returns the answers to the single events of a batch, in the order sent. Throws a WeirError unless there is one for each. */
export function splitAnswer(answer: Answer, idempotencyKeys: readonly string[]): Answer[] {
  if (answer.status !== 201 && answer.status !== 207) throw refusal(answer, idempotencyKeys);
  const items = Array.isArray(answer.body.data) ? answer.body.data.filter(isObject) : [];
  if (items.length !== idempotencyKeys.length) throw refusal(answer, idempotencyKeys);
  return items.map((body) => ({ ...answer, status: Number(body.status), body, isFromWeir: true }));
}

/** Returns which event the service keeps. Throws a WeirError when it did not keep this one. */
export function settle(answer: Answer, idempotencyKey: string): Tracked {
  const id = text(answer.body.id);
  const duplicate = answer.status === 409 && answer.body.code === 'duplicate_event';
  if (id !== undefined && (answer.status === 201 || duplicate)) return { id, duplicate };
  throw refusal(answer, [idempotencyKey]);
}

/** The same as a value. */
export function settleOrError(answer: Answer, idempotencyKey: string): BatchOutcome {
  try {
    return settle(answer, idempotencyKey);
  } catch (error) {
    if (error instanceof WeirError) return { error };
    throw error;
  }
}

/** A success that cannot be read counts as no answer. To send the events again finds out whether they were kept. */
function refusal(answer: Answer, idempotencyKeys: readonly string[]): WeirError {
  const { status, body, requestId, retryAfterMs, isFromWeir } = answer;
  const refused = status >= 300;
  return new WeirError({
    status: refused ? status : 0,
    code: refused ? (text(body.code) ?? `http_${status}`) : 'bad_response',
    detail: text(body.detail) ?? `The service answered ${status} with a body that this client does not understand`,
    requestId,
    retryAfterMs,
    isFromWeir,
    outcome: body.outcome === 'not_accepted' || body.outcome === 'unknown' ? body.outcome : undefined,
    errors: Array.isArray(body.errors) ? body.errors.filter(isFieldProblem) : undefined,
    idempotencyKeys,
  });
}

/** The fields that each of its problems has, in its media type. Problems of others have no code and no request_id. */
function isProblemOfWeir(response: Response, body: Record<string, unknown>): boolean {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
  const isComplete = text(body.code) !== undefined && text(body.request_id) !== undefined;
  return isProblem && isComplete && body.status === response.status;
}

function isFieldProblem(value: unknown): value is FieldProblem {
  return isObject(value) && text(value.path) !== undefined && text(value.message) !== undefined;
}

function parseObject(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
