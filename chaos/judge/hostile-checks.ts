// What hostile clients got accepted is counted like all else, and the honest hardly notice them.

import { Check } from './check.ts';
import { lostEventsOf, phaseOf, type Facts } from './history-facts.ts';

/** What Postgres holds of a hostile organization. */
export interface HostileCount {
  organization: string;
  recorded: number;
  rejected: number;
  duplicates: number;
}

/** What a hostile client got accepted is there, and nothing that was refused. */
export function hostileIsCounted(facts: Facts, counts: readonly HostileCount[]): Check {
  const check = new Check(
    'hostile events',
    'What hostile organizations have in Postgres is at least what was answered 201, and at most that and what was not answered.',
  );
  const { accounts, turns } = facts.hostile;
  // Of events that were lost with a part of Redis it is not known whose they were, but for those of the honest.
  const lost = lostEventsOf(facts);
  for (const { answers } of facts.keyHistories.values()) for (const { id } of answers) lost.delete(id);
  for (const { id, index, email } of accounts) {
    const [accepted, unsettled] = (['accepted', 'unsettled'] as const).map((of) =>
      turns.reduce((sum, turn) => sum + (turn[of][index] ?? 0), 0),
    ) as [number, number];
    const count = counts.find(({ organization }) => organization === id);
    const { recorded = 0, rejected = 0, duplicates = 0 } = count ?? {};
    const kept = recorded + rejected + duplicates;
    check.examine(accepted);
    if (kept < accepted - lost.size)
      check.violate(`${email} was told of ${accepted} events that they are accepted, and ${kept} are there`);
    if (kept > accepted + unsettled)
      check.violate(`${kept} events of ${email} are there, and ${accepted + unsettled} at most can have been accepted`);
  }
  return check;
}

/** How long tracking took, from the moment it was to be sent. */
export interface Speed {
  count: number;
  p50Ms: number;
  p99Ms: number;
}

/** Undefined when nothing was measured in that phase. */
export function speedIn(facts: Facts, phase: 'calm' | 'hostile'): Speed | undefined {
  const during = phaseOf(facts, phase);
  if (during === undefined) return undefined;
  const times = facts.measured
    .filter(({ due }) => due >= during.from && due < during.until)
    .map(({ due, at }) => at - due)
    .toSorted((a, b) => a - b);
  if (times.length === 0) return undefined;
  const at = (share: number) => Math.round((times[Math.ceil(times.length * share) - 1] ?? 0) * 10) / 10;
  return { count: times.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** p99 beside hostile clients is at most so many times that without them. */
const SLOWDOWN_MAX = 5;

/** A p99 below this is taken for this much: nobody can tell 3 ms from 15. */
const CALM_MS_MIN = 5;

/** Honest clients that track hardly notice that there are others. */
export function trackingStaysQuick(facts: Facts): Check {
  const check = new Check(
    'speed',
    `p99 of single tracking requests beside hostile clients, from when they were due until they were accepted, is at most ${SLOWDOWN_MAX} times that without them (or ${SLOWDOWN_MAX * CALM_MS_MIN} ms).`,
  );
  const [calm, hostile] = [speedIn(facts, 'calm'), speedIn(facts, 'hostile')];
  if (calm === undefined || hostile === undefined) return check;
  check.examine(hostile.count);
  const slowdown = hostile.p99Ms / Math.max(calm.p99Ms, CALM_MS_MIN);
  if (slowdown > SLOWDOWN_MAX)
    check.violate(`p99 was ${calm.p99Ms} ms without and ${hostile.p99Ms} ms beside hostile clients`);
  return check;
}

/** In each time of this length some read has to be served. */
const WINDOW_MS = 5_000;

/** Fewer reads than this in a window say nothing. */
const READS_MIN = 5;

const READS = new Set(['receipt', 'usage', 'list', 'cross-read']);

/** Honest clients that read are refused now and then at most. */
export function readersAreServed(facts: Facts): Check {
  const check = new Check(
    'readers',
    `Beside hostile clients some reads of the honest are served in every ${WINDOW_MS / 1_000} s.`,
  );
  const during = phaseOf(facts, 'hostile');
  if (during === undefined) return check;
  const windows = new Map<number, { asked: number; served: number }>();
  for (const { operation, sentAt, status } of facts.attempts) {
    if (!READS.has(operation) || sentAt < during.from || sentAt >= during.until) continue;
    const number = Math.floor((sentAt - during.from) / WINDOW_MS);
    const window = windows.get(number) ?? { asked: 0, served: 0 };
    window.asked += 1;
    if (status > 0 && status < 500) window.served += 1;
    windows.set(number, window);
  }
  for (const [number, { asked, served }] of windows) {
    if (asked < READS_MIN) continue;
    check.examine();
    const at = Math.round(during.from + number * WINDOW_MS);
    if (served === 0) check.violate(`none of ${asked} reads in the ${WINDOW_MS / 1_000} s from ${at} ms on was served`);
  }
  return check;
}
