// How a request that changes something is answered, so that it is safe to repeat. With an Idempotency-Key the answer is written down
// in the transaction of the change; whoever sends the request again gets that answer, and nothing is done a second time. A route that
// changes something and is not made with `writing` stops the start (repeats.ts).

import { isDatabaseAway, type Database, type Queries } from '@weir/db/database';
import {
  findRequestKey,
  holdRequestKey,
  insertRequestKey,
  updateKeptAnswer,
  type FoundKey,
  type KeptAnswer,
  type RequestKey,
} from '@weir/db/request-keys';
import { Refusal } from '@weir/shared/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendJson } from '../body/send-json.ts';
import { isToCompute, keptOf, keptOfComputed, type Answer } from './kept-answer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** That of the header Idempotency-Key. */
    key: RequestKey | undefined;
    /** Whether it was answered with what another request had come to. */
    isRepeat: boolean;
    /** Whether a change of it stays although it is refused. */
    keepsChange: boolean;
  }
}

/** `secrets` are members of the body that are shown once, and null when the answer is repeated. */
export const done = <Body>(body: Body, secrets: readonly (keyof Body & string)[] = []): Answer<Body> => ({
  status: 200,
  body,
  secrets,
});
export const gone = (): Answer<null> => ({ status: 204, body: null });
export const made = <Body>(body: Body, secrets: readonly (keyof Body & string)[] = []): Answer<Body> => ({
  status: 201,
  body,
  secrets,
});

/** The outcome of a change. There is no other way to one than `Write`. */
export interface Written<Body> {
  readonly body: Body;
  /** Whether another request made the change: then nothing is left to do. */
  readonly isRepeat: boolean;
}

class Outcome<Body> implements Written<Body> {
  readonly body: Body;
  readonly answer: Answer<Body>;
  /** The answer to a request before this one. */
  readonly first: KeptAnswer | undefined;

  constructor(answer: Answer<Body>, first?: KeptAnswer) {
    this.answer = answer;
    this.body = answer.body;
    this.first = first;
  }

  get isRepeat(): boolean {
    return this.first !== undefined;
  }
}

/** A change that may be answered with a refusal, and be kept all the same: one that is returned. One that is thrown leaves nothing. */
type Work<Body> = (transaction: Queries) => Promise<Answer<Body> | Refusal>;

/** Makes the change of one request. */
export class Write {
  readonly #db: Queries;
  readonly #request: FastifyRequest;
  readonly #key: RequestKey | undefined;
  /** What the change came to that may be there by now, with its key, and when that was written. */
  #ours: { outcome: Outcome<unknown>; writtenAt: string } | undefined;
  #check: ((transaction: Queries) => Promise<void>) | undefined;
  #isOutside = false;

  constructor(database: Database, request: FastifyRequest) {
    this.#db = database.kysely;
    this.#request = request;
    this.#key = request.key;
  }

  /** What has to hold before the change, in its transaction: `check` throws a Refusal where it does not. A repeat is not checked. */
  expect(check: (transaction: Queries) => Promise<void>): void {
    this.#check = check;
  }

  /** A change that takes several statements: all of them, or none. */
  async transaction<Body>(work: Work<Body>): Promise<Written<Body>> {
    let isCommitting = false;
    const within = async (transaction: Queries) => {
      const outcome = await this.#within(transaction, work);
      isCommitting = true;
      return outcome;
    };
    const outcome = await this.#committing(
      () => this.#db.transaction().execute(within),
      () => isCommitting,
    );
    if (outcome instanceof Refusal) throw this.#kept(outcome);
    return outcome;
  }

  /**
   * A change that is one statement, the last of the work, or none of Postgres: without a key, and with nothing to check, it needs no
   * transaction.
   */
  async single<Body>(work: (transaction: Queries) => Promise<Answer<Body>>): Promise<Written<Body>> {
    if (this.#key !== undefined || this.#check !== undefined) return await this.transaction(work);
    const answer = await this.#committing(
      () => work(this.#db),
      () => true,
    );
    return new Outcome(answer);
  }

  /** From here on something of the change stays where it fails, which no transaction takes back: such as what Redis is told. */
  goOutside(): void {
    this.#isOutside = true;
    this.#request.mayBeKept = true;
  }

  /** Does what may have been committed where it fails, and writes down whether it may. What Postgres refuses, it has rolled back. */
  async #committing<Result>(commit: () => Promise<Result>, isAsked: () => boolean): Promise<Result> {
    try {
      const result = await commit();
      this.#request.mayBeKept = true;
      return result;
    } catch (error) {
      if (isAsked()) this.#request.mayBeKept = this.#isOutside || isDatabaseAway(error);
      throw error;
    }
  }

  /**
   * What is computed, and changes nothing. Two requests with one key may compute it at the same time: the first answer counts. One that
   * is too large to be kept is computed by each of them.
   */
  async computed<Body>(compute: () => Promise<Answer<Body>>): Promise<Written<Body>> {
    const answer = await compute();
    const key = this.#key;
    if (key === undefined || (await insertRequestKey(this.#db, key, keptOfComputed(answer))) !== undefined)
      return new Outcome(answer);
    return firstOf<Body>(await findRequestKey(this.#db, key)) ?? new Outcome(answer);
  }

  /** Says more in an answer than was known when the change was made. Where that fails, a repeat does not say it. */
  async amend<Body>(written: Written<Body>, more: Partial<Body>, log: FastifyRequest['log']): Promise<Written<Body>> {
    if (!(written instanceof Outcome)) throw new Error('what was written comes from elsewhere');
    const { answer } = written as Outcome<Body>;
    const amended = { ...answer, body: { ...answer.body, ...more } };
    if (this.#key !== undefined) {
      await updateKeptAnswer(this.#db, this.#key, keptOf(amended)).catch((error: unknown) =>
        log.warn({ err: error }, 'what came of a request after its change could not be written beside its key'),
      );
    }
    return new Outcome(amended);
  }

  /**
   * The first answer, where a request failed although it had come to be: the answer of Postgres was lost, or a repeat of it found
   * things changed by it. Throws the error else.
   */
  async findAfter<Body>(failure: unknown, request: FastifyRequest): Promise<Written<Body>> {
    const key = this.#key;
    if (key === undefined || (failure instanceof Refusal && failure.code === 'request_under_way')) throw failure;
    const found = await findRequestKey(this.#db, key).catch(() => undefined);
    if (found?.outcome !== 'same' || isToCompute(found.kept)) throw failure;
    request.log.info({ err: failure }, 'a request failed that had come to be: it gets its first answer');
    // After a failover the key may be that of a repeat, and what was written here is nowhere.
    if (this.#ours?.writtenAt === found.writtenAt) return this.#ours.outcome as Outcome<Body>;
    return new Outcome<Body>(answerOf(found.kept), found.kept);
  }

  #kept(refusal: Refusal): Refusal {
    this.#request.keepsChange = true;
    return refusal;
  }

  async #within<Body>(transaction: Queries, work: Work<Body>): Promise<Outcome<Body> | Refusal> {
    const key = this.#key;
    if (key === undefined) {
      await this.#check?.(transaction);
      const answer = await work(transaction);
      return answer instanceof Refusal ? answer : new Outcome(answer);
    }
    const first = firstOf<Body>(await holdRequestKey(transaction, key));
    if (first !== undefined) return first;
    await this.#check?.(transaction);
    const answer = await work(transaction);
    if (answer instanceof Refusal) return answer;
    const writtenAt = await insertRequestKey(transaction, key, keptOf(answer));
    if (writtenAt === undefined) throw new Error('a key that is held was written');
    const outcome = new Outcome(answer);
    this.#ours = { outcome, writtenAt };
    return outcome;
  }
}

/** The first answer to a request, undefined where there is none. Throws a Refusal where its key cannot be used now, or for it. */
function firstOf<Body>(found: FoundKey | { outcome: 'under_way' }): Outcome<Body> | undefined {
  switch (found.outcome) {
    case 'new':
      return undefined;
    case 'same':
      return isToCompute(found.kept) ? undefined : new Outcome<Body>(answerOf(found.kept), found.kept);
    case 'other':
      throw new Refusal(
        'idempotency_key_reused',
        'This Idempotency-Key belongs to a request with another method, path or body: use a new key for a new request.',
      );
    case 'under_way':
      throw new Refusal(
        'request_under_way',
        'The request with this Idempotency-Key is under way: ask again in a moment.',
        {
          retryAfterSeconds: 1,
        },
      );
  }
}

function answerOf<Body>({ status, answer }: KeptAnswer): Answer<Body> {
  return { status: status as Answer<Body>['status'], body: (answer === null ? null : JSON.parse(answer)) as Body };
}

/** The first answer to a request that has one. Nothing else was done for it; throws as {@link firstOf}. */
export async function findFirst(database: Database, key: RequestKey): Promise<Written<unknown> | undefined> {
  return firstOf(await findRequestKey(database.kysely, key));
}

/** Those that were made by `writing`. */
const handlers = new WeakSet<object>();

export const isWriting = (handler: object): boolean => handlers.has(handler);

/**
 * The handler of a route that changes something. What it returns comes from `write`, by which it makes its change once; what it does
 * before is done again by a repeat that comes at the same time, and what it does after may be lost. `headersOf` an answer go with
 * it, but not with its repeats.
 */
export function writing<Request extends FastifyRequest, Body>(
  database: Database,
  handler: (request: Request, write: Write) => Promise<Written<Body>>,
  headersOf?: (body: Body) => Record<string, string>,
): (request: Request, reply: FastifyReply) => Promise<Body> {
  const handle = async (request: Request, reply: FastifyReply): Promise<Body> => {
    const write = new Write(database, request);
    const written = await handler(request, write).catch((error: unknown) => write.findAfter<Body>(error, request));
    request.isRepeat = written.isRepeat;
    if (headersOf !== undefined && !written.isRepeat) void reply.headers(headersOf(written.body));
    // The types of a route are about the body, and not about how it is sent.
    return sendWritten(reply, written) as unknown as Body;
  };
  handlers.add(handle);
  return handle;
}

/** Sends what a change came to, or had come to before. */
export function sendWritten(reply: FastifyReply, written: Written<unknown>): FastifyReply {
  if (!(written instanceof Outcome)) throw new Error('what was written comes from elsewhere');
  const { answer, first } = written;
  void reply.code(answer.status);
  if (first === undefined) return reply.send(answer.body);
  void reply.header('idempotent-replay', 'true');
  if (first.withheld.length > 0) void reply.header('idempotent-withheld', first.withheld.join(', '));
  return first.answer === null ? reply.send(null) : sendJson(reply, first.answer);
}
