// Rollups, raw events and what was acknowledged are three ways to the same sums.

import { createHash } from 'node:crypto';
import type { SentEvent } from '../history.ts';
import { Check } from './check.ts';
import { dayOf, decimalOf, hourOf, microsOf, NO_QUARTERS, quarterOf, unitsOf, withQuarter } from './exact.ts';
import { lostEventsOf, keyName, type Facts, type KeyHistory } from './history-facts.ts';
import {
  ALL_CUSTOMERS,
  rollupName,
  type Rollup,
  type State,
  type StateIndex,
  type StoredEvent,
} from './stored-state.ts';

/** What some events add up to. */
interface Sum {
  count: bigint;
  sum: bigint;
  min: bigint;
  max: bigint;
  /** The latest by time, then by id. */
  last: { timestamp: string; id: string; quantity: bigint };
}

/** Rollups equal the events that they were made of: count, sum, smallest, largest and last. */
export function rollupsEqualEvents(state: State): Check {
  const check = new Check(
    'rollups',
    'Every rollup (hours and days of customers, quarters of meters) equals its raw events: count, sum, smallest, largest, last.',
  );
  compareRollups(check, state.events, state.rollups, nameOf);
  compareRollups(check, state.events, state.days, dayNameOf);
  compareRollups(check, state.events, state.quarters, ({ organization, meter, timestamp }) =>
    rollupName(organization, meter, ALL_CUSTOMERS, quarterOf(timestamp)),
  );
  return check;
}

function compareRollups(
  check: Check,
  events: StoredEvent[],
  rollups: Map<string, Rollup>,
  name: (event: StoredEvent) => string,
): void {
  const sums = new Map<string, Sum>();
  for (const event of events) add(sums, name(event), event);
  for (const [of, rollup] of rollups) {
    check.examine();
    const sum = sums.get(of);
    if (sum === undefined) check.violate(`the rollup ${of} has no events`);
    else if (!isEqual(rollup, sum))
      check.violate(`the rollup ${of} is ${textOf(rollup)}, its events are ${sumText(sum)}`);
  }
  for (const of of sums.keys()) {
    if (!rollups.has(of)) check.violate(`the events of ${of} have no rollup`);
  }
}

/** Rollups equal what the clients were told, and what was found to have been taken where they were told nothing. */
export function rollupsEqualAcknowledged(facts: Facts, state: State, index: StateIndex): Check {
  const check = new Check(
    'acknowledged sums',
    'Every rollup equals, in count and sum, the digits that were sent in the events that were acknowledged, or taken without an answer.',
  );
  const lost = lostEventsOf(facts);
  const sums = new Map<string, { count: bigint; sum: bigint }>();
  for (const keyHistory of facts.keyHistories.values()) {
    const counted = countedPayload(facts, index, keyHistory, lost);
    if (counted === undefined) continue;
    const { payload, timestamp } = counted;
    const name = rollupName(keyHistory.organization, payload.meter, payload.customer, hourOf(microsOf(timestamp)));
    const sum = sums.get(name) ?? { count: 0n, sum: 0n };
    sums.set(name, { count: sum.count + 1n, sum: sum.sum + unitsOf(payload.quantity) });
  }
  for (const name of new Set([...sums.keys(), ...state.rollups.keys()])) {
    check.examine();
    const acknowledged = sums.get(name) ?? { count: 0n, sum: 0n };
    const rollup = state.rollups.get(name);
    const [count, sum] = [rollup?.count ?? 0n, unitsOf(rollup?.sum ?? '0')];
    if (count === acknowledged.count && sum === acknowledged.sum) continue;
    check.violate(
      `the rollup ${name} has ${count} events and sum ${decimalOf(sum)}, acknowledged were ${acknowledged.count} and ${decimalOf(acknowledged.sum)}`,
    );
  }
  return check;
}

/**
 * Which payload of a story is in the count. Where an answer named the event, it is what that answer was for, whether
 * Postgres has it or not; else what Postgres has.
 */
function countedPayload(
  facts: Facts,
  index: StateIndex,
  keyHistory: KeyHistory,
  lost: ReadonlySet<string>,
): { payload: SentEvent; timestamp: string } | undefined {
  const [recorded] = index.recordedByName.get(keyHistory.name) ?? [];
  const isRecorded = (id: string) => recorded?.id === id;
  const said = keyHistory.answers.find(({ id, status }) => status !== 422 && isRecorded(id)) ?? keyHistory.answers[0];
  if (said === undefined)
    return recorded && { payload: sentAs(facts, keyHistory, recorded), timestamp: recorded.timestamp };
  // A meter that counts users has not taken it, or Redis has lost it; other checks say whether that may be.
  if (recorded === undefined && (isRejectable(facts, keyHistory) || said.status !== 201 || lost.has(said.id)))
    return undefined;
  const payload = recorded === undefined ? keyHistory.payloads[said.payload] : sentAs(facts, keyHistory, recorded);
  if (payload === undefined) return undefined;
  return { payload, timestamp: payload.timestamp ?? recorded?.timestamp ?? said.timestamp ?? '' };
}

function sentAs(facts: Facts, keyHistory: KeyHistory, recorded: StoredEvent): SentEvent {
  const replayed = facts.replays.get(recorded.id)?.map(({ payload }) => payload) ?? [];
  const accepted = keyHistory.answers.find(({ id, status }) => id === recorded.id && status === 201);
  if (accepted !== undefined) return keyHistory.payloads[accepted.payload] ?? recorded;
  return (
    [...keyHistory.payloads, ...replayed].find(
      (sent) => sent.customer === recorded.customer && unitsOf(sent.quantity) === unitsOf(recorded.quantity),
    ) ?? recorded
  );
}

function isRejectable(facts: Facts, keyHistory: KeyHistory): boolean {
  const meter = keyHistory.payloads[0]?.meter ?? -1;
  return facts.organizations[keyHistory.organization]?.meters[meter]?.aggregation === 'UNIQUE_COUNT';
}

/** The tables of distinct values, of customers and of whole meters, equal the users of the events. */
export function uniqueValuesEqualEvents(facts: Facts, state: State): Check {
  const check = new Check(
    'unique values',
    'The distinct values of each UNIQUE_COUNT meter equal the users of its events.',
  );
  const expected = new Set<string>();
  const days = new Map<string, string>();
  const quarters = new Map<string, string>();
  for (const event of state.events) {
    const meter = facts.organizations[event.organization]?.meters[event.meter];
    if (meter?.aggregation !== 'UNIQUE_COUNT') continue;
    const hash = createHash('sha256').update(String(event.userId)).digest('hex').slice(0, 32);
    expected.add(`${nameOf(event)} ${hash}`);
    expected.add(`${dayNameOf(event)} ${hash}`);
    const nameAt = (at: string) => `${rollupName(event.organization, event.meter, ALL_CUSTOMERS, at)} ${hash}`;
    const [day, quarter] = [nameAt(dayOf(event.timestamp)), nameAt(quarterOf(event.timestamp))];
    days.set(day, withQuarter(days.get(day) ?? NO_QUARTERS, event.timestamp));
    const first = quarters.get(quarter);
    if (first === undefined || event.timestamp < first) quarters.set(quarter, event.timestamp);
  }
  for (const value of expected) {
    check.examine();
    if (!state.uniqueValues.has(value)) check.violate(`${value} is the user of an event and not among the values`);
  }
  for (const value of state.uniqueValues) {
    if (!expected.has(value)) check.violate(`${value} is among the values and the user of no event`);
  }
  for (const [given, all] of [
    [days, state.meterValueDays],
    [quarters, state.meterValueQuarters],
  ] as const) {
    for (const name of new Set([...given.keys(), ...all.keys()])) {
      check.examine();
      const [of, kept] = [given.get(name), all.get(name)];
      if (of !== kept) check.violate(`${name} is among the meter's values with ${kept}, its events give ${of}`);
    }
  }
  return check;
}

/** Every key that Postgres holds belongs to the event that was recorded under it, and every recorded key is held. */
export function keysBelongToTheirEvents(facts: Facts, state: State, index: StateIndex): Check {
  const check = new Check(
    'keys',
    'Every idempotency key in Postgres belongs to the one event that is recorded under it.',
  );
  const unseen = new Map(state.keys);
  for (const event of state.events) {
    if (event.key === undefined) continue;
    check.examine();
    const organization = facts.organizations[event.organization]?.id ?? '';
    const name = createHash('sha256').update(`${organization}${event.key}`).digest('hex').slice(0, 32);
    const holder = state.keys.get(name);
    if (holder !== event.id)
      check.violate(`the key of ${keyName(event.organization, event)} belongs to ${holder}, recorded is ${event.id}`);
    unseen.delete(name);
  }
  for (const [name, id] of unseen) {
    if (!index.recorded.has(id)) check.violate(`the key ${name} belongs to ${id}, which is not recorded`);
  }
  return check;
}

function nameOf(event: StoredEvent): string {
  return rollupName(event.organization, event.meter, event.customer, hourOf(event.timestamp));
}

function dayNameOf(event: StoredEvent): string {
  return rollupName(event.organization, event.meter, event.customer, dayOf(event.timestamp));
}

function add(sums: Map<string, Sum>, name: string, { quantity, timestamp, id }: StoredEvent): void {
  const units = unitsOf(quantity);
  const sum = sums.get(name);
  if (sum === undefined) {
    sums.set(name, { count: 1n, sum: units, min: units, max: units, last: { timestamp, id, quantity: units } });
    return;
  }
  sum.count += 1n;
  sum.sum += units;
  if (units < sum.min) sum.min = units;
  if (units > sum.max) sum.max = units;
  const { last } = sum;
  if (timestamp > last.timestamp || (timestamp === last.timestamp && id > last.id)) {
    sum.last = { timestamp, id, quantity: units };
  }
}

function isEqual(rollup: Rollup, sum: Sum): boolean {
  return (
    rollup.count === sum.count &&
    unitsOf(rollup.sum) === sum.sum &&
    unitsOf(rollup.min) === sum.min &&
    unitsOf(rollup.max) === sum.max &&
    rollup.lastId === sum.last.id &&
    unitsOf(rollup.lastQuantity) === sum.last.quantity
  );
}

function textOf({ count, sum, min, max, lastId }: Rollup): string {
  return `${count} events, sum ${sum}, from ${min} to ${max}, last ${lastId}`;
}

function sumText({ count, sum, min, max, last }: Sum): string {
  return `${count} events, sum ${decimalOf(sum)}, from ${decimalOf(min)} to ${decimalOf(max)}, last ${last.id}`;
}
