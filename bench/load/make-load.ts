import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { bodiesOf } from './bodies.ts';
import { Connection, type Answer } from './connection.ts';
import { DueRequests } from './due-requests.ts';
import type { LoadPlan, LoadResult } from './plan.ts';
import type { Tell } from './take-plans.ts';

/** How long requests that are under way at the end, or due and not sent, are waited for. */
const ANSWER_SECONDS_MAX = 20;

const PROGRESS_MS = 1_000;

/** What a latency is written down as at most. */
const LONGEST_MS = 60_000;

/** The shortest that a timer waits. A request goes out up to so much after it was due; its latency counts that too. */
const DUE_TICK_MS = 1;

/**
 * Makes the load of a plan. Tells how far it is every second, and when the time is over; returns when the last request is
 * answered.
 */
export async function runLoad(plan: LoadPlan, tell: Tell): Promise<LoadResult> {
  const load = new Load(plan);
  const lanes = await Promise.all(Array.from({ length: plan.connections }, (_, index) => load.open(index)));
  tell({ kind: 'began' });
  const startedAt = performance.now();
  const secondsSoFar = () => (performance.now() - startedAt) / 1_000;
  const progress = setInterval(
    () => tell({ kind: 'progress', accepted: load.accepted, seconds: secondsSoFar() }),
    PROGRESS_MS,
  );
  const stopSending = load.start(lanes, startedAt);
  await delay(plan.seconds * 1_000);
  load.isOver = true;
  const seconds = secondsSoFar();
  clearInterval(progress);
  tell({ kind: 'ended' });

  const deadline = Date.now() + ANSWER_SECONDS_MAX * 1_000;
  while (load.left > 0 && Date.now() < deadline) await delay(5);
  stopSending();
  for (const lane of lanes) lane.close();
  // A connection that was just ended in the middle of a request says so in a later turn.
  while (load.underWay > 0) await delay(5);
  return load.result(seconds);
}

interface Lane {
  /** Sends a request; its latency counts from `since`. */
  send(since: number): void;
  close(): void;
}

class Load {
  readonly #plan: LoadPlan;
  /** One for each caller and each address. */
  readonly #heads: string[][];
  readonly #nextBody: ReturnType<typeof bodiesOf>;
  readonly #latency = createHistogram({ lowest: 1, highest: LONGEST_MS * 1_000, figures: 3 });
  readonly #total = { requests: 0, accepted: 0, acceptedQuantity: 0, unclear: 0 };
  readonly #errors: Record<string, number> = {};
  #firstError: string | undefined;
  #due: DueRequests | undefined;
  /** Connections without a request under way, where requests are due by a rate. */
  readonly #idle: Lane[] = [];
  /** Answers that come from now on are counted as events, and not as performance. */
  isOver = false;
  underWay = 0;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#heads = plan.urls.map((url) => plan.callers.map(({ apiKey }) => headOf(url, plan.path, apiKey)));
    this.#nextBody = bodiesOf(plan.callers, plan.customers, plan.eventsPerRequest);
  }

  get accepted(): number {
    return this.#total.accepted;
  }

  /** Requests without an answer, also those that are due and not sent. */
  get left(): number {
    return this.underWay + (this.#due?.left ?? 0);
  }

  /** A connection to one of the addresses in turn. One that breaks is not opened again. */
  async open(index: number): Promise<Lane> {
    const { urls } = this.#plan;
    const { hostname, port } = new URL(urls[index % urls.length] ?? '');
    const heads = this.#heads[index % urls.length] ?? [];
    let since = 0;
    let quantity = 0;
    const connection = await Connection.open(Number(port), hostname, (answer) => {
      this.underWay -= 1;
      this.#count(answer, since, quantity);
      if (connection.isOpen) this.#goOn(lane);
    });
    const lane: Lane = {
      send: (from) => {
        const body = this.#nextBody();
        quantity = body.quantity;
        since = from;
        this.underWay += 1;
        connection.send(`${heads[body.caller]}${body.text.length}\r\n\r\n${body.text}`);
      },
      close: () => connection.close(),
    };
    return lane;
  }

  /** Begins to send on all lanes; what it returns ends that. */
  start(lanes: Lane[], startedAt: number): () => void {
    const { requestsPerSecond, seconds } = this.#plan;
    if (requestsPerSecond === null) {
      for (const lane of lanes) lane.send(performance.now());
      return () => {};
    }
    this.#due = new DueRequests(startedAt, requestsPerSecond, seconds);
    this.#idle.push(...lanes);
    const timer = setInterval(() => this.#sendDue(), DUE_TICK_MS);
    return () => {
      clearInterval(timer);
      this.#idle.length = 0;
    };
  }

  #goOn(lane: Lane): void {
    if (this.#due === undefined) {
      if (!this.isOver) lane.send(performance.now());
      return;
    }
    // At the end of the line: requests are spread evenly over the connections, and so over the processes behind them.
    this.#idle.push(lane);
    this.#sendDue();
  }

  #sendDue(): void {
    const now = performance.now();
    while (this.#idle.length > 0) {
      const dueAt = this.#due?.take(now);
      if (dueAt === undefined) return;
      this.#idle.shift()?.send(dueAt);
    }
  }

  #count({ status, text }: Answer, since: number, quantity: number): void {
    // Where requests are due by a rate, those that are answered late are what has to be seen.
    // A refusal is no quick answer: it counts as the longest there is.
    if (!this.isOver || this.#due !== undefined) this.#time(status === 201 ? performance.now() - since : LONGEST_MS);
    if (status === 201) {
      if (!this.isOver) this.#total.requests += 1;
      this.#total.accepted += this.#plan.eventsPerRequest;
      this.#total.acceptedQuantity += quantity;
      return;
    }
    const name = status === 0 ? 'broken' : String(status);
    this.#errors[name] = (this.#errors[name] ?? 0) + 1;
    this.#total.unclear += this.#plan.eventsPerRequest;
    this.#firstError ??= text.slice(0, 500);
  }

  #time(milliseconds: number): void {
    this.#latency.record(Math.max(1, Math.round(milliseconds * 1_000)));
  }

  result(seconds: number): LoadResult {
    const due = this.#due;
    const unsent = due?.left ?? null;
    const now = performance.now();
    for (let dueAt = due?.take(now); dueAt !== undefined; dueAt = due?.take(now)) this.#time(now - dueAt);
    const milliseconds = (percentile: number) => this.#latency.percentile(percentile) / 1_000;
    return {
      kind: 'result',
      ...this.#total,
      seconds,
      latencyMs: { p50: milliseconds(50), p99: milliseconds(99), p999: milliseconds(99.9) },
      due: due?.total ?? null,
      unsent,
      errors: this.#errors,
      firstError: this.#firstError,
    };
  }
}

function headOf(url: string, path: string, apiKey: string): string {
  const headers = { host: new URL(url).host, 'content-type': 'application/json', 'x-api-key': apiKey };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}content-length: `;
}
