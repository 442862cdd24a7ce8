// What the process that makes the load is told, and what it tells back.

/** Requests to make, on connections that always have exactly one under way. */
export interface LoadPlan {
  url: string;
  path: string;
  headers: Record<string, string>;
  meterToken: string;
  /** 1: the body is one event; more: it is a batch of that many. */
  eventsPerRequest: number;
  connections: number;
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
  /** Milliseconds from writing a request to having its whole answer, within the time. */
  latencyMs: { p50: number; p99: number; p999: number };
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

export type LoadMessage = LoadEnded | LoadResult;
