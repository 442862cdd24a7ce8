// accepted = recorded + rejected + duplicate + queued, for each organization and month of receipt.
//
// Redis and Postgres cannot be read at one instant, so three moments are used: t1 in Redis, then the snapshot of Postgres,
// then t2 in Redis. Whatever was accepted up to t1 was staged at t1 or committed before, and what is found was accepted
// before t2. So the number that is found lies between the counts of t1 and t2, or something is wrong. Where nothing was
// accepted in between, which is what is waited for, they are one number, and the comparison is exact.

import { FATES, lookAtEvents, type Fate, type Look, type QueuedEvent } from '@weir/db/accounted';
import type { Database } from '@weir/db/database';
import { readDoor, readDrainedCounts, type DoorState } from '@weir/queue/accepted-counts';
import { readBatches } from '@weir/queue/batches';
import type { QueueConnection } from '@weir/queue/connection';
import type { MonthCount } from '@weir/shared/month-counts';
import type { ReconcileOptions } from './reconcile-options.ts';

/** One organization in one month of receipt. */
export interface EventBalance {
  organizationId: string;
  month: string;
  /** Counted by the door up to t1. */
  accepted: number;
  /** Counted by the door up to t2; more than `accepted` where events came in while it was looked. */
  acceptedAtMost: number;
  fates: Record<Fate, number>;
  /** Above zero: accepted events that are nowhere. Below zero: events that the door's count does not have. */
  difference: number;
}

/** Tries to find a moment without traffic. After them the two bounds have to do. */
const TRIES_MAX = 20;

/**
 * After so long no try is begun: each copies all that is queued, while no counts are drained. Without a backlog one takes milliseconds;
 * behind a million events it takes many seconds, in which there is always traffic.
 */
const TRIES_MS_MAX = 2_000;

interface BalanceDeps {
  database: Database;
  queue: QueueConnection;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

export async function balanceEvents(
  { database, queue, now = () => performance.now() }: BalanceDeps,
  options: Pick<ReconcileOptions, 'organizationId' | 'month' | 'archivedThrough'>,
  onPart: (name: string) => void,
): Promise<EventBalance[]> {
  const balance = async (look: Look): Promise<EventBalance[]> => {
    const balances = new Balances(options);
    onPart('the queue');
    await takeAccepted(look, queue, balances, now);
    await look.letDrain();
    for await (const { fate, counts } of look.count(onPart)) balances.addFate(fate, counts);
    return balances.asked();
  };
  const onWait = () => onPart('the queue: it waits for another reconcile, or for a worker that drains counts');
  return lookAtEvents(database, options, balance, onWait);
}

async function takeAccepted(look: Look, queue: QueueConnection, balances: Balances, now: () => number): Promise<void> {
  const begun = now();
  for (let attempt = 1; ; attempt += 1) {
    const before = await readDoor(queue);
    await look.setQueued(readQueued(queue, before.batches));
    await look.begin();
    const after = await readDoor(queue);
    if (isSameCount(before, after) || attempt === TRIES_MAX || now() - begun >= TRIES_MS_MAX) {
      const drained = await look.drained([...before.accepted, ...after.accepted].map(({ id }) => id));
      const undrained = ({ accepted }: DoorState) =>
        accepted.filter(({ id }) => !drained.has(id)).flatMap(({ counts }) => counts);
      const remembered = await readDrainedCounts(queue);
      balances.addAccepted(await look.accepted(remembered), undrained(before), undrained(after));
      return;
    }
    await look.takeBack();
  }
}

async function* readQueued(queue: QueueConnection, batches: readonly string[]): AsyncGenerator<QueuedEvent[]> {
  for await (const events of readBatches(queue, batches))
    yield events.map(({ organization_id: organizationId, id, replayed }) => {
      return { organizationId, id, isCounted: replayed !== true };
    });
}

function isSameCount(before: DoorState, after: DoorState): boolean {
  return JSON.stringify(before.accepted) === JSON.stringify(after.accepted);
}

class Balances {
  readonly #rows = new Map<string, EventBalance>();
  readonly #options: Pick<ReconcileOptions, 'organizationId' | 'month' | 'archivedThrough'>;

  constructor(options: Pick<ReconcileOptions, 'organizationId' | 'month' | 'archivedThrough'>) {
    this.#options = options;
  }

  addAccepted(drained: MonthCount[], before: MonthCount[], after: MonthCount[]): void {
    for (const count of [...drained, ...before]) this.#row(count).accepted += count.events;
    for (const count of [...drained, ...after]) this.#row(count).acceptedAtMost += count.events;
  }

  addFate(fate: Fate, counts: MonthCount[]): void {
    for (const count of counts) this.#row(count).fates[fate] += count.events;
  }

  /** The balances that were asked for, in the order of organization and month. */
  asked(): EventBalance[] {
    const { organizationId, month, archivedThrough = '' } = this.#options;
    const asked = [...this.#rows.values()].filter(
      (row) =>
        row.organizationId === (organizationId ?? row.organizationId) &&
        row.month === (month ?? row.month) &&
        row.month > archivedThrough,
    );
    for (const row of asked) row.difference = differenceOf(row);
    const orderOf = (row: EventBalance) => row.organizationId + row.month;
    return asked.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  }

  #row({ organizationId, month }: MonthCount): EventBalance {
    const key = `${organizationId}|${month}`;
    let row = this.#rows.get(key);
    if (row === undefined) {
      const fates = { recorded: 0, duplicate: 0, rejected: 0, queued: 0 };
      row = { organizationId, month, accepted: 0, acceptedAtMost: 0, fates, difference: 0 };
      this.#rows.set(key, row);
    }
    return row;
  }
}

function differenceOf({ accepted, acceptedAtMost, fates }: EventBalance): number {
  const found = FATES.reduce((sum, fate) => sum + fates[fate], 0);
  if (found < accepted) return accepted - found;
  return found > acceptedAtMost ? acceptedAtMost - found : 0;
}
