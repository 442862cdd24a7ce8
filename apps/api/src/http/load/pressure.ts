// Sheds load: reading and admin requests first, tracking last, and never what tells operators how things are. A request that
// is refused here was not begun, so it left nothing behind.

import { Refusal } from '@weir/shared/errors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { hasBodyToCome } from '../body/bodies.ts';
import { connectionOf, type Connections } from '../connection/connections.ts';

/**
 * `tracking` is what services must not wait for. `vital` is what operators look at when everything else is refused. All
 * else is `other`.
 */
export type Traffic = 'tracking' | 'vital' | 'other';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** By default `other`. */
    traffic?: Traffic;
  }
  interface FastifyRequest {
    /** Whether it is one of the requests that are worked on, which are limited. */
    holdsSlot: boolean;
    /** Whether it waits for something that others need not wait for, and holds no slot meanwhile. */
    isAside: boolean;
  }
}

/** Why a request, or a connection, was refused before it began. */
export type ShedReason = 'event_loop' | 'memory' | 'requests' | 'database' | 'bodies' | 'passwords' | 'connections';

export interface PressureOptions {
  /** Requests other than tracking that one process works on at the same time. */
  othersMax: number;
  /** Milliseconds by which the event loop is late, as a mean over a second: above it nothing but tracking is served. */
  delayMsMax: number;
  /** The error by which Postgres was seen to be away; undefined while it answers. Only tracking can do without it for a while. */
  databaseAway: () => unknown;
  onShed: (reason: ShedReason) => void;
}

export interface Pressure {
  /** Requests other than tracking that are worked on. */
  slotsTaken(): number;
  /**
   * Lets a request wait without its slot, which others may have meanwhile. Returns what `wait` returns and throws what it throws,
   * and a Refusal where there is no slot for it afterwards. How many wait is for the caller to bound.
   */
  aside<Value>(request: FastifyRequest, wait: () => Promise<Value>): Promise<Value>;
}

/** Tracking is served until the event loop is this many times later than all else is served. */
const TRACKING_FACTOR = 3;

/** Above this share of what V8 may use, most of the time goes into collecting garbage, and then the process dies. */
const HEAP_SHARE_MAX = 0.9;

const LOOK_INTERVAL_MS = 1_000;

/**
 * Requests other than tracking that one connection has under way. Their answers leave one after the other, so that more of them
 * serve nobody, and a client that takes no answer would hold every slot.
 */
const PER_CONNECTION_MAX = 10;

/** How often the event loop is asked how late it is. */
const DELAY_RESOLUTION_MS = 10;

export function trafficOf(request: FastifyRequest): Traffic {
  return request.routeOptions.config.traffic ?? 'other';
}

/** Sheds load. Has to be set up before every hook that costs more than it does. */
export function usePressure(app: FastifyInstance, connections: Connections, options: PressureOptions): Pressure {
  shedUnderLoad(app, options);
  return shedOthers(app, connections, options);
}

/** Asks V8 for the heap, and not process.memoryUsage, which opens a file and throws where there are no descriptors left. */
function shedUnderLoad(app: FastifyInstance, options: PressureOptions): void {
  const heapMax = getHeapStatistics().heap_size_limit * HEAP_SHARE_MAX;
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  let delayMs = 0;
  let isHeapFull = false;
  let timer: NodeJS.Timeout | undefined;
  // What a process does before it listens holds nobody up: its start is no overload.
  app.addHook('onListen', (done) => {
    let lookedAt = performance.now();
    delays.enable();
    timer = setInterval(() => {
      const sinceMs = performance.now() - lookedAt;
      lookedAt += sinceMs;
      // A loop that did not turn once in between has no mean: it is as late as it was last seen long ago.
      delayMs = Number.isNaN(delays.mean) ? sinceMs : Math.max(0, delays.mean / 1e6 - DELAY_RESOLUTION_MS);
      delays.reset();
      isHeapFull = getHeapStatistics().used_heap_size > heapMax;
    }, LOOK_INTERVAL_MS).unref();
    done();
  });
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    delays.disable();
    done();
  });
  app.addHook('onRequest', (request, _reply, done) => {
    if (delayMs <= options.delayMsMax && !isHeapFull) {
      done();
      return;
    }
    const traffic = trafficOf(request);
    const delayMsMax = options.delayMsMax * (traffic === 'tracking' ? TRACKING_FACTOR : 1);
    if (traffic === 'vital' || (delayMs <= delayMsMax && !isHeapFull)) {
      done();
      return;
    }
    options.onShed(delayMs > delayMsMax ? 'event_loop' : 'memory');
    done(overloaded());
  });
}

/**
 * Each request other than tracking may hold a connection to Postgres, memory for its answer and a core for a password. When
 * many are under way, others are refused at once: their turn would come too late. A request counts while it is worked on, and
 * not while its body is waited for, which takes as long as its client likes, or its caller's share (read-budget.ts), or the turn
 * of its password (password-turns.ts).
 */
function shedOthers(app: FastifyInstance, connections: Connections, options: PressureOptions): Pressure {
  let taken = 0;
  const take = (request: FastifyRequest): Refusal | undefined => {
    if (taken >= options.othersMax || isConnectionFull(request)) {
      options.onShed('requests');
      return overloaded();
    }
    taken += 1;
    request.holdsSlot = true;
    return undefined;
  };
  const giveBack = (request: FastifyRequest) => {
    if (!request.holdsSlot) return;
    taken -= 1;
    request.holdsSlot = false;
  };
  app.decorateRequest('holdsSlot', false);
  app.decorateRequest('isAside', false);
  connections.onOver(giveBack);

  app.addHook('onRequest', (request, _reply, done) => {
    if (trafficOf(request) !== 'other' || request.is404) {
      done();
      return;
    }
    const away = options.databaseAway();
    if (away !== undefined && request.routeOptions.url?.startsWith('/api/') === true) {
      options.onShed('database');
      const detail = 'The database cannot answer now: try again in a moment.';
      done(new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 2 }, away));
      return;
    }
    // For those who find out who is asking.
    done(take(request));
  });
  // Routes that take no slot do not run the hooks below.
  app.addHook('onRoute', (route) => {
    if ((route.config?.traffic ?? 'other') !== 'other') return;
    route.preParsing = [
      ...[route.preParsing ?? []].flat(),
      (request, _reply, payload, done) => {
        if (hasBodyToCome(request)) giveBack(request);
        done(null, payload);
      },
    ];
    route.preValidation = [
      (request, _reply, done) => done(request.holdsSlot ? undefined : take(request)),
      ...[route.preValidation ?? []].flat(),
    ];
  });
  return {
    slotsTaken: () => taken,
    async aside(request, wait) {
      giveBack(request);
      request.isAside = true;
      const value = await wait().finally(() => (request.isAside = false));
      const refusal = take(request);
      if (refusal !== undefined) throw refusal;
      return value;
    },
  };
}

function isConnectionFull({ raw }: FastifyRequest): boolean {
  const requests = connectionOf(raw.socket)?.requests;
  if (requests === undefined || requests.size <= PER_CONNECTION_MAX) return false;
  let underWay = 0;
  for (const reply of requests.values()) {
    if (reply?.request.holdsSlot === true || reply?.request.isAside === true) underWay += 1;
    if (underWay === PER_CONNECTION_MAX) return true;
  }
  return false;
}

/** The refusal of a request that was not begun. */
function overloaded(): Refusal {
  const detail = 'This process has more to do than it can, and nothing was kept: send the request again in a moment.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 });
}
