// What the process that makes the load is told, and what it tells back.

/** Who sends: an API key, and a meter of its organization. */
export interface Caller {
  apiKey: string;
  meterToken: string;
}

/** Requests to make. */
export interface LoadPlan {
  /** Of the processes that take requests; the connections are spread over them. */
  urls: string[];
  path: string;
  /** Each request is of one of them. */
  callers: Caller[];
  /** How many customers the events are of. */
  customers: number;
  /** 1: the body is one event; more: it is a batch of that many. */
  eventsPerRequest: number;
  connections: number;
  seconds: number;
  /**
   * Null: each connection always has exactly one request under way. A number: so many requests are due in each second,
   * whether or not earlier ones were answered; one that finds no free connection waits, and its latency counts from when it
   * was due.
   */
  requestsPerSecond: number | null;
}

/** Sent the moment the time begins; what has to be made ahead is made by then. */
interface LoadBegan {
  kind: 'began';
}

/** Sent every second while the load is made. */
interface LoadProgress {
  kind: 'progress';
  /** Events that were answered with 201 so far. */
  accepted: number;
  /** Seconds since the load began. */
  seconds: number;
}

/** Sent the moment the time is over; requests that are still under way are waited for after that. */
interface LoadEnded {
  kind: 'ended';
}

export interface LoadResult {
  kind: 'result';
  /** Answers with status 201 within the time. */
  requests: number;
  seconds: number;
  /**
   * Milliseconds from writing a request to having its whole answer, within the time. Under a plan with a rate: from when it
   * was due, of every request that was due within the time; one that was never sent has waited until it was given up.
   */
  latencyMs: { p50: number; p99: number; p999: number };
  /** Requests that were due within the time, and how many of them no connection was free for; null without a rate. */
  due: number | null;
  unsent: number | null;
  /** Events answered with 201, those of requests that were answered after the time included. */
  accepted: number;
  /** The sum of their quantities. */
  acceptedQuantity: number;
  /** Events of requests with another answer, or none: they may have been taken or not. */
  unclear: number;
  /** How often which other answer came, by status; `broken` is a connection that ended without one. */
  errors: Record<string, number>;
  /** The text of the first other answer. */
  firstError?: string | undefined;
}

export type LoadMessage = LoadBegan | LoadProgress | LoadEnded | LoadResult;
