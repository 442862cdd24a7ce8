// What the history says, put together: per key what was sent and what was answered, and per attempt how long it took.

import type {
  BillingTimeLine,
  DirectWayLine,
  ResourceUsageLine,
  FaultLine,
  HostileAccountLine,
  HostileLine,
  LetGoLine,
  Operation,
  OrganizationLine,
  Phase,
  PhaseLine,
  SentEvent,
  SlotsLine,
  StallLine,
  WebhookLine,
} from '../history.ts';

/** An answer that names an event: accepted (201), held by it already (409), or held by it with another payload (422). */
export interface NamingAnswer {
  status: 201 | 409 | 422;
  id: string;
  /** Which of the payloads under the key was sent. */
  payload: number;
  sentAt: number;
  at: number;
  /** What a 201 said the event's time to be. */
  timestamp?: string;
}

/** All that was sent and answered under one idempotency key, or under the mark of an event without one. */
export interface KeyHistory {
  organization: number;
  name: string;
  isKeyed: boolean;
  /** The payloads that were sent, each once. */
  payloads: SentEvent[];
  firstSentAt: number;
  answers: NamingAnswer[];
  /** Attempts that were refused for good. */
  refused: number;
  /** Attempts of which Weir said that nothing was kept, or that never reached it. */
  notAccepted: number;
  /** Attempts of which nobody knows: no answer, or one that says so. */
  unclear: number;
  /** Until when one of those may have been taken. */
  unclearUntil: number;
}

/** One attempt of a request. */
export interface Attempt {
  request: number;
  organization: number;
  api: number;
  operation: Operation;
  asksPostgres: boolean;
  sentAt: number;
  at: number;
  /** 0 where there was no answer. */
  status: number;
  retryAfterSeconds?: number;
  why?: string;
  connection?: 'new' | 'kept';
}

/** A replay of a rejected event. */
export interface ReplayFact {
  organization: number;
  /** What it was corrected to. */
  payload: SentEvent;
  isAccepted: boolean;
}

/** A correction of an event. */
export interface CorrectionFact {
  /** What counts in its place; undefined: nothing. */
  event: SentEvent | undefined;
  sentAt: number;
  organization: number;
  /** The id that a 201 named. */
  made: string | undefined;
  /** When it was first told. */
  madeAt?: number;
  /** Of all answers. */
  statuses: number[];
}

export interface ReadFact {
  organization: number;
  subject: string;
  sentAt: number;
  at: number;
  status: number;
  body: unknown;
}

/** An answer to a request of billing. */
interface BillingFact {
  operation: Operation;
  organization: number;
  /** What was asked, or to which number the feed was read. */
  subject: string;
  at: number;
  status: number;
  body: unknown;
}

/** An answer that is not as the interface has it. */
export interface Flaw {
  at: number;
  what: string;
  /** The status, and the event that it was about. */
  status?: number;
  subject?: string | undefined;
  /** The statuses that it might have had. */
  expect?: readonly number[];
  /** The event that is said to hold its idempotency key. */
  held?: string | undefined;
  attempt?: Attempt;
}

/** A request that was to be sent at a certain moment, and when it had its definite answer. */
interface Measured {
  due: number;
  at: number;
}

/** What is known of hostile clients and of what they left behind. All of it is empty in a run without them. */
interface HostileFacts {
  accounts: HostileAccountLine[];
  turns: HostileLine[];
  letGo: LetGoLine[];
  slots: SlotsLine[];
  resourceUsage: ResourceUsageLine[];
}

export interface Facts {
  organizations: OrganizationLine[];
  keyHistories: Map<string, KeyHistory>;
  attempts: Attempt[];
  replays: Map<string, ReplayFact[]>;
  /** By the id of the event. */
  corrections: Map<string, CorrectionFact>;
  receipts: ReadFact[];
  usage: ReadFact[];
  lists: ReadFact[];
  crossReads: ReadFact[];
  /** Changes, pages of the feed, and invoices that were computed again. */
  billing: BillingFact[];
  faults: FaultLine[];
  /** Those among them that made Redis forget. */
  dataLosses: FaultLine[];
  stalls: StallLine[];
  webhooks: WebhookLine[];
  /** By organization: the last event of its feed that has to have reached whoever is told. */
  deliveredTo: Record<string, number>;
  billingTime: BillingTimeLine[];
  /** When all that alerts had to tell had been told. */
  lookedAt: number;
  directWays: DirectWayLine[];
  phases: PhaseLine[];
  measured: Measured[];
  hostile: HostileFacts;
  /** Answers with a status that the request must not get. */
  unexpected: Flaw[];
  /** Answers whose form is not that of the interface. */
  malformed: Flaw[];
  /** Requests that had no definite answer when the clients gave up. */
  unsettled: Flaw[];
}

export function keyName(organization: number, event: { key?: string; mark?: string }): string {
  return event.key === undefined ? `${organization} mark ${event.mark}` : `${organization} key ${event.key}`;
}

export function emptyFacts(): Facts {
  return {
    organizations: [],
    keyHistories: new Map(),
    attempts: [],
    replays: new Map(),
    corrections: new Map(),
    receipts: [],
    usage: [],
    lists: [],
    crossReads: [],
    billing: [],
    faults: [],
    dataLosses: [],
    stalls: [],
    webhooks: [],
    deliveredTo: {},
    billingTime: [],
    lookedAt: Infinity,
    directWays: [],
    phases: [],
    measured: [],
    hostile: { accounts: [], turns: [], letGo: [], slots: [], resourceUsage: [] },
    unexpected: [],
    malformed: [],
    unsettled: [],
  };
}

/** When a phase began and when the next one did; undefined when there was none. */
export function phaseOf({ phases }: Facts, phase: Phase): { from: number; until: number } | undefined {
  const index = phases.findIndex((line) => line.phase === phase);
  const line = phases[index];
  return line && { from: line.at, until: phases[index + 1]?.at ?? Infinity };
}

/** Whether Redis may have forgotten a claim that was made by `since` when an answer came at `at`. */
export function mayHaveLostClaim(facts: Facts, since: number, at: number): boolean {
  return facts.dataLosses.some((fault) => fault.until >= since && fault.at <= at);
}

/** No process works on a request for longer: its clients wait for so long. */
const UNDER_WAY_MS_MAX = 5_000;

/** An API that has left Redis may stay away for so long after Redis is whole again: it wants to be sure of it. */
const WAY_BACK_MS_MAX = 25_000;

/** A process that waits for its core may be late with a line, or with what the line tells of. */
const LOGGED_MS_MAX = 1_000;

/** So soon after a key was recorded directly every process knows it that reaches Redis. */
const TOLD_MS_MAX = 1_000;

/** Until when an attempt that was never answered may be taken: an API that stands still, or is reached late, takes it when it goes on. */
export function underWayUntil({ faults }: Facts, { api, sentAt }: Attempt): number {
  const [process, way] = [`api-${api}`, `client>api-${api}`].map((name) => new RegExp(`(^|,)${name}(,|$)`));
  const until = sentAt + UNDER_WAY_MS_MAX;
  // One that was ended takes nothing later.
  const holds = ({ kind, target }: FaultLine) =>
    way?.test(target) === true || (process?.test(target) === true && /^pause$|frozen|cut off/.test(kind));
  const held = faults.filter((fault) => holds(fault) && fault.at <= until && fault.until >= sentAt);
  return Math.max(until, ...held.map((fault) => fault.until + UNDER_WAY_MS_MAX));
}

/**
 * Whether the event `id` and the one that holds its key may have crossed: one went through Redis, and one to Postgres, from an API that
 * was on the direct way, before either could know of the other.
 */
export function mayHaveCrossed(
  facts: Facts,
  { answers, firstSentAt, unclearUntil }: KeyHistory,
  id: string,
  holder: string,
): boolean {
  const ofHolder = answers.filter((answer) => answer.id === holder);
  const heardAt = ofHolder.filter(({ status }) => status === 201).map(({ at }) => at);
  const takenBy = heardAt.length > 0 ? Math.min(...heardAt) : unclearUntil;
  const hasCrossed = answers.every((answer) => answer.id !== id || mayNotKnow(facts, takenBy, answer.sentAt));
  return hasCrossed && wentDirectly(facts, firstSentAt, takenBy);
}

/** Whether an API was on the direct way at some time of these, as its log says; its lines are written as it leaves and as it comes back. */
function wentDirectly({ directWays }: Facts, from: number, until: number): boolean {
  return directWays.some((way) => way.until + LOGGED_MS_MAX >= from && way.at - LOGGED_MS_MAX <= until);
}

/**
 * Whether a process that takes an event may not know of its key, which was recorded directly. All are told by Postgres, once that answers
 * all of them. One that finds Redis again while Postgres does not answer it is told by Redis, which hears of the key from the first process
 * that reaches both.
 */
function mayNotKnow(facts: Facts, recordedAt: number, at: number): boolean {
  const ofPostgres = String.raw`postgres|api-\d+>postgres`;
  if (at <= untroubledAt(facts, recordedAt, ofPostgres)) return true;
  const apis = new Set(facts.attempts.map(({ api }) => api));
  return (
    troublesOf(facts, recordedAt, ofPostgres).some((fault) => fault.at <= at && fault.until + TOLD_MS_MAX >= at) &&
    [...apis].every((api) => at <= untroubledAt(facts, recordedAt, `redis|postgres|api-${api}(>(redis|postgres))?`))
  );
}

/** From when on nothing of this had happened to these for as long as it takes to tell of a key. */
function untroubledAt(facts: Facts, from: number, targets: string): number {
  let until = from + TOLD_MS_MAX;
  for (const fault of troublesOf(facts, from, targets))
    if (fault.at <= until) until = Math.max(until, fault.until + TOLD_MS_MAX);
  return until;
}

function troublesOf({ faults }: Facts, from: number, targets: string): FaultLine[] {
  const pattern = new RegExp(`(^|,)(${targets})(,|$)`);
  return faults.filter(({ target, until }) => pattern.test(target) && until > from).toSorted((a, b) => a.at - b.at);
}

/**
 * Whether an answer calls another payload what may be the first one: Postgres has that event with what a replay corrected, and no API that
 * does not reach Redis knows more.
 */
export function isComparedWithReplay(
  facts: Facts,
  { id = '', sentAt, at }: { id?: string; sentAt: number; at: number },
): boolean {
  return facts.replays.get(id)?.some(({ isAccepted }) => isAccepted) === true && isRedisInTrouble(facts, sentAt, at);
}

/** Whether an API may have recorded directly at some time of these. */
export function isRedisInTrouble(
  { faults, directWays }: Facts,
  from: number,
  until: number,
  api = String.raw`api-\d+`,
): boolean {
  const targets = new RegExp(`(^|,)(redis|${api}>redis)(,|$)`);
  const apis = new RegExp(`^${api}$`);
  return (
    faults.some((fault) => targets.test(fault.target) && fault.until + WAY_BACK_MS_MAX >= from && fault.at <= until) ||
    directWays.some((way) => apis.test(way.api) && way.until >= from && way.at <= until)
  );
}

/** The events that only a part of Redis held that was lost. */
export function lostEventsOf(facts: Facts): Set<string> {
  return new Set(facts.faults.flatMap(({ lostEvents }) => lostEvents ?? []));
}
