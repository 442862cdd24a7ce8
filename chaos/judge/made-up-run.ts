// A small run made up for the tests of the judge: what was sent and answered, and a Weir that did everything right. A test
// then spoils one thing.

import { createHash } from 'node:crypto';
import type { FaultLine, HistoryLine, Operation, SentEvent } from '../history.ts';
import { keyName, type Facts } from './history-facts.ts';
import { FactReader } from './read-history.ts';
import { StateIndex, emptyState, type StoredEvent } from './stored-state.ts';

/** Meters of each organization, by index. */
export const SUM = 0;
export const UNIQUE_COUNT = 1;

const HOUR = '2026-11-20T10';

/** How a request went; the rest is as in a request that tracks. */
export interface Exchange {
  status?: number;
  body?: unknown;
  why?: 'timeout' | 'reset' | 'refused' | 'closed';
  connection?: 'new' | 'kept';
  operation?: Operation;
  organization?: number;
  api?: number;
  at?: number;
  tookMs?: number;
  subject?: string;
  expect?: number[];
  retryAfter?: string;
  due?: number;
}

/** An id whose time of receipt is the start of the hour of all these events, told apart by its last digits. */
export function idOf(number: number): string {
  const ms = Date.parse(`${HOUR}:00:00.000Z`).toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-${String(number).padStart(12, '0')}`;
}

/** An event of the SUM meter, unless it says otherwise. */
export function eventOf(key: string, more: Partial<SentEvent> = {}): SentEvent {
  return { key, meter: SUM, customer: 'acme', quantity: '0.1', timestamp: `${HOUR}:15:00.000Z`, ...more };
}

export class MadeUpRun {
  readonly state = emptyState();
  readonly #lines: HistoryLine[] = [];
  #requests = 0;
  #clock = 0;

  constructor() {
    for (const index of [0, 1]) {
      this.#lines.push({
        type: 'organization',
        at: 0,
        index,
        id: `organization-${index}`,
        session: '',
        apiKey: '',
        meters: [
          { id: `sum-${index}`, token: `sum-token-${index}`, aggregation: 'SUM' },
          { id: `unique-${index}`, token: `unique-token-${index}`, aggregation: 'UNIQUE_COUNT' },
        ],
        customers: [{ id: `customer-${index}`, externalId: 'acme' }],
        plans: [],
        endpoints: [],
        alerts: [],
      });
    }
  }

  /** A request and how it went, one after another unless `at` says when. */
  exchange(events: SentEvent[], exchange: Exchange): this {
    const {
      organization = 0,
      api = 0,
      operation = 'track',
      tookMs = 5,
      expect = [201, 409, 422],
      subject,
      due,
    } = exchange;
    this.#requests += 1;
    const request = this.#requests;
    const at = exchange.at ?? (this.#clock += 10);
    const sent = { type: 'sent', at, request, api, organization, operation, events, expect } as const;
    this.#lines.push({ ...sent, ...(subject !== undefined && { subject }), ...(due !== undefined && { due }) });
    const { status, body, retryAfter, why, connection = 'kept' } = exchange;
    const end = { at: at + tookMs, request, attempt: 1 };
    if (why !== undefined) this.#lines.push({ type: 'unanswered', ...end, why, connection });
    else if (status !== undefined) {
      const answered = { type: 'answered', ...end, status, body } as const;
      this.#lines.push(retryAfter === undefined ? answered : { ...answered, retryAfter });
    }
    return this;
  }

  /** An event that is accepted with this id. */
  accept(event: SentEvent, id: string, organization = 0): this {
    return this.exchange([event], { status: 201, body: { id }, organization });
  }

  /** Anything else that a history may hold. */
  line(line: HistoryLine): this {
    this.#lines.push(line);
    return this;
  }

  fault(fault: Partial<FaultLine>): this {
    this.#lines.push({ type: 'fault', at: 0, until: 0, kind: 'kill', target: 'redis', ...fault });
    return this;
  }

  /** When an API recorded events directly, as its log says. */
  direct(at: number, until: number): this {
    this.#lines.push({ type: 'direct way', api: 'api-0', at, until });
    return this;
  }

  /** What a worker writes for an event that counts. */
  record(event: SentEvent, id: string, organization = 0): this {
    this.state.events.push(storedOf(event, id, organization));
    if (event.key !== undefined) this.state.keys.set(hashOf(`organization-${organization}${event.key}`), id);
    return this;
  }

  reject(event: SentEvent, id: string, organization = 0): this {
    this.state.rejected.push(storedOf(event, id, organization));
    return this;
  }

  duplicate(id: string, duplicateOf: string, organization = 0): this {
    this.state.duplicates.push({ id, organization, duplicateOf });
    return this;
  }

  get facts(): Facts {
    const reader = new FactReader();
    for (const line of this.#lines) reader.take(line);
    return reader.finish();
  }

  get index(): StateIndex {
    return new StateIndex(this.state, (event) => keyName(event.organization, event));
  }
}

export function storedOf(event: SentEvent, id: string, organization = 0): StoredEvent {
  const timestamp = (event.timestamp ?? `${HOUR}:00:00.000Z`).replace(/\.(\d{3})Z$/, '.$1000Z');
  return { ...event, id, organization, timestamp };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
