// How much of a process one caller may take up with reading and admin requests. All callers share the event loop and the
// connections to Postgres: one widget that asks for large charts on four connections would make all tracking wait.
// Each process counts for itself, which costs no round trip.

import { Refusal } from '@weir/shared/errors';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { isHungUp, type Connections } from '../connection/connections.ts';
import type { Pressure } from './pressure.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Charges the caller for that many buckets of a chart. The next of its requests waits until they are paid for. */
    pay(buckets: number): void;
  }
  interface FastifyContextConfig {
    /** A read of a few rows that services wait for before they do anything: it has a budget of its own, apart from charts. */
    isQuickRead?: boolean;
  }
}

export interface ReadBudgetOptions {
  /** Requests of one caller that are worked on at the same time. */
  underWayMax: number;
  /** Connections to Postgres that all callers share. */
  connections: number;
  /** Buckets of charts that one caller may ask for in a second, and so many more for each request. */
  bucketsPerSecond: number;
  /** Requests of all callers that wait at the same time. No organization has more of them waiting than there is room left. */
  waitingMax: number;
  /** Milliseconds. */
  now?: () => number;
}

/** The cost of a request apart from its buckets: to look its caller up, to ask Postgres and to answer, in buckets of a chart. */
const REQUEST_COST = 100;

/** The cost of a change that stops recording for a moment, such as a new alert, in buckets of a chart: it may not be made on and on. */
export const RECORDING_STOP_COST = 5_000;

/** An answer costs at least a bucket for so many bytes, which is what a bucket of a chart has as JSON. */
export const BYTES_OF_BUCKET = 100;

/** What a request counts for, and how many of a caller's are worked on at once. */
interface Manner {
  cost: number;
  underWayMax: (options: Pick<ReadBudgetOptions, 'underWayMax' | 'connections'>) => number;
}

const READ: Manner = { cost: REQUEST_COST, underWayMax: ({ underWayMax }) => underWayMax };

/** It takes some 2 ms of a connection and a fifth of what a chart takes of the event loop. */
export const QUICK_READ: Manner = { cost: REQUEST_COST / 5, underWayMax: ({ underWayMax }) => 3 * underWayMax };

/**
 * All requests of an organization, which has budgets of its own for charts, for quick reads and for its customers: together they have
 * half of the connections. They would have all of them, for as long as Postgres takes over what each asks for. Where half of them is
 * too few, they have one more than the charts of its own people and those of its customers may take: a quick read waits for no chart.
 * One connection is left to others in any case, unless one caller alone is given all.
 */
export const ALTOGETHER: Manner = {
  cost: 0,
  underWayMax: ({ underWayMax, connections }) => {
    const most = Math.max(2 * underWayMax + 1, Math.floor(connections / 2));
    return Math.max(underWayMax, Math.min(most, connections - 1));
  },
};

/** Who was quiet for this long has saved up enough for a page of charts, and for a few who open one at the same time. */
const SAVED_SECONDS = 2.5;

/** For each request that is worked on this many may wait: a page may ask for all of its charts at once. */
const WAITING_FACTOR = 20;

/** Nobody looks at a page for longer than this while nothing comes. It is for all budgets of a request together. */
const WAIT_MS_MAX = 5_000;

/** How often those who have asked for nothing lately are forgotten. */
const FORGET_MS = 1_000;

interface Waiting {
  goOn: () => void;
  refuse: () => void;
}

/** Who waits, where that is not the caller by itself. */
export interface WaitOptions {
  /** Whose requests are counted together while they wait. By default the caller. */
  organization?: string;
  /** Ends the wait: nobody is there any more for whom to go on. */
  signal?: AbortSignal;
  /** How long it waits at most, where it has waited for something else before. */
  msMax?: number;
}

interface Account {
  manner: Manner;
  underWay: number;
  /** In the order they came. */
  waiting: Waiting[];
  /** Buckets, as of `countedAt`. Below 0 while more was asked for than there was. */
  credit: number;
  countedAt: number;
  timer: NodeJS.Timeout | undefined;
}

/** Counts what each caller has under way, and what it has asked for lately. */
export class ReadBudget {
  readonly #options: Required<ReadBudgetOptions>;
  readonly #accounts = new Map<string, Account>();
  /** By organization. */
  readonly #waitingOf = new Map<string, number>();
  #waiting = 0;
  #forgotAt = 0;

  constructor(options: ReadBudgetOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** Callers that are remembered. */
  get callers(): number {
    return this.#accounts.size;
  }

  /** Requests that wait, of all callers. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Begins a request if the caller may have another one worked on now, and returns what ends it. A caller always comes in the same manner. */
  tryEnter(caller: string, manner = READ): (() => void) | undefined {
    const account = this.#account(caller, manner);
    if (account.waiting.length > 0 || !this.#mayGoOn(account)) return undefined;
    begin(account);
    return () => this.#end(account);
  }

  /**
   * Waits until the caller may have another request worked on, and returns what ends it. Throws a Refusal where too many wait
   * already, when this one has waited for too long, or when it is told to stop.
   */
  async enter(caller: string, manner = READ, options: WaitOptions = {}): Promise<() => void> {
    const { organization = caller } = options;
    const end = this.tryEnter(caller, manner);
    if (end !== undefined) return end;
    const account = this.#account(caller, manner);
    const ofOrganization = this.#waitingOf.get(organization) ?? 0;
    // So whoever comes next finds room, however many have come before.
    if (ofOrganization >= this.#options.waitingMax - this.#waiting) throw this.#tooMuch(account);
    this.#countWaiting(organization, 1);
    try {
      await this.#wait(account, options);
    } finally {
      this.#countWaiting(organization, -1);
    }
    return () => this.#end(account);
  }

  #countWaiting(organization: string, change: 1 | -1): void {
    this.#waiting += change;
    const waiting = (this.#waitingOf.get(organization) ?? 0) + change;
    if (waiting === 0) this.#waitingOf.delete(organization);
    else this.#waitingOf.set(organization, waiting);
  }

  #end(account: Account): void {
    account.underWay -= 1;
    this.#letOn(account);
  }

  /** Charges a caller that has entered. */
  pay(caller: string, buckets: number): void {
    this.#account(caller).credit -= buckets;
  }

  #account(caller: string, manner = READ): Account {
    const now = this.#options.now();
    const known = this.#accounts.get(caller);
    if (known !== undefined) return this.#count(known, now);
    this.#forget(now);
    const credit = this.#creditMax;
    const account: Account = { manner, underWay: 0, waiting: [], credit, countedAt: now, timer: undefined };
    this.#accounts.set(caller, account);
    return account;
  }

  get #creditMax(): number {
    return this.#options.bucketsPerSecond * SAVED_SECONDS;
  }

  #count(account: Account, now: number): Account {
    const earned = ((now - account.countedAt) / 1_000) * this.#options.bucketsPerSecond;
    account.credit = Math.min(this.#creditMax, account.credit + earned);
    account.countedAt = now;
    return account;
  }

  /** Whoever has all of its credit and nothing under way is like one that never came. */
  #forget(now: number): void {
    if (now - this.#forgotAt < FORGET_MS) return;
    this.#forgotAt = now;
    for (const [caller, account] of this.#accounts) {
      const isIdle = account.underWay === 0 && account.waiting.length === 0;
      if (isIdle && this.#count(account, now).credit === this.#creditMax) this.#accounts.delete(caller);
    }
  }

  #mayGoOn(account: Account): boolean {
    return account.underWay < this.#underWayMax(account) && account.credit > 0;
  }

  #underWayMax({ manner }: Account): number {
    return manner.underWayMax(this.#options);
  }

  #wait(account: Account, { signal, msMax = WAIT_MS_MAX }: WaitOptions): Promise<void> {
    if (account.waiting.length >= this.#underWayMax(account) * WAITING_FACTOR) {
      return Promise.reject(this.#tooMuch(account));
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        goOn() {
          clearTimeout(timer);
          signal?.removeEventListener('abort', waiting.refuse);
          begin(account);
          resolve();
        },
        refuse: () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', waiting.refuse);
          account.waiting.splice(account.waiting.indexOf(waiting), 1);
          reject(this.#tooMuch(account));
        },
      };
      const timer = setTimeout(() => waiting.refuse(), msMax);
      signal?.addEventListener('abort', waiting.refuse);
      account.waiting.push(waiting);
      this.#letOn(account);
    });
  }

  /** Lets one on at a time: what it costs is only known once it has begun. */
  #letOn(account: Account): void {
    this.#count(account, this.#options.now());
    if (this.#mayGoOn(account)) {
      account.waiting.shift()?.goOn();
      if (account.waiting.length > 0) this.#lookAgain(account, 0);
    } else if (this.#msInDebt(account) > WAIT_MS_MAX) {
      // They would wait in vain.
      while (account.waiting.length > 0) account.waiting[0]?.refuse();
    } else if (account.waiting.length > 0 && account.underWay < this.#underWayMax(account)) {
      this.#lookAgain(account, this.#msInDebt(account));
    }
  }

  #lookAgain(account: Account, ms: number): void {
    account.timer ??= setTimeout(() => {
      account.timer = undefined;
      this.#letOn(account);
    }, ms);
  }

  #msInDebt({ credit }: Account): number {
    return Math.max(0, Math.ceil((-credit / this.#options.bucketsPerSecond) * 1_000)) + 1;
  }

  #tooMuch(account: Account): Refusal {
    const retryAfterSeconds = Math.ceil(this.#msInDebt(account) / 1_000);
    const detail = `More is asked for at the same time than one caller may: try again in ${retryAfterSeconds} s, with fewer requests at once, or less in each.`;
    return new Refusal('rate_limited', detail, { retryAfterSeconds });
  }
}

/** Counted at once: who is let on next is decided before the request that was let on hears of it. */
function begin(account: Account): void {
  account.underWay += 1;
  account.credit -= account.manner.cost;
}

/**
 * Gives each caller its budget, on every route but those of tracking and of health. Has to be set up before the routes. A
 * request counts for as long as it is worked on, also when its client has gone. While it waits it holds no slot of those that
 * all callers share, and it stops waiting when its client goes.
 */
export function useReadBudget(
  app: FastifyInstance,
  { connections, pressure }: { connections: Connections; pressure: Pressure },
  options: ReadBudgetOptions,
): ReadBudget {
  const budget = new ReadBudget(options);
  const paid = new WeakMap<FastifyRequest, number>();
  const pay = (request: FastifyRequest, buckets: number): void => {
    paid.set(request, (paid.get(request) ?? 0) + buckets);
    for (const caller of callersOf(request)) budget.pay(caller, buckets);
  };
  app.decorateRequest('pay', function payAhead(this: FastifyRequest, buckets: number) {
    pay(this, buckets);
  });
  app.addHook('onSend', (request, _reply, payload, done) => {
    const before = paid.get(request);
    if (before !== undefined) {
      const rest = lengthOf(payload) / BYTES_OF_BUCKET - REQUEST_COST - before;
      if (rest > 0) pay(request, rest);
    }
    done();
  });
  const waits = new WeakMap<FastifyRequest, AbortController>();
  connections.onEnd((request, _reply, hasHungUp) => {
    if (hasHungUp) waits.get(request)?.abort();
  });
  const wait = async (
    request: FastifyRequest,
    [caller, manner]: [caller: string, manner: Manner],
    msMax: number,
  ): Promise<() => void> => {
    if (isHungUp(request))
      throw new Refusal('malformed_request', 'The connection was closed before its turn had come.');
    const controller = new AbortController();
    waits.set(request, controller);
    const { organizationId: organization } = request.caller;
    return await budget.enter(caller, manner, { organization, signal: controller.signal, msMax });
  };
  const within = new WeakSet();
  app.addHook('onRoute', (route: RouteOptions) => {
    // The route of HEAD is made of that of GET, which is within its budget already.
    if (within.has(route.handler)) return;
    if ((route.config?.traffic ?? 'other') !== 'other' || !route.url.startsWith('/api/')) return;
    const { handler } = route;
    const isQuick = route.config?.isQuickRead === true;
    route.handler = async function withinBudget(request, reply) {
      const leave: (() => void)[] = [];
      const began = performance.now();
      try {
        for (const each of budgetsOf(request, isQuick)) {
          const end = budget.tryEnter(...each);
          const msLeft = WAIT_MS_MAX - (performance.now() - began);
          if (end !== undefined) leave.push(end);
          else await pressure.aside(request, async () => leave.push(await wait(request, each, msLeft)));
        }
        // Only of these are the answers paid for: quick reads have few rows, and a budget apart.
        if (!isQuick) paid.set(request, 0);
        return await handler.call(this, request, reply);
      } finally {
        for (const each of leave) each();
      }
    };
    within.add(route.handler);
  });
  return budget;
}

/** In whose budgets a request has a place while it is worked on. That of all comes last: whoever waits for another one takes none of it. */
function budgetsOf(request: FastifyRequest, isQuick: boolean): [caller: string, manner: Manner][] {
  const callers = callersOf(request);
  if (callers.length === 0) return [];
  const own = callers.map((each): [string, Manner] => (isQuick ? [`${each} quick`, QUICK_READ] : [each, READ]));
  return [...own, [`${request.caller.organizationId} altogether`, ALTOGETHER]];
}

/** Near enough: most of an answer is ASCII. A stream is not known. */
function lengthOf(payload: unknown): number {
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
}

/**
 * Those whose budget a request is part of: an organization with its keys and sessions; or one customer with its widget tokens,
 * and with it the customers of that organization all together, so that they do not take up what its own people ask for.
 */
function callersOf({ caller }: FastifyRequest): string[] {
  // Null where a route has no guard: to sign in has limits of its own.
  if ((caller as typeof caller | null) === null) return [];
  const { organizationId, customerExternalId } = caller;
  if (customerExternalId === undefined) return [organizationId];
  return [`${organizationId} customer ${customerExternalId}`, `${organizationId} customers`];
}
