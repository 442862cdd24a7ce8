// One batch, from Redis to Postgres: load → record (record-batch.ts of packages/db) → take off. Whatever dies in between, the batch is still
// in Redis and comes again, and recording it again changes nothing. Only after the commit is it taken off Redis, and only
// if nothing has joined it meanwhile. Events of an organization that the database does not have stay where they are. So do those that
// no replica has acknowledged where two copies are asked for: they are recorded, but what Redis has counted may be gone with it.

import type { Database } from '@weir/db/database';
import { findUnknown, recordBatch, type Persisted } from '@weir/db/record-batch';
import { recordDirectly } from '@weir/db/record-directly';
import { awaitStandby } from '@weir/db/standby';
import { leaveOnly, noteRecorded, readBatch, takeOff } from '@weir/queue/batches';
import type { QueueConnection } from '@weir/queue/connection';
import type { Ownership } from '@weir/queue/ownership';
import type { StagedEvent } from '@weir/shared/event';

export interface PersistDeps {
  database: Database;
  queue: QueueConnection;
  ownership: Pick<Ownership, 'check'>;
}

/**
 * Some events are of an organization that this database does not have: they may be another database's, or this one was
 * restored from before it signed up. They are kept, and tried again; the others of the batch are recorded.
 */
export class UnknownOrganization extends Error {
  readonly organizationId: string;
  /** Outcomes of the others. */
  readonly persisted: Persisted;

  constructor(organizationId: string, persisted: Persisted) {
    super(`the database has no organization ${organizationId}: its events are kept in the queue`);
    this.organizationId = organizationId;
    this.persisted = persisted;
  }
}

/** No replica of Redis has acknowledged a batch. Its events are recorded, and it is tried again. */
export class NotAcknowledged extends Error {}

/**
 * Persists a batch. One that is gone already is no error: its job came twice. Throws while Postgres or Redis is away, a
 * NotOurQueue when the queue belongs to another database, an UnknownOrganization, and a NotAcknowledged. `isRetry`: it was tried before.
 */
export async function persist(deps: PersistDeps, id: string, isRetry = false): Promise<Persisted> {
  const { database, queue, ownership } = deps;
  const persisted: Persisted = { recorded: 0, duplicates: 0, rejected: 0, reused: 0 };
  for (;;) {
    // Both are asked in one go.
    const [batch] = await Promise.all([readBatch(queue, id), ownership.check()]);
    const { events } = batch;
    if (events.length > 0) {
      if (!batch.isCopied) {
        const isAll = await recordForNow(database, events);
        // Whoever waits for what is staged need not wait for this. Without the note he does, until the batch comes again.
        if (isAll) await noteRecorded(queue, batch);
        throw new NotAcknowledged(`no replica of Redis has acknowledged batch ${id}`);
      }
      // To find out by inserting them that events are of an unknown organization would cost as much at each attempt.
      const unknown = isRetry ? await findUnknown(database, events) : new Set<StagedEvent>();
      const more = await recordBatch(
        database,
        events.filter((event) => !unknown.has(event)),
      );
      for (const outcome of ['recorded', 'duplicates', 'rejected', 'reused'] as const)
        persisted[outcome] += more[outcome];
      // The rest was there already, perhaps on this server alone. What was recorded just now is on its standby as well.
      if (more.recorded < events.length) await awaitStandby(database.kysely);
      const staying = [...unknown, ...more.unknown];
      const [first] = staying;
      if (first !== undefined) {
        if (staying.length < events.length) await leaveOnly(queue, batch, staying);
        throw new UnknownOrganization(first.organization_id, persisted);
      }
    }
    // From here on these events are in Postgres for good, so Redis may forget them.
    if (await takeOff(queue, batch)) return persisted;
  }
}

/**
 * Records the events of a batch whose Redis may be one that others have replaced, by now or in a moment. Each is counted as accepted beside
 * what Redis has counted, until the batch comes again and a replica has it. Returns whether that was all of them: not those of an
 * organization that the database does not have, nor those whose key another event holds, of which nothing is kept until then.
 */
async function recordForNow(database: Database, events: readonly StagedEvent[]): Promise<boolean> {
  const unknown = await findUnknown(database, events);
  const known = events.filter((event) => !unknown.has(event));
  const flush = known.map((event) => ({ event, apiKeyId: null, fingerprint: '' }));
  const answers = await recordDirectly(database, flush, { isPerhapsStaged: true, claimsKeys: false });
  for (const answer of answers) if ('error' in answer) throw answer.error;
  return unknown.size === 0 && answers.every(({ outcome }) => outcome !== 'held');
}
