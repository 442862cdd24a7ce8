// What was billed, compared with what the clients sent: each line with the events of its period, and each subscription with all that
// its customer used. The events are those of the history; of Weir's tables only what says which of them it counts as late.

import { AGGREGATIONS, type AggregationType } from '@weir/shared/meter';
import { dueName, dueOf, listsBy, type BillingState, type StoredDue } from './billing-state.ts';
import { Check } from './check.ts';
import { canonical, decimalOf, unitsOf } from './exact.ts';
import type { Facts } from './history-facts.ts';
import type { StoredEvent } from './stored-state.ts';
import { usageOf } from './usage-answers.ts';

/** The events of the history, by who used what. */
export class SentUsage {
  readonly #facts: Facts;
  readonly #events: Map<string, StoredEvent[]>;
  readonly #late: ReadonlyMap<string, number>;

  constructor(facts: Facts, acknowledged: readonly StoredEvent[], { late }: Pick<BillingState, 'late'>) {
    this.#facts = facts;
    this.#events = listsBy(acknowledged, nameOf);
    for (const events of this.#events.values()) events.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
    this.#late = new Map(late.map(({ event, closing }) => [event, closing]));
  }

  aggregationOf({ organization, meter }: StoredDue): AggregationType {
    const found = this.#facts.organizations[organization]?.meters[meter];
    if (found === undefined) throw new Error(`organization ${organization} has no meter ${meter}`);
    return found.aggregation;
  }

  /** The events of a due. */
  eventsOf(due: StoredDue): StoredEvent[] {
    const all = this.#events.get(nameOf(due)) ?? [];
    const from = firstSince(all, due.start);
    return all.slice(from, Math.max(from, firstSince(all, due.end)));
  }

  /** Whether an event came after a closing, or at a later one. */
  isLateFor({ id }: StoredEvent, closing: number): boolean {
    return (this.#late.get(id) ?? -1) >= closing;
  }
}

function nameOf({ organization, meter, customer }: Pick<StoredEvent, 'organization' | 'meter' | 'customer'>): string {
  return `${organization} ${meter} ${customer}`;
}

/** The place of the first event at an instant or after it. */
function firstSince(events: readonly StoredEvent[], instant: string): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.timestamp ?? '') < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Each line for usage, and each due that is open, has the quantity that the events of the history come to. */
export function linesBillWhatWasSent(state: BillingState, sent: SentUsage): Check {
  const check = new Check(
    'billed lines',
    'The quantity and the events of each line are those that were sent for its period, but for what came after its closing; those of an open due are all of them.',
  );
  const dues = new Map(state.dues.filter(({ meter }) => meter !== -1).map((due) => [dueName(due), due]));
  const finalized = new Set(state.invoices.filter(({ status }) => status !== 'DRAFT').map(({ id }) => id));
  for (const line of state.lines) {
    const due = dues.get(dueOf(line) ?? '');
    if (due === undefined || !finalized.has(line.invoice)) continue;
    check.examine();
    const events = sent.eventsOf(due).filter((event) => !sent.isLateFor(event, line.closing ?? 0));
    const quantity = usageOf(sent.aggregationOf(due), events) ?? '0';
    if (canonical(line.quantity ?? '') === quantity && line.eventCount === events.length) continue;
    check.violate(
      `line ${line.id} of ${dueName(due)} bills ${line.quantity} of ${line.eventCount} events at closing ${line.closing}; it was ${quantity} of ${events.length}`,
    );
  }
  const open = listsBy(state.open, dueName);
  for (const [name, due] of dues) {
    if (due.closing !== null) continue;
    check.examine();
    const quantity = usageOf(sent.aggregationOf(due), sent.eventsOf(due)) ?? '0';
    const told = open.get(name) ?? [];
    if (told.length === 1 && canonical(told[0]?.quantity ?? '') === quantity) continue;
    check.violate(
      `${name}, which is open, is told as ${told.map((each) => each.quantity).join(' and ') || 'nothing'}; it is ${quantity}`,
    );
  }
  return check;
}

/**
 * For each subscription and meter that adds up: what its last lines bill, what is open and what is late and waits come to what was
 * sent from the start of its first period to the end of its last.
 */
export function subscriptionsBillWhatWasUsed(state: BillingState, sent: SentUsage): Check {
  const check = new Check(
    'billed usage',
    'For each subscription and meter of kind SUM or COUNT: billed, open and late add up to what was sent for its customer, from its first period to its last.',
  );
  const finalized = new Set(state.invoices.filter(({ status }) => status !== 'DRAFT').map(({ id }) => id));
  const lines = listsBy(
    state.lines.filter(({ invoice }) => finalized.has(invoice)),
    dueOf,
  );
  const open = new Map(state.open.map((reading) => [dueName(reading), reading.quantity]));
  const additive = state.dues.filter(
    (due) => due.meter !== -1 && AGGREGATIONS[sent.aggregationOf(due)].kind === 'total',
  );
  for (const [name, dues] of listsBy(additive, ({ subscription, meter }) => `${subscription} meter ${meter}`)) {
    check.examine();
    const [first] = dues;
    if (first === undefined) continue;
    let billed = 0n;
    let waiting = 0n;
    let used = 0n;
    const aggregation = sent.aggregationOf(first);
    const sumOf = (events: readonly StoredEvent[]) => unitsOf(usageOf(aggregation, events) ?? '0');
    for (const due of dues) {
      const events = sent.eventsOf(due);
      used += sumOf(events);
      const last = lastOf(lines.get(dueName(due)) ?? []);
      billed += unitsOf(last?.quantity ?? open.get(dueName(due)) ?? '0');
      if (last === undefined) continue;
      waiting += sumOf(events.filter((event) => sent.isLateFor(event, last.closing ?? 0)));
    }
    if (billed + waiting !== used)
      check.violate(
        `${name} has ${decimalOf(billed)} billed and open and ${decimalOf(waiting)} late, and ${decimalOf(used)} was used`,
      );
    // Dues follow each other, so no event lies between two of them.
    const sorted = dues.toSorted((a, b) => (a.start < b.start ? -1 : 1));
    sorted.forEach((due, index) => {
      const next = sorted[index + 1];
      if (next !== undefined && next.start < due.end)
        check.violate(`${dueName(next)} begins before ${dueName(due)} ends`);
    });
  }
  return check;
}

function lastOf<T extends { closing: number | null }>(lines: readonly T[]): T | undefined {
  return lines.reduce<T | undefined>(
    (last, line) => ((line.closing ?? -1) > (last?.closing ?? -2) ? line : last),
    undefined,
  );
}
