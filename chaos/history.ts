// What was sent, what came back and what was done to the system, one JSON line each, in the order it happened. The judge
// reads nothing of the clients but this file, so a run can be judged again, and by other people.

import type { AggregationType } from '@weir/shared/meter';
import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

/** Milliseconds since the run began, by the clock of the process that makes the faults. */
type At = number;

/** An event as a client sent it: everything that is needed to send it again, and to know it in Postgres. */
export interface SentEvent {
  /** The idempotency key. */
  key?: string;
  /** In `metadata.mark`, of an event without a key: it is sent once, and known by this. */
  mark?: string;
  /** Index of the meter within its organization; -1 for a token that no meter has. */
  meter: number;
  customer: string;
  /** The digits as they stand in the body. */
  quantity: string;
  timestamp?: string;
  /** Counted by a UNIQUE_COUNT meter, which rejects an event without it. */
  userId?: string | number;
  /** What some meters group usage by. */
  region?: string;
}

/** One organization of the run, made before the faults begin. `index` is how the other lines name it. */
export interface OrganizationLine {
  type: 'organization';
  at: At;
  index: number;
  id: string;
  session: string;
  /** Reads and writes. */
  apiKey: string;
  meters: { id: string; token: string; aggregation: AggregationType }[];
  customers: { id: string; externalId: string }[];
  /**
   * The ids of the plans that it bills by; none where it bills nothing. By the last one a unit of the meter of sums costs 1, and no other
   * usage costs anything.
   */
  plans: string[];
  /** Where its webhooks go, from its first event on. */
  endpoints: EndpointFact[];
  /** Held against its usage, from its first event on. */
  alerts: AlertFact[];
}

/** An alert. */
export interface AlertFact {
  id: string;
  /** Index of the meter whose usage it watches; null: what usage comes to. */
  meter: number | null;
  /** The external id; null: all. */
  customer: string | null;
  thresholds: readonly string[];
}

/** An endpoint of webhooks. */
export interface EndpointFact {
  id: string;
  /** In its URL. */
  name: string;
  receiver: string;
  secret: string;
  /** Null: all. */
  eventTypes: readonly string[] | null;
}

/** What a request is for, as far as the judge has to know. */
export type Operation =
  | 'track'
  | 'batch'
  | 'refusal'
  | 'replay'
  | 'correct'
  | 'receipt'
  | 'usage'
  | 'list'
  | 'cross-read'
  | 'create-key'
  | 'delete-key'
  | 'create-customer'
  | 'delete-customer'
  | 'billing'
  | 'billing-read'
  | 'feed'
  | 'recompute';

/** Whether an answer asks to come back: something that is needed is away, or more is asked for at once than a caller may. */
export function isForNow(status: number): boolean {
  return status === 503 || status === 429;
}

/** The first attempt of a request. */
export interface SentLine {
  type: 'sent';
  at: At;
  /** Counts the requests of the run. All attempts of one carry the same body. */
  request: number;
  /** Which API process it goes to. */
  api: number;
  organization: number;
  operation: Operation;
  /** Of `track`, `batch` and those refusals that name an event; of `replay` and `correct`, what the event is to be. */
  events?: SentEvent[];
  /** The statuses that this request may be answered with by a system that is whole. */
  expect: number[];
  /** What is read, replayed, corrected or deleted: the id of an event, a meter's index, the id of a key. */
  subject?: string;
  /** The process cannot answer from memory, because it has never seen the key or the meter. */
  asksPostgres?: true;
  /** When it was to be sent, of a request that measures how long tracking takes. */
  due?: At;
}

/** A further attempt of a request. */
export interface RetriedLine {
  type: 'retried';
  at: At;
  request: number;
  attempt: number;
  api: number;
}

export interface AnsweredLine {
  type: 'answered';
  at: At;
  request: number;
  attempt: number;
  status: number;
  retryAfter?: string;
  /** The JSON of the answer, or its text where it is none; of long lists only what the judge asks for. */
  body?: unknown;
}

/** No answer came: the client's time-out, or a connection that broke. */
export interface UnansweredLine {
  type: 'unanswered';
  at: At;
  request: number;
  attempt: number;
  why: 'timeout' | 'reset' | 'refused' | 'closed';
  /** Whether the connection was made for this attempt; one that was kept had reached the process before. */
  connection: 'new' | 'kept';
  detail?: string;
}

/** One fault that was injected. Written when it is over. */
export interface FaultLine {
  type: 'fault';
  /** When it began and when what was done had been undone (the process ran again, the edge was whole). */
  at: At;
  until: At;
  /** Milliseconds from the undoing until the system was seen to accept and record again. */
  recoveredAfter?: number;
  kind: string;
  /** `api-0`, `worker-1`, `redis`, `postgres`, or an edge such as `client>api-0`, `api-0>redis`; several with commas between. */
  target: string;
  /** What else is known, such as how many bytes were cut. */
  detail?: string;
  /** True when the memory of Redis was lost, so that claims made before may be gone. */
  losesClaims?: boolean;
  /** True when what the door had counted was kept all the same. */
  keepsCounts?: boolean;
  /** The ids of the events that only the lost part of Redis held. */
  lostEvents?: string[];
}

/** A webhook reached its receiver. */
export interface WebhookLine {
  type: 'webhook';
  at: At;
  receiver: string;
  /** By its name. */
  endpoint: string;
  /** Its headers. */
  id: string;
  timestamp: string;
  signature: string;
  body: string;
  /** What it was answered; null: nothing. */
  status: number | null;
}

/** All that was to be sent to receivers of webhooks was sent, or was waited for long enough. */
interface DeliveredLine {
  type: 'delivered';
  at: At;
  /** The last event of each feed by then, by organization. */
  sequences: Record<string, number>;
}

/** What the time of billing was: when it began, and when it was stopped. Between the two it goes evenly. */
export interface BillingTimeLine {
  type: 'billing time';
  at: At;
  /** Milliseconds since 1970, as billing counts them. */
  instant: number;
}

/** Alerts were held against all that had changed, or it was waited for long enough. */
interface LookedLine {
  type: 'looked';
  at: At;
}

/** The process of the clients did nothing for this long until `at`: a busy machine, not Weir. */
export interface StallLine {
  type: 'stall';
  at: At;
  ms: number;
}

/** An API recorded events directly, since Redis did not take them in time: for a fault, or on a busy machine. By its own log. */
export interface DirectWayLine {
  type: 'direct way';
  api: string;
  at: At;
  until: At;
}

/**
 * `calm`: load, and nothing is done to the system. `hostile`: hostile clients are at work, and there are no faults. `load`: all
 * else that comes before the healing.
 */
export type Phase = 'load' | 'calm' | 'hostile' | 'heal' | 'drain' | 'judge';

/** A phase begins, and the one before it is over. */
export interface PhaseLine {
  type: 'phase';
  at: At;
  /** The same in milliseconds since 1970, as the logs have it. */
  time: number;
  phase: Phase;
}

/** What a hostile client signed up for. It is held to nothing, but what it got accepted has to be counted. */
export interface HostileAccount {
  /** How the other lines name it; not an index among the organizations of the honest. */
  index: number;
  /** Its organization. */
  id: string;
  email: string;
  password: string;
  session: string;
  /** Reads and writes. */
  apiKey: string;
  /** The one meter, which counts. */
  meterId: string;
  meterToken: string;
  widgetToken: string;
}

export interface HostileAccountLine extends HostileAccount {
  type: 'hostile-account';
  at: At;
}

/** One kind of hostile client, and what it did from `at` until the last of its requests was over. */
export interface HostileLine {
  type: 'hostile';
  at: At;
  until: At;
  kind: string;
  acts: number;
  /** Acts that were due while too many were under way or too many connections open. */
  leftOut: number;
  bytes: number;
  /** How often it was answered what; `none` where an answer was waited for and did not come. */
  statuses: Record<string, number>;
  /** Events that were answered 201, by account. */
  accepted: Record<number, number>;
  /** Events that may have been accepted, by account: nobody waited for the answer, or it said that it does not know. */
  unsettled: Record<number, number>;
}

/** What an API still held of connections of hostile clients, after these had stopped and before they closed theirs. */
export interface LetGoLine {
  type: 'let go';
  at: At;
  process: string;
  /** At first. */
  held: number;
  /** After the time that the API has for it. */
  left: number;
  afterMs: number;
}

/** As many requests at once as an API may have in flight beside tracking, held until all of them were there. */
export interface SlotsLine {
  type: 'slots';
  at: At;
  process: string;
  slots: number;
  /** Those that were answered 200. */
  served: number;
}

/** What a process uses when nothing is asked of it, after a collection of all garbage. */
export interface ResourceUsageLine {
  type: 'resource usage';
  at: At;
  /** Before the hostile clients, when the honest ones paused; and at the end. */
  when: 'before' | 'after';
  process: string;
  /** In use by objects and buffers. Of Redis: `used_memory`. */
  usedBytes: number;
  /** In memory, as the system sees it; not of Redis. */
  residentBytes?: number;
  /** Open files and sockets, where the system tells. */
  descriptors?: number;
}

export type HistoryLine =
  | HostileAccountLine
  | HostileLine
  | LetGoLine
  | SlotsLine
  | ResourceUsageLine
  | OrganizationLine
  | SentLine
  | RetriedLine
  | AnsweredLine
  | UnansweredLine
  | FaultLine
  | StallLine
  | WebhookLine
  | DeliveredLine
  | BillingTimeLine
  | LookedLine
  | DirectWayLine
  | PhaseLine;

/** Lines that are gathered before the file gets them; a write for each would cost the clients more than their requests. */
const GATHERED_CHARACTERS_MAX = 64 * 1024;

/** Writes the history; nothing is awaited while the run is on. */
export class History {
  readonly path: string;
  readonly #stream: WriteStream;
  readonly #began = performance.now();
  #gathered = '';

  constructor(path: string) {
    this.path = path;
    this.#stream = createWriteStream(path);
  }

  /** Milliseconds since the run began. */
  now(): number {
    return Math.round((performance.now() - this.#began) * 10) / 10;
  }

  /** The same of a moment that another process told by its clock, in milliseconds since 1970. */
  at(epochMs: number): number {
    return this.now() - (Date.now() - epochMs);
  }

  write(line: HistoryLine): void {
    this.writeJson(JSON.stringify(line));
  }

  /** For a line that holds a JSON answer as it came: to parse it only to write it again would cost the clients too much. */
  writeJson(line: string): void {
    this.#gathered += `${line}\n`;
    if (this.#gathered.length < GATHERED_CHARACTERS_MAX) return;
    this.#stream.write(this.#gathered);
    this.#gathered = '';
  }

  async close(): Promise<void> {
    this.#stream.end(this.#gathered);
    await finished(this.#stream);
  }
}
