// What was billed, compared with what the clients sent: each line with the events of its period. The events are those of the history;
// of Weir's tables only what says which of them it counts as late or void. That the periods leave no event out and have none twice, and what
// a quantity comes to, is asked of `npm run reconcile`.

import type { AggregationType } from '@weir/shared/meter';
import { dueName, dueOf, listsBy, type BillingState, type StoredDue } from './billing-state.ts';
import { Check } from './check.ts';
import { canonical } from './exact.ts';
import type { Facts } from './history-facts.ts';
import type { StoredEvent } from './stored-state.ts';
import { usageOf } from './usage-answers.ts';

/** The events of the history, by who used what. */
export class SentUsage {
  readonly #facts: Facts;
  readonly #events: Map<string, StoredEvent[]>;
  readonly #late: ReadonlyMap<string, number>;
  readonly #corrections: ReadonlyMap<string, unknown>;
  readonly #voided: ReadonlyMap<string, number>;

  /** `corrections` has the ids of those that are void. */
  constructor(
    facts: Facts,
    acknowledged: readonly StoredEvent[],
    { late, voided }: Pick<BillingState, 'late' | 'voided'>,
    corrections: ReadonlyMap<string, unknown>,
  ) {
    this.#facts = facts;
    this.#events = listsBy(acknowledged, nameOf);
    for (const events of this.#events.values()) events.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
    this.#late = new Map(late.map(({ event, closing }) => [event, closing]));
    this.#voided = new Map(voided.map(({ event, closing }) => [event, closing]));
    this.#corrections = corrections;
  }

  aggregationOf({ organization, meter }: StoredDue): AggregationType {
    const found = this.#facts.organizations[organization]?.meters[meter];
    if (found === undefined) throw new Error(`organization ${organization} has no meter ${meter}`);
    return found.aggregation;
  }

  /** The customers that used a meter. */
  customersOf(organization: number, meter: number): string[] {
    const start = nameOf({ organization, meter, customer: '' });
    return [...this.#events.keys()].flatMap((name) => (name.startsWith(start) ? [name.slice(start.length)] : []));
  }

  /** The events of a due, or of any other time. */
  eventsOf(due: Pick<StoredDue, 'organization' | 'meter' | 'customer' | 'start' | 'end'>): StoredEvent[] {
    const all = this.#events.get(nameOf(due)) ?? [];
    const from = firstSince(all, due.start);
    return all.slice(from, Math.max(from, firstSince(all, due.end)));
  }

  /** Whether an event counts at a closing: it did not come after it, and was not void by then. Null: now. */
  isCounted({ id }: StoredEvent, closing: number | null): boolean {
    const isVoid = this.#corrections.has(id);
    if (closing === null) return !isVoid;
    return (this.#late.get(id) ?? -1) < closing && (!isVoid || (this.#voided.get(id) ?? -1) >= closing);
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
    const events = sent.eventsOf(due).filter((event) => sent.isCounted(event, line.closing ?? 0));
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
    const events = sent.eventsOf(due).filter((event) => sent.isCounted(event, null));
    const quantity = usageOf(sent.aggregationOf(due), events) ?? '0';
    const told = open.get(name) ?? [];
    if (told.length === 1 && canonical(told[0]?.quantity ?? '') === quantity) continue;
    check.violate(
      `${name}, which is open, is told as ${told.map((each) => each.quantity).join(' and ') || 'nothing'}; it is ${quantity}`,
    );
  }
  return check;
}
