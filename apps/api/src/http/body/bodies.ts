// Bounds the bytes of request bodies that one process holds at the same time. A body that is read is in memory as bytes,
// as text and as objects. Its bytes are given back when its request is over. A body in gzip counts as what it unfolds to.

import { Refusal } from '@weir/shared/errors';
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify';
import { Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Caller } from '../load/caller.ts';
import { isHungUp, type Connections } from '../connection/connections.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Bytes held for its body; 0 for a small one. */
    bodyBytes: number;
  }
}

export interface BodyOptions {
  /** Bytes that all bodies together may have. */
  bytesMax: number;
  /** Bytes of the largest body that a route takes. One of these is taken whatever `bytesMax` is. */
  largestBytes: number;
  onShed: () => void;
}

export interface Bodies {
  /** Bytes that are held for the bodies of requests that are not over. */
  bytes(): number;
}

/**
 * A body of up to this many bytes is not counted, and never refused. A single event has hardly ever more, and must not wait
 * for the batches of others. A caller whose credentials were not checked yet may not send more.
 */
const SMALL_BYTES = 16_384;

/** The share of one organization. */
const SHARE_MAX = 0.5;

/** Whether there is a body, and it has not come in whole. */
export function hasBodyToCome(request: FastifyRequest): boolean {
  return !request.raw.complete && hasBody(request);
}

/** Whether there is a body, by the headers. */
export function hasBody({ raw }: FastifyRequest): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = raw.headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

/** Bounds the bodies. Runs after the guards: only a caller whose credentials were checked takes room. */
export function boundBodies(app: FastifyInstance, connections: Connections, options: BodyOptions): Bodies {
  const bytesMax = Math.max(options.bytesMax, options.largestBytes);
  // Room is held for the length that was announced. One organization must not take all of it with bodies that never come.
  const shareMax = Math.max(bytesMax * SHARE_MAX, options.largestBytes);
  const shares = new Map<string, number>();
  let held = 0;
  /** The refusal of a body for which there is no room; without one it is held. */
  const hold: Hold = (request, bytes) => {
    const { organizationId } = request.caller;
    const share = (shares.get(organizationId) ?? 0) + bytes;
    if (held + bytes > bytesMax || share > shareMax) {
      options.onShed();
      return noRoom();
    }
    shares.set(organizationId, share);
    held += bytes;
    request.bodyBytes += bytes;
    return undefined;
  };
  app.decorateRequest('bodyBytes', 0);
  connections.onOver((request) => {
    const { bodyBytes } = request;
    if (bodyBytes === 0) return;
    const { organizationId } = request.caller;
    const share = (shares.get(organizationId) ?? 0) - bodyBytes;
    if (share > 0) shares.set(organizationId, share);
    else shares.delete(organizationId);
    held -= bodyBytes;
    request.bodyBytes = 0;
  });

  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.raw.headers;
    if (length === undefined && coding === undefined) {
      done(null, payload);
      return;
    }
    // The body of a connection that was closed never ends. Whoever waited for its end would wait for ever.
    if (isHungUp(request)) {
      done(new Refusal('malformed_request', 'The connection was closed before the body had come.'));
      return;
    }
    if (isGzip(request) && length !== '0') {
      done(null, unfolded(request, payload, hold));
      return;
    }
    if (coding !== undefined) {
      done(null, counted(request, payload, hold));
      return;
    }
    const bytes = Number(length);
    if (bytes <= SMALL_BYTES) {
      done(null, payload);
      return;
    }
    if (!isKnown(request)) {
      done(tooLarge());
      return;
    }
    // A body that is too large for its route is not read.
    const isRead = bytes <= request.routeOptions.bodyLimit;
    done(isRead ? (hold(request, bytes) ?? null) : null, payload);
  });
  return { bytes: () => held };
}

type Hold = (request: FastifyRequest, bytes: number) => Refusal | undefined;

/** Lets through what there is room for, and fails with the refusal of what there is none for. */
function counterOf(request: FastifyRequest, hold: Hold, bytesMax = Infinity): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      bytes += chunk.length;
      if (bytes > bytesMax) next(unfoldsTooFar(bytesMax));
      else if (bytes <= SMALL_BYTES) next(null, chunk);
      else if (!isKnown(request)) next(tooLarge());
      else next(hold(request, bytes - request.bodyBytes) ?? null, chunk);
    },
  });
}

/** Whether the body of a request is in gzip, which is the only encoding that is taken. */
export function isGzip({ raw }: FastifyRequest): boolean {
  const encoding = raw.headers['content-encoding'];
  return encoding !== undefined && encoding.toLowerCase() === 'gzip';
}

/**
 * A body in gzip says nothing of how much it unfolds to, so that is counted as it comes. Nothing is unfolded beyond what its route
 * takes: a few kilobytes may stand for a gigabyte.
 */
function unfolded(request: FastifyRequest, payload: RequestPayload, hold: Hold): RequestPayload {
  const gunzip = createGunzip();
  const counter: RequestPayload & Transform = counterOf(request, hold, request.routeOptions.bodyLimit);
  // What came over the wire is what Content-Length is about.
  counter.receivedEncodedLength = 0;
  payload.on('data', (chunk: Buffer) => {
    counter.receivedEncodedLength = (counter.receivedEncodedLength ?? 0) + chunk.length;
  });
  payload.once('error', (error) => counter.destroy(error));
  gunzip.once('error', () => counter.destroy(notGzip()));
  // What is left of a body that is refused is read and thrown away, so that its client comes to read the answer.
  counter.once('close', () => {
    payload.unpipe(gunzip).resume();
    gunzip.destroy();
  });
  return payload.pipe(gunzip).pipe(counter);
}

/** A body in chunks says nothing of its length, so it is counted as it comes. */
function counted(request: FastifyRequest, payload: RequestPayload, hold: Hold): RequestPayload {
  const counter = counterOf(request, hold);
  payload.once('error', (error) => counter.destroy(error));
  // What is left of a body that is refused is read and thrown away, so that its client comes to read the answer.
  counter.once('error', () => payload.unpipe(counter).resume());
  return payload.pipe(counter);
}

function isKnown(request: FastifyRequest): boolean {
  return (request.caller as Caller | null) !== null;
}

function unfoldsTooFar(bytesMax: number): Refusal {
  return new Refusal(
    'payload_too_large',
    `The body unfolds to more than the ${bytesMax} bytes that are taken here: send less in one request.`,
  );
}

function notGzip(): Refusal {
  const detail = 'The body is not the gzip that Content-Encoding says it is, or not all of it: send it again.';
  return new Refusal('malformed_json', detail);
}

function tooLarge(): Refusal {
  const detail = `Without valid credentials a body may have ${SMALL_BYTES} bytes: send less, or say who you are.`;
  return new Refusal('payload_too_large', detail);
}

function noRoom(): Refusal {
  const detail =
    'This process holds as many large bodies as it can, and nothing was kept: send the request again in a moment, or ' +
    'fewer of its size at the same time.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 });
}
