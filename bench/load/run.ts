import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { bodiesOf } from './bodies.ts';
import { Connection, type Answer } from './connection.ts';
import type { LoadPlan, LoadResult } from './plan.ts';

/** How long requests that are under way at the end are waited for. */
const ANSWER_SECONDS_MAX = 20;

/**
 * Makes the load of a plan: each connection sends its next request when it has the answer to the last. Calls `onEnded`
 * when the time is over, and answers when the last request is answered.
 */
export async function runLoad(plan: LoadPlan, onEnded: () => void): Promise<LoadResult> {
  const load = new Load(plan);
  const lanes = await Promise.all(Array.from({ length: plan.connections }, () => load.open()));
  const startedAt = performance.now();
  for (const lane of lanes) lane.send();
  await delay(plan.seconds * 1_000);
  load.isOver = true;
  const seconds = (performance.now() - startedAt) / 1_000;
  onEnded();

  const deadline = Date.now() + ANSWER_SECONDS_MAX * 1_000;
  while (load.underWay > 0 && Date.now() < deadline) await delay(5);
  for (const lane of lanes) lane.close();
  // A connection that was just ended in the middle of a request says so in a later turn.
  while (load.underWay > 0) await delay(5);
  return load.result(seconds);
}

interface Lane {
  send(): void;
  close(): void;
}

class Load {
  readonly #plan: LoadPlan;
  readonly #head: string;
  readonly #nextBody: ReturnType<typeof bodiesOf>;
  readonly #latency = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
  readonly #total = { requests: 0, accepted: 0, acceptedQuantity: 0, unclear: 0 };
  readonly #errors: Record<string, number> = {};
  #firstError: string | undefined;
  /** Answers that come from now on are counted as events, and not as performance. */
  isOver = false;
  underWay = 0;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    const headers = { host: new URL(plan.url).host, 'content-type': 'application/json', ...plan.headers };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#head = `POST ${plan.path} HTTP/1.1\r\n${lines.join('')}content-length: `;
    this.#nextBody = bodiesOf(plan.meterToken, plan.eventsPerRequest);
  }

  /** A connection that keeps one request under way until the time is over. One that breaks is not opened again. */
  async open(): Promise<Lane> {
    const { hostname, port } = new URL(this.#plan.url);
    let sentAt = 0;
    let quantity = 0;
    const connection = await Connection.open(Number(port), hostname, (answer) => {
      this.underWay -= 1;
      this.#count(answer, sentAt, quantity);
      if (!this.isOver && connection.isOpen) send();
    });
    const send = () => {
      const body = this.#nextBody();
      quantity = body.quantity;
      this.underWay += 1;
      sentAt = performance.now();
      connection.send(`${this.#head}${body.text.length}\r\n\r\n${body.text}`);
    };
    return { send, close: () => connection.close() };
  }

  #count({ status, text }: Answer, sentAt: number, quantity: number): void {
    if (!this.isOver) this.#latency.record(Math.max(1, Math.round((performance.now() - sentAt) * 1_000)));
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

  result(seconds: number): LoadResult {
    const milliseconds = (percentile: number) => this.#latency.percentile(percentile) / 1_000;
    return {
      kind: 'result',
      ...this.#total,
      seconds,
      latencyMs: { p50: milliseconds(50), p99: milliseconds(99), p999: milliseconds(99.9) },
      errors: this.#errors,
      firstError: this.#firstError,
    };
  }
}
