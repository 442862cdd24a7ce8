// What is refused when there is too much of everything, and in which order: reading and admin requests first, tracking last,
// and never what tells operators how things are. What is refused here was not begun, so it left nothing behind.

import underPressure from '@fastify/under-pressure';
import { Refusal } from '@weir/shared/errors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { getHeapStatistics } from 'node:v8';

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
}

/** Why a request was refused before it began, as metrics have it. */
export type ShedReason = 'event_loop' | 'memory' | 'requests' | 'database';

export interface PressureOptions {
  /** Requests other than tracking that one process works on at the same time. */
  othersMax: number;
  /** Milliseconds by which the event loop is late, as a mean over a second: above it nothing but tracking is served. */
  delayMsMax: number;
  /** Whether Postgres was seen to be away. Only tracking can do without it for a while. */
  isDatabaseAway: () => boolean;
  onShed: (reason: ShedReason) => void;
}

/** Tracking is served until the event loop is this many times later than all else is served. */
const TRACKING_FACTOR = 3;

/** Above this share of what V8 may use, most of the time goes into collecting garbage, and then the process dies. */
const HEAP_SHARE_MAX = 0.9;

export function trafficOf(request: FastifyRequest): Traffic {
  return request.routeOptions.config.traffic ?? 'other';
}

/** Sheds load. Has to be set up before every hook that costs more than it does. */
export async function usePressure(app: FastifyInstance, options: PressureOptions): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: options.delayMsMax,
    maxHeapUsedBytes: getHeapStatistics().heap_size_limit * HEAP_SHARE_MAX,
    pressureHandler(request, _reply, type, delayMs) {
      const traffic = trafficOf(request);
      if (traffic === 'vital') return undefined;
      if (type === underPressure.TYPE_HEAP_USED_BYTES) {
        options.onShed('memory');
        return Promise.reject(overloaded());
      }
      if (traffic === 'tracking' && (delayMs ?? 0) <= options.delayMsMax * TRACKING_FACTOR) return undefined;
      options.onShed('event_loop');
      return Promise.reject(overloaded());
    },
  });
  shedOthers(app, options);
}

/**
 * Each request other than tracking may hold a connection to Postgres, memory for its answer and a core for a password. Those
 * that come when many are under way are refused at once, instead of waiting for a turn that comes too late for them.
 */
function shedOthers(app: FastifyInstance, options: PressureOptions): void {
  const counted = new WeakSet<FastifyRequest>();
  let underWay = 0;
  app.addHook('onRequest', (request, _reply, done) => {
    if (trafficOf(request) !== 'other' || request.is404) {
      done();
      return;
    }
    if (options.isDatabaseAway() && request.routeOptions.url?.startsWith('/api/') === true) {
      options.onShed('database');
      const detail = 'The database cannot answer now: try again in a moment.';
      done(new Refusal('unavailable', detail, { retryAfterSeconds: 2 }));
      return;
    }
    if (underWay >= options.othersMax) {
      options.onShed('requests');
      done(overloaded());
      return;
    }
    underWay += 1;
    counted.add(request);
    done();
  });
  app.addHook('onResponse', (request, _reply, done) => {
    if (counted.delete(request)) underWay -= 1;
    done();
  });
}

function overloaded(): Refusal {
  const detail = 'This process has more to do than it can, and nothing was kept: send the request again in a moment.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 });
}
