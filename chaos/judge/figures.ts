import type { ResourceUsageLine } from '../history.ts';
import type { Facts } from './history-facts.ts';
import { speedIn, type Speed } from './hostile-checks.ts';

/** How much there was of everything. */
export interface Figures {
  requests: number;
  attempts: number;
  unanswered: number;
  /** Ids that were named in a 201. */
  accepted: number;
  byStatus: Record<string, number>;
  /** Attempts to track that were answered, and those of them that were answered 503. */
  door: { answered: number; refused: number };
  faults: FaultFigures[];
  /** Milliseconds from the 201 of an event until the feed told of the threshold that it reached, faults or not. */
  alertsMs: (Spread & { count: number }) | null;
  /** Of a run with hostile clients. */
  hostile?: HostileFigures;
}

interface HostileFigures {
  kinds: HostileKindFigures[];
  /** How long single tracking requests of the honest took, without and beside hostile clients. */
  speed: { calm?: Speed; hostile?: Speed };
  resourceUsage: Pick<ResourceUsageLine, 'when' | 'process' | 'usedBytes' | 'residentBytes' | 'descriptors'>[];
}

interface HostileKindFigures {
  kind: string;
  turns: number;
  acts: number;
  bytes: number;
  /** Events that were answered 201. */
  accepted: number;
  statuses: Record<string, number>;
}

interface Spread {
  median: number;
  worst: number;
}

interface FaultFigures {
  kind: string;
  count: number;
  /** Milliseconds from the undoing of a fault until an event went from an API to Postgres again. */
  recoveryMs: Spread | null;
  /** The longest time, while one of them lasted, in which the door took nothing from anybody. */
  pauseMs: number;
}

export function figuresOf(facts: Facts, waitsMs: readonly number[]): Figures {
  const waits = spreadOf(waitsMs);
  const { attempts, keyHistories, faults } = facts;
  const byStatus: Record<string, number> = {};
  for (const { status, why } of attempts) {
    const outcome = status === 0 ? (why ?? 'no answer') : String(status);
    byStatus[outcome] = (byStatus[outcome] ?? 0) + 1;
  }
  let accepted = 0;
  for (const { answers } of keyHistories.values()) accepted += answers.filter(({ status }) => status === 201).length;
  const atTheDoor = attempts.filter(
    ({ operation, status }) => status > 0 && (operation === 'track' || operation === 'batch'),
  );
  const takenAt = atTheDoor.filter(({ status }) => status < 500).map(({ at }) => at);
  const kinds = [...new Set(faults.map(({ kind }) => kind))].toSorted();
  return {
    requests: new Set(attempts.map(({ request }) => request)).size,
    attempts: attempts.length,
    unanswered: attempts.filter(({ status }) => status === 0).length,
    accepted,
    byStatus,
    door: { answered: atTheDoor.length, refused: atTheDoor.filter(({ status }) => status === 503).length },
    faults: kinds.map((kind) => {
      const ofKind = faults.filter((fault) => fault.kind === kind);
      return {
        kind,
        count: ofKind.length,
        recoveryMs: spreadOf(ofKind.flatMap(({ recoveredAfter }) => recoveredAfter ?? [])),
        pauseMs: Math.max(...ofKind.map((fault) => longestPause(takenAt, fault))),
      };
    }),
    alertsMs: waits && { ...waits, count: waitsMs.length },
    ...(facts.hostile.accounts.length > 0 && { hostile: hostileFiguresOf(facts) }),
  };
}

function hostileFiguresOf(facts: Facts): HostileFigures {
  const { turns, resourceUsage } = facts.hostile;
  const [calm, hostile] = [speedIn(facts, 'calm'), speedIn(facts, 'hostile')];
  const kinds = new Map<string, HostileKindFigures>();
  for (const { kind, acts, bytes, accepted, statuses } of turns) {
    const figures = kinds.get(kind) ?? { kind, turns: 0, acts: 0, bytes: 0, accepted: 0, statuses: {} };
    kinds.set(kind, figures);
    figures.turns += 1;
    figures.acts += acts;
    figures.bytes += bytes;
    figures.accepted += Object.values(accepted).reduce((sum, count) => sum + count, 0);
    for (const [status, count] of Object.entries(statuses))
      figures.statuses[status] = (figures.statuses[status] ?? 0) + count;
  }
  return {
    kinds: [...kinds.values()].toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
    speed: { ...(calm !== undefined && { calm }), ...(hostile !== undefined && { hostile }) },
    resourceUsage: resourceUsage.map(({ type: _type, at: _at, ...rest }) => rest),
  };
}

/** The longest time between two of these moments, in their order, that begins or ends while a fault lasts. */
export function longestPause(moments: readonly number[], { at, until }: { at: number; until: number }): number {
  let longest = 0;
  let last = moments[0] ?? until;
  for (const moment of moments) {
    if (moment >= at && last <= until) longest = Math.max(longest, moment - last);
    last = moment;
  }
  return longest;
}

function spreadOf(times: readonly number[]): Spread | null {
  const sorted = times.toSorted((a, b) => a - b);
  const worst = sorted.at(-1);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  return worst === undefined || median === undefined ? null : { median, worst };
}
