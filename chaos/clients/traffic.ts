// The clients of a run: so many requests a second of every kind, until they are told to stop.

import { setTimeout as delay } from 'node:timers/promises';
import type { BillingTime } from '../environment/billing-time.ts';
import type { SystemUnderTest } from '../environment/system.ts';
import type { History } from '../history.ts';
import type { Random } from '../random.ts';
import { HttpClient } from './http-client.ts';
import { OpenLoop } from './open-loop.ts';
import { Mix } from './scenario-mix.ts';
import { makeOrganizations, type Organization } from './made-organizations.ts';
import { probe } from './probe.ts';
import { Sender } from './sender.ts';

/** How often requests are let go. */
const TICK_MS = 10;

/** A stall of this process is not made up for by a burst longer than this. */
const BURST_MS = 200;

/** Requests without a definite answer. Beyond this no new ones begin: a service that is away gets no endless crowd. */
const UNSETTLED_MAX = 3_000;

/** From this on the clock of the clients says more about the machine than about Weir, and the judge is told. */
const STALL_MS = 150;

export interface TrafficOptions {
  requestsPerSecond: number;
  /** How many of them track one event at a moment that was fixed before, to measure how long that takes. */
  measuredPerSecond: number;
  random: Random;
  history: History;
  /** That of the organizations that bill. */
  billingTime: BillingTime;
}

export interface Traffic {
  organizations: readonly Organization[];
  /** Milliseconds since a client was last refused for now, or left without an answer. */
  calmMs(): number;
  /** Sends one new event and resolves when its receipt says that it is recorded. */
  probe(signal: AbortSignal): Promise<void>;
  /** Sends some events to this API, and a moment later to the others. */
  race(api: number): void;
  /** Begins nothing new, and waits until every request has its definite answer and no connection is left. */
  pause(): Promise<void>;
  resume(): void;
  /**
   * Pays some invoices, reads the feeds to their end, begins nothing else, and waits until every request has its definite answer. Those
   * that get none in two minutes are given up; the judge finds them. Rejects when the clients themselves broke.
   */
  stop(): Promise<void>;
}

/** Makes the organizations, which takes a system that is whole, and lets the requests begin. */
export async function openTraffic(system: SystemUnderTest, options: TrafficOptions): Promise<Traffic> {
  const { history, measuredPerSecond } = options;
  const requestsPerSecond = options.requestsPerSecond - measuredPerSecond;
  const [first] = system.apis;
  if (first === undefined) throw new RangeError('there is no API to send requests to');
  const client = new HttpClient(first.url);
  const organizations = await makeOrganizations(client, history, {
    billingTime: options.billingTime,
    receivers: system.receivers,
  });
  client.close();

  const urls = system.apis.map(({ url }) => url);
  const sender = new Sender(urls, history, options.random.fork());
  const mix = new Mix(sender, organizations, options.random.fork(), requestsPerSecond);
  const openLoop =
    measuredPerSecond === 0
      ? undefined
      : new OpenLoop(sender, organizations, { history, random: options.random.fork(), perSecond: measuredPerSecond });
  const unsettled = new Set<Promise<unknown>>();
  const abort = new AbortController();
  let failure: unknown;
  const follow = (scenario: Promise<unknown>) => {
    const followed = scenario.catch((error: unknown) => (failure ??= error)).finally(() => unsettled.delete(followed));
    unsettled.add(followed);
  };

  let lastTick = performance.now();
  let due = 0;
  let isPaused = false;
  const timer = setInterval(() => {
    if (isPaused) return;
    const now = performance.now();
    const elapsed = now - lastTick;
    lastTick = now;
    if (elapsed > STALL_MS) history.write({ type: 'stall', at: history.now(), ms: Math.round(elapsed) });
    due = Math.min(due + (elapsed * requestsPerSecond) / 1_000, (BURST_MS * requestsPerSecond) / 1_000);
    for (; due >= 1 && sender.hasRoom && unsettled.size < UNSETTLED_MAX; due -= 1) follow(mix.next(abort.signal));
    // These are sent whether there is room or not: a measure that waits for the measured would say that all is well.
    for (const request of openLoop?.next(abort.signal) ?? []) follow(request);
  }, TICK_MS);

  return {
    organizations,
    async pause() {
      isPaused = true;
      const deadline = performance.now() + SETTLE_SECONDS_MAX * 1_000;
      while (unsettled.size > 0 && performance.now() < deadline) await delay(50);
      await delay(IDLE_MS);
    },
    resume() {
      lastTick = performance.now();
      openLoop?.begin();
      isPaused = false;
    },
    calmMs: () => sender.calmMs,
    probe: (signal) => probe(sender, organizations, options.random.fork(), signal),
    race: (api) => follow(mix.race(api, abort.signal)),
    async stop() {
      clearInterval(timer);
      follow(mix.finish(abort.signal));
      await settled(unsettled, abort);
      sender.close();
      if (failure !== undefined) throw failure;
    },
  };
}

/** A connection on which nothing is asked is closed by then; see http-client.ts. */
const IDLE_MS = 500;

/** After this a system that is whole again should have answered whatever it was asked. */
const SETTLE_SECONDS_MAX = 120;

async function settled(unsettled: ReadonlySet<Promise<unknown>>, abort: AbortController): Promise<void> {
  const deadline = performance.now() + SETTLE_SECONDS_MAX * 1_000;
  while (unsettled.size > 0 && performance.now() < deadline) await delay(50);
  abort.abort();
  await Promise.all(unsettled);
}
