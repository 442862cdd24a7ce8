// Two who change one thing. A GET says by a strong ETag what it answered, and a PATCH that names it in If-Match is made only of what
// its sender has seen: the thing is held in the transaction of the change, read once more as the GET reads it, and compared. A PATCH
// that is not made with `changing` stops the start.

import type { Database, Queries } from '@weir/db/database';
import { Refusal } from '@weir/shared/errors';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { createHash } from 'node:crypto';
import { invalidFields } from '../problem.ts';
import { BYTES_OF_BUCKET } from '../load/read-budget.ts';
import type { App } from '../typed-app.ts';
import { writing, type Write, type Written } from './writing.ts';

/** A thing that is read and changed: of the organization, by the id in the path; without one, the organization itself. */
interface Thing {
  /** Returns what a GET answers. Throws the Refusal `not_found`. */
  read: (db: Queries, organizationId: string, id: string) => Promise<object>;
  /** Holds off others that change it, until the transaction ends. */
  hold: (transaction: Queries, organizationId: string, id: string) => Promise<void>;
  /** Members that change by themselves. They are in no ETag, which therefore does not stand for the whole answer. */
  living?: readonly string[];
}

/** The same with what it is read as. */
export interface Versioned<Body extends object> extends Thing {
  read: (db: Queries, organizationId: string, id: string) => Promise<Body>;
  living?: readonly (keyof Body & string)[];
}

const MATCH_HEADER = 'If-Match';

const TAGS = /^\s*(?:W\/)?"[!#-~\x80-\xff]*"(?:\s*,\s*(?:W\/)?"[!#-~\x80-\xff]*")*\s*$/;
const TAG = /(?:W\/)?"[^"]*"/g;

/** The entity tags of a header: none where it has another form. */
const tagsIn = (header: string): string[] => (TAGS.test(header) ? (header.match(TAG) ?? []) : []);

/** 132 bits: nobody meets two of them. */
const TAG_CHARACTERS = 22;

/** What an ETag stands for. */
function lastingText({ living = [] }: Thing, body: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => !living.includes(name))));
}

function tagOf(lasting: string): string {
  const hash = createHash('sha256').update(lasting).digest('base64url');
  return `"${hash.slice(0, TAG_CHARACTERS)}"`;
}

/** Handlers of GET, each with whether its ETag stands for all that it answers; and of PATCH, with whether it answers with one. */
const readers = new WeakMap<object, boolean>();
const changers = new WeakMap<object, boolean>();

const idOf = ({ params, caller }: FastifyRequest): string => (params as { id?: string }).id ?? caller.organizationId;

/**
 * The handler of a GET. What it answers has an ETag, and is not sent again to who has it. With `show`, more than the thing is
 * answered: that has no tag, and is always sent.
 */
export function reading<Body extends object, Shown extends object = Body>(
  database: Database,
  thing: Versioned<Body>,
  show?: (body: Body, request: FastifyRequest) => Promise<Shown>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<Shown> {
  const isWhole = show === undefined && thing.living === undefined;
  const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<Shown> => {
    const body = await thing.read(database.kysely, request.caller.organizationId, idOf(request));
    const lasting = lastingText(thing, body);
    const tag = tagOf(lasting);
    void reply.header('etag', tag);
    if (isWhole && isKnown(request.headers['if-none-match'], tag)) {
      // Only to send it was saved.
      request.pay(lasting.length / BYTES_OF_BUCKET);
      // The types of a route are about the body.
      return reply.code(304).send() as unknown as Shown;
    }
    return show === undefined ? (body as unknown as Shown) : await show(body, request);
  };
  readers.set(handle, isWhole);
  return handle;
}

/** By the weak comparison of RFC 9110: a proxy that compresses makes a tag weak. */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || tagsIn(header).some((each) => each.replace(/^W\//, '') === tag);
}

/** The handler of a PATCH that answers with the thing as it is then, and with its ETag. As `writing` else. */
export function changing<Request extends FastifyRequest, Body extends object>(
  database: Database,
  thing: Versioned<Body>,
  handler: (request: Request, write: Write) => Promise<Written<Body>>,
): (request: Request, reply: FastifyReply) => Promise<Body> {
  const handle = writing(database, held(thing, handler), (body) => ({ etag: tagOf(lastingText(thing, body)) }));
  changers.set(handle, true);
  return handle;
}

/** The same of one that answers with something else, such as a part of the thing: If-Match takes the ETag of the thing. */
export function changingWithin<Request extends FastifyRequest, Body>(
  database: Database,
  thing: Thing,
  handler: (request: Request, write: Write) => Promise<Written<Body>>,
): (request: Request, reply: FastifyReply) => Promise<Body> {
  const handle = writing(database, held(thing, handler));
  changers.set(handle, false);
  return handle;
}

function held<Request extends FastifyRequest, Body>(
  thing: Thing,
  handler: (request: Request, write: Write) => Promise<Written<Body>>,
): (request: Request, write: Write) => Promise<Written<Body>> {
  return async (request, write) => {
    const sent = request.headers['if-match'];
    if (sent !== undefined) {
      const tags = tagsIn(sent);
      if (tags.length === 0 && sent.trim() !== '*')
        throw invalidFields([
          { path: MATCH_HEADER, message: 'must be * or an ETag as it was answered, with its quotes' },
        ]);
      const { organizationId } = request.caller;
      write.expect((transaction) => expectMatch(thing, transaction, [organizationId, idOf(request)], tags));
    }
    return await handler(request, write);
  };
}

/** Throws a Refusal where the thing is gone, or is another than these tags say. No tags: any will do. */
async function expectMatch(
  thing: Thing,
  transaction: Queries,
  which: [organizationId: string, id: string],
  tags: readonly string[],
): Promise<void> {
  await thing.hold(transaction, ...which);
  const tag = tagOf(lastingText(thing, await thing.read(transaction, ...which)));
  // A weak tag is equal to none here (RFC 9110, 13.1.1).
  if (tags.length > 0 && !tags.includes(tag)) throw new Refusal('precondition_failed', CHANGED);
}

const CHANGED =
  'It is not as the ETag in If-Match says: somebody has changed it since, and nothing was done. Read it again, and send the ' +
  'change with the new ETag. A weak ETag (W/…) never matches.';

const OF_A_PATCH = 'is for what is changed with PATCH: leave it out';

const refuseMatch: onRequestHookHandler = (request, _reply, done) => {
  if (request.headers['if-match'] === undefined) done();
  else done(invalidFields([{ path: MATCH_HEADER, message: OF_A_PATCH }]));
};

/** What is answered with ETags, by its path. */
export interface Tagged {
  /** Whether that of a GET stands for all that is answered: who sends it may be answered with 304. Undefined: it has none. */
  isWhole?: boolean;
  /** Whether a PATCH answers with one. */
  isOfPatch?: boolean;
}

/** Sets this up for every route that is added after it: all but PATCH refuse If-Match. Throws for a PATCH that does not take If-Match. */
export function useVersions(app: App): ReadonlyMap<string, Tagged> {
  const tagged = new Map<string, Tagged>();
  const add = (url: string, what: Tagged) => tagged.set(url, { ...tagged.get(url), ...what });
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const isWhole = readers.get(route.handler);
      if (method === 'GET' && isWhole !== undefined) add(route.url, { isWhole });
      if (!route.url.startsWith('/api/')) continue;
      const isOfPatch = changers.get(route.handler);
      if (method !== 'PATCH') route.onRequest = [route.onRequest ?? [], refuseMatch].flat();
      else if (isOfPatch !== undefined) add(route.url, { isOfPatch });
      else
        throw new Error(
          `PATCH ${route.url} takes no If-Match: make its handler with changing of http/writing/versions.ts`,
        );
    }
  });
  return tagged;
}
