// Events that an API recorded itself without knowing whether Redis has them as well. Redis counts what it accepts in the step that
// stages it, so such an event would be counted twice, or not at all. Until it turns up there, its row here is what counts it.

import type { StagedEvent } from '@weir/shared/event';
import { plainArray } from './array-text.ts';
import type { Runs } from './runs.ts';

/** Counts events that were recorded in this transaction, and may be among those that Redis has counted. */
export async function insertPerhapsStaged(connection: Runs, events: readonly StagedEvent[]): Promise<void> {
  if (events.length === 0) return;
  await connection.query(
    `INSERT INTO perhaps_staged_events (organization_id, id) SELECT * FROM unnest($1::uuid[], $2::uuid[]) ORDER BY 1, 2`,
    keysOf(events),
  );
}

/** Leaves those of these events, which have turned up in Redis, to its counts. One that is replayed is not counted there. */
export async function forgetPerhapsStaged(connection: Runs, events: readonly StagedEvent[]): Promise<void> {
  const counted = events.filter(({ replayed }) => replayed !== true);
  if (counted.length === 0) return;
  await connection.query(
    `DELETE FROM perhaps_staged_events USING unnest($1::uuid[], $2::uuid[]) AS t (organization_id, id)
     WHERE (perhaps_staged_events.organization_id, perhaps_staged_events.id) = (t.organization_id, t.id)`,
    keysOf(counted),
  );
}

function keysOf(events: readonly StagedEvent[]): string[] {
  return [plainArray(events.map((event) => event.organization_id)), plainArray(events.map(({ id }) => id))];
}
