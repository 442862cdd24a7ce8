// From the lines of a history to the facts in it, line by line: the file is larger than what fits into one string.

import { createReadStream } from 'node:fs';
import {
  isForNow,
  type AnsweredLine,
  type HistoryLine,
  type Operation,
  type RetriedLine,
  type SentEvent,
  type SentLine,
  type UnansweredLine,
} from '../history.ts';
import { canonical } from './exact.ts';
import {
  emptyFacts,
  keyName,
  underWayUntil,
  type Attempt,
  type Facts,
  type ReplayFact,
  type KeyHistory,
} from './history-facts.ts';

/** A request that may get further attempts. */
interface Open {
  sent: SentLine;
  keyHistories: KeyHistory[];
  payloads: number[];
  attempt: Attempt | undefined;
  replay: ReplayFact | undefined;
}

/** Those whose answers the judge looks into; what an admin only looks at is not among them. */
const BILLING_OPERATIONS: ReadonlySet<Operation> = new Set(['billing', 'feed', 'recompute']);

/** Those whose events are what one that was sent before is to be. */
const ABOUT_AN_EVENT: ReadonlySet<Operation> = new Set(['replay', 'correct']);

interface ProblemBody {
  code?: unknown;
  detail?: unknown;
  outcome?: unknown;
  id?: unknown;
  timestamp?: unknown;
  data?: ProblemBody[];
  status?: unknown;
}

export async function readHistory(path: string): Promise<Facts> {
  const reader = new FactReader();
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1024 * 1024 })) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) reader.take(JSON.parse(line) as HistoryLine);
  }
  return reader.finish();
}

/** Takes the lines of a history in their order. */
export class FactReader {
  readonly #facts = emptyFacts();
  readonly #open = new Map<number, Open>();
  /** Nobody knows of these attempts, and the process may still be at them. */
  readonly #leftOpen: [Attempt, readonly KeyHistory[]][] = [];

  take(line: HistoryLine): void {
    switch (line.type) {
      case 'organization':
        this.#facts.organizations[line.index] = line;
        return;
      case 'sent':
        this.#begin(line);
        return;
      case 'retried':
        this.#retry(line);
        return;
      case 'answered':
      case 'unanswered':
        this.#end(line);
        return;
      case 'fault':
        this.#facts.faults.push(line);
        if (line.losesClaims === true) this.#facts.dataLosses.push(line);
        return;
      case 'stall':
        this.#facts.stalls.push(line);
        return;
      case 'webhook':
        this.#facts.webhooks.push(line);
        return;
      case 'delivered':
        this.#facts.deliveredTo = line.sequences;
        return;
      case 'billing time':
        this.#facts.billingTime.push(line);
        return;
      case 'looked':
        this.#facts.lookedAt = line.at;
        return;
      case 'direct way':
        this.#facts.directWays.push(line);
        return;
      case 'phase':
        this.#facts.phases.push(line);
        return;
      case 'hostile-account':
        this.#facts.hostile.accounts.push(line);
        return;
      case 'hostile':
        this.#facts.hostile.turns.push(line);
        return;
      case 'let go':
        this.#facts.hostile.letGo.push(line);
        return;
      case 'slots':
        this.#facts.hostile.slots.push(line);
        return;
      case 'resource usage':
        this.#facts.hostile.resourceUsage.push(line);
        return;
    }
  }

  finish(): Facts {
    for (const [attempt, keyHistories] of this.#leftOpen) {
      const until = underWayUntil(this.#facts, attempt);
      for (const keyHistory of keyHistories) keyHistory.unclearUntil = Math.max(keyHistory.unclearUntil, until);
    }
    for (const { sent, keyHistories } of this.#open.values()) {
      const isSettled = keyHistories.every((keyHistory) => keyHistory.answers.length > 0 || keyHistory.refused > 0);
      const isKeyed = keyHistories.length > 0 && keyHistories.every((keyHistory) => keyHistory.isKeyed);
      if (isKeyed && !isSettled) this.#facts.unsettled.push({ at: sent.at, what: describe(sent) });
    }
    return this.#facts;
  }

  #begin(sent: SentLine): void {
    const keyHistories: KeyHistory[] = [];
    const payloads: number[] = [];
    for (const event of ABOUT_AN_EVENT.has(sent.operation) ? [] : (sent.events ?? [])) {
      const keyHistory = this.#keyHistoryOf(sent, event);
      keyHistories.push(keyHistory);
      payloads.push(payloadIn(keyHistory, event));
      // Until an answer says more.
      keyHistory.unclear += 1;
    }
    const open: Open = { sent, keyHistories, payloads, attempt: undefined, replay: this.#beginReplay(sent) };
    if (sent.operation === 'correct') this.#beginCorrection(sent);
    this.#open.set(sent.request, open);
    open.attempt = this.#newAttempt(sent, sent);
  }

  #retry(line: RetriedLine): void {
    const open = this.#open.get(line.request);
    if (open === undefined) throw new Error(`request ${line.request} was tried again and never sent`);
    for (const keyHistory of open.keyHistories) keyHistory.unclear += 1;
    open.attempt = this.#newAttempt(open.sent, line);
  }

  #newAttempt(sent: SentLine, { api, at, request }: SentLine | RetriedLine): Attempt {
    const { organization, operation, asksPostgres = false } = sent;
    return { request, organization, api, operation, asksPostgres, sentAt: at, at: Number.NaN, status: 0 };
  }

  #end(line: AnsweredLine | UnansweredLine): void {
    const open = this.#open.get(line.request);
    if (open?.attempt === undefined) throw new Error(`request ${line.request} was answered and never sent`);
    const { attempt } = open;
    attempt.at = line.at;
    this.#facts.attempts.push(attempt);
    if (line.type === 'unanswered') {
      attempt.why = line.why;
      attempt.connection = line.connection;
      // Nothing was sent over a connection that could not be made.
      if (line.why === 'refused') for (const keyHistory of open.keyHistories) moveUnclear(keyHistory, 'notAccepted');
      else this.#leftOpen.push([attempt, open.keyHistories]);
      return;
    }
    attempt.status = line.status;
    if (line.retryAfter !== undefined) attempt.retryAfterSeconds = Number(line.retryAfter);
    this.#examine(open.sent, attempt, line);
    this.#tell(open, attempt, line);
    if (line.status >= 500) this.#leftOpen.push([attempt, open.keyHistories]);
    if (line.status >= 500 || isForNow(line.status)) return;
    // A definite answer is the last one.
    this.#open.delete(line.request);
    const { due } = open.sent;
    if (due !== undefined) this.#facts.measured.push({ due, at: line.at });
  }

  #tell(open: Open, attempt: Attempt, line: AnsweredLine): void {
    const { sent, keyHistories, payloads } = open;
    const body = (typeof line.body === 'object' && line.body !== null ? line.body : {}) as ProblemBody;
    const isBatchAnswer = sent.operation === 'batch' && (line.status === 201 || line.status === 207);
    if (isBatchAnswer && (line.status === 201) !== body.data?.every(({ status }) => status === 201))
      this.#facts.unexpected.push({
        at: line.at,
        what: `${describe(sent)} was answered ${line.status} as a whole`,
        attempt,
      });
    keyHistories.forEach((keyHistory, index) => {
      const item = isBatchAnswer ? (body.data?.[index] ?? {}) : body;
      const status = isBatchAnswer ? Number(item.status) : line.status;
      const event = sent.events?.[index];
      if (isBatchAnswer && event !== undefined && !isExpectedOfItem(keyHistory, event, { ...item, status })) {
        const what = `${describe(sent)} has an item that was answered ${JSON.stringify(item)}: ${JSON.stringify(event)}`;
        const held = typeof item.id === 'string' ? item.id : undefined;
        this.#facts.unexpected.push({ at: line.at, what, status, held, attempt });
      }
      if (isBatchAnswer && status >= 500) this.#leftOpen.push([attempt, [keyHistory]]);
      settle(keyHistory, { ...item, status }, { payload: payloads[index] ?? 0, sentAt: attempt.sentAt, at: line.at });
    });
    const { organization, subject = '' } = sent;
    const read = { organization, subject, sentAt: attempt.sentAt, at: line.at, status: line.status, body: line.body };
    if (sent.operation === 'receipt') this.#facts.receipts.push(read);
    else if (sent.operation === 'usage') this.#facts.usage.push(read);
    else if (sent.operation === 'list') this.#facts.lists.push(read);
    else if (sent.operation === 'cross-read') this.#facts.crossReads.push(read);
    else if (BILLING_OPERATIONS.has(sent.operation)) this.#facts.billing.push({ ...read, operation: sent.operation });
    else if (sent.operation === 'correct') this.#endCorrection(subject, line, body.id);
    else if (open.replay !== undefined && line.status === 202) open.replay.isAccepted = true;
  }

  #beginCorrection({ organization, subject = '', events, at }: SentLine): void {
    const event = events?.[0];
    this.#facts.corrections.set(subject, { event, sentAt: at, organization, made: undefined, statuses: [] });
  }

  #endCorrection(event: string, { status, at }: AnsweredLine, id: unknown): void {
    const correction = this.#facts.corrections.get(event);
    correction?.statuses.push(status);
    if (correction === undefined || status !== 201 || typeof id !== 'string') return;
    correction.made = id;
    correction.madeAt ??= at;
  }

  #beginReplay({ operation, organization, subject = '', events = [] }: SentLine): ReplayFact | undefined {
    const [payload] = events;
    if (operation !== 'replay' || payload === undefined) return undefined;
    const replay = { organization, payload, isAccepted: false };
    const replays = this.#facts.replays.get(subject);
    if (replays === undefined) this.#facts.replays.set(subject, [replay]);
    else replays.push(replay);
    return replay;
  }

  /** Whether the answer is one that the interface knows. */
  #examine(sent: SentLine, attempt: Attempt, line: AnsweredLine): void {
    const { at, status } = line;
    const { unexpected, malformed } = this.#facts;
    if (status !== 503 && !sent.expect.includes(status)) {
      const what = `${describe(sent)} was answered ${status}: ${JSON.stringify(line.body)}`;
      const { id } = (line.body ?? {}) as ProblemBody;
      const held = typeof id === 'string' ? id : undefined;
      const { subject, expect } = sent;
      unexpected.push({ at, what, status, subject, expect, held, attempt });
    }
    if (isForNow(status) && !/^\d+$/.test(line.retryAfter ?? '')) {
      malformed.push({ at, what: `${describe(sent)} was answered ${status} without Retry-After` });
    }
    if (status < 400) return;
    const { code, detail } = (line.body ?? {}) as ProblemBody;
    if (typeof code === 'string' && typeof detail === 'string' && detail !== '') return;
    malformed.push({
      at,
      what: `${describe(sent)} was answered ${status} without detail: ${JSON.stringify(line.body)}`,
    });
  }

  #keyHistoryOf({ organization, at }: SentLine, event: SentEvent): KeyHistory {
    const name = keyName(organization, event);
    const known = this.#facts.keyHistories.get(name);
    if (known !== undefined) return known;
    const keyHistory: KeyHistory = {
      organization,
      name,
      isKeyed: event.key !== undefined,
      payloads: [],
      firstSentAt: at,
      answers: [],
      refused: 0,
      notAccepted: 0,
      unclear: 0,
      unclearUntil: -Infinity,
    };
    this.#facts.keyHistories.set(name, keyHistory);
    return keyHistory;
  }
}

function payloadIn(keyHistory: KeyHistory, event: SentEvent): number {
  const text = textOf(event);
  const index = keyHistory.payloads.findIndex((payload) => textOf(payload) === text);
  return index === -1 ? keyHistory.payloads.push(event) - 1 : index;
}

/** `7` and `7.0e0` are one quantity, and so one payload. What is no quantity at all is refused for what it is. */
function textOf(event: SentEvent): string {
  return JSON.stringify({ ...event, quantity: canonical(event.quantity) });
}

/** Whether the item of a batch that is this event may be answered so. */
function isExpectedOfItem(
  { isKeyed, payloads }: KeyHistory,
  { meter, quantity }: SentEvent,
  { status, code }: ProblemBody & { status: number },
): boolean {
  if (status === 503) return true;
  const isReused = code === 'idempotency_key_reused';
  if (meter === -1) return status === 404;
  if (quantity === '0') return status === 422 && !isReused;
  if (status === 201 || !isKeyed) return status === 201;
  return (status === 409 && code === 'duplicate_event') || (status === 422 && isReused && payloads.length > 1);
}

function moveUnclear(keyHistory: KeyHistory, to: 'refused' | 'notAccepted'): void {
  keyHistory.unclear -= 1;
  keyHistory[to] += 1;
}

/** What an answer to one event says about it. */
function settle(
  keyHistory: KeyHistory,
  answer: ProblemBody & { status: number },
  when: { payload: number; sentAt: number; at: number },
): void {
  const { status, code, id, timestamp, outcome } = answer;
  const isAboutAnEvent =
    status === 201 ||
    (status === 409 && code === 'duplicate_event') ||
    (status === 422 && code === 'idempotency_key_reused');
  if (isAboutAnEvent) {
    keyHistory.unclear -= 1;
    const time = typeof timestamp === 'string' ? { timestamp } : {};
    keyHistory.answers.push({ ...when, ...time, status, id: String(id) });
  } else if (status >= 400 && status < 500) moveUnclear(keyHistory, 'refused');
  else if (status === 503 && outcome === 'not_accepted') moveUnclear(keyHistory, 'notAccepted');
}

function describe({ operation, request, organization, subject }: SentLine): string {
  return `request ${request} (${operation}${subject === undefined ? '' : ` ${subject}`}, organization ${organization})`;
}
