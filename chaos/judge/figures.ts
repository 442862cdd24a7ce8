import type { Facts } from './facts.ts';

/** How much there was of everything. */
export interface Figures {
  requests: number;
  attempts: number;
  unanswered: number;
  /** Ids that were named in a 201. */
  accepted: number;
  byStatus: Record<string, number>;
  faults: FaultFigures[];
}

interface FaultFigures {
  kind: string;
  count: number;
  /** Milliseconds from the undoing of a fault until an event went from the door to Postgres again. */
  recoveryMs: { median: number; worst: number } | null;
}

export function figuresOf({ attempts, stories, faults }: Facts): Figures {
  const byStatus: Record<string, number> = {};
  for (const { status, why } of attempts) {
    const outcome = status === 0 ? (why ?? 'no answer') : String(status);
    byStatus[outcome] = (byStatus[outcome] ?? 0) + 1;
  }
  let accepted = 0;
  for (const { said } of stories.values()) accepted += said.filter(({ status }) => status === 201).length;
  const kinds = [...new Set(faults.map(({ kind }) => kind))].toSorted();
  return {
    requests: new Set(attempts.map(({ request }) => request)).size,
    attempts: attempts.length,
    unanswered: attempts.filter(({ status }) => status === 0).length,
    accepted,
    byStatus,
    faults: kinds.map((kind) => {
      const ofKind = faults.filter((fault) => fault.kind === kind);
      return {
        kind,
        count: ofKind.length,
        recoveryMs: recoveryOf(ofKind.flatMap(({ recoveredAfter }) => recoveredAfter ?? [])),
      };
    }),
  };
}

function recoveryOf(times: number[]): FaultFigures['recoveryMs'] {
  const sorted = times.toSorted((a, b) => a - b);
  const worst = sorted.at(-1);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  return worst === undefined || median === undefined ? null : { median, worst };
}
