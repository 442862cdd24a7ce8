import { isForNow } from '../history.ts';
import { Check } from './check.ts';
import { microsOf, unitsOf } from './exact.ts';
import { lostEventsOf, mayHaveLostClaim, keyName, type Facts, type ReadFact } from './history-facts.ts';
import type { StateIndex, StoredState } from './stored-state.ts';

interface Receipt {
  status: string;
  quantity: string;
  timestamp: string;
  customer_external_id: string;
  duplicate_of?: string;
}

type Status = 'queued' | 'rejected' | 'recorded' | 'voided' | 'duplicate';

/**
 * What a status may be followed by. A rejected event may be replayed, which does not show until it counts. Whether an accepted event may
 * be a duplicate at all is judged where it is counted.
 */
const FOLLOWED_BY: Record<Status, readonly Status[]> = {
  queued: ['rejected', 'recorded', 'voided', 'duplicate'],
  rejected: ['recorded', 'voided', 'duplicate'],
  recorded: ['voided'],
  voided: [],
  duplicate: [],
};

/** During the run: an accepted event has a receipt at once and ever after, and it only goes forward. */
export function receiptsHold(facts: Facts): Check {
  const check = new Check(
    'receipts',
    'The receipt of an accepted event is there at once and ever after, and only goes forward.',
  );
  const lost = lostEventsOf(facts);
  const byEvent = new Map<string, ReadFact[]>();
  for (const receipt of facts.receipts)
    byEvent.set(receipt.subject, [...(byEvent.get(receipt.subject) ?? []), receipt]);
  for (const [id, reads] of byEvent) {
    let last: { status: Status; at: number } = { status: 'queued', at: 0 };
    for (const { status, body, sentAt, at } of reads.toSorted((a, b) => a.sentAt - b.sentAt)) {
      if (isForNow(status)) continue;
      check.examine();
      if (status !== 200) {
        if (!lost.has(id))
          check.violate(`the receipt of ${id} was answered ${status} at ${at} ms: ${JSON.stringify(body)}`);
        continue;
      }
      const next = (body as Receipt).status as Status;
      if (next === last.status) continue;
      if (FOLLOWED_BY[last.status].includes(next)) last = { status: next, at };
      else if (last.at < sentAt && !mayHaveLostClaim(facts, last.at, at))
        check.violate(`the receipt of ${id} went from ${last.status} to ${next} at ${at} ms`);
    }
  }
  return check;
}

/** A receipt that was read at the end. */
export interface ReceiptReading {
  id: string;
  status: number;
  body: unknown;
}

/** At the end: the API tells of each event what Postgres has. */
export function receiptsTellTheState(
  index: StateIndex,
  { corrections }: Pick<StoredState, 'corrections'>,
  readings: ReceiptReading[],
): Check {
  const check = new Check('final receipts', 'In the end the receipt of an event says what Postgres holds of it.');
  for (const { id, status, body } of readings) {
    check.examine();
    const receipt = body as Receipt;
    const stored = index.recorded.get(id) ?? index.rejected.get(id);
    const counted = corrections.has(id) ? 'voided' : 'recorded';
    const expected = index.recorded.has(id) ? counted : index.rejected.has(id) ? 'rejected' : 'duplicate';
    const isRight =
      status === 200 &&
      receipt.status === expected &&
      receipt.duplicate_of === (expected === 'duplicate' ? index.duplicates.get(id) : undefined) &&
      (stored === undefined ||
        (unitsOf(receipt.quantity) === unitsOf(stored.quantity) &&
          microsOf(receipt.timestamp) === microsOf(stored.timestamp) &&
          receipt.customer_external_id === stored.customer));
    if (!isRight)
      check.violate(`the receipt of ${id}, which is ${expected}, was answered ${status}: ${JSON.stringify(body)}`);
  }
  return check;
}

/** Replays that were accepted are in the count, once. */
export function replaysAreCounted(facts: Facts, index: StateIndex): Check {
  const check = new Check('replays', 'A rejected event whose corrected replay was accepted is recorded.');
  const lost = lostEventsOf(facts);
  for (const [id, replays] of facts.replays) {
    const corrected = replays.filter(({ isAccepted, payload }) => isAccepted && payload.userId !== undefined);
    if (corrected.length === 0) continue;
    check.examine();
    // Where Redis had lost the claim, two events may have one key: the first replay is recorded, the other one is its
    // duplicate, or rejected where their corrections differ.
    const rejected = index.rejected.get(id);
    const holders = rejected && index.recordedByName.get(keyName(rejected.organization, rejected));
    const isHeld = holders !== undefined && mayHaveLostClaim(facts, 0, Infinity);
    const isCounted = index.recorded.has(id) || index.duplicates.has(id) || isHeld || lost.has(id);
    if (!isCounted)
      check.violate(`${id} was replayed with a user and is ${index.rejected.has(id) ? 'rejected' : 'nowhere'}`);
  }
  return check;
}
