import type { AggregationType, MeterStatus } from '@weir/shared/meter';
import type { Queries } from './database.ts';
import { announceChange } from './known-for-recording.ts';
import { sortsByName } from './order.ts';
import { countRows, hasDone, holds, selectPage, type Page, type PageOf } from './page.ts';
import type { Read } from './schema.ts';

export type Meter = Read<'meters'>;

/** The fields of a meter that can be changed. Its aggregation cannot: it is what recorded usage means. */
export interface MeterChanges {
  name?: string | undefined;
  unit?: string | null | undefined;
  status?: MeterStatus | undefined;
}

const columns = [
  'id',
  'name',
  'meter_token',
  'aggregation_type',
  'unit',
  'status',
  'metadata_keys',
  'feature_id',
  'created_at',
] as const;

/** In a transaction: what records has to learn of its keys before its first event. */
export async function insertMeter(
  db: Queries,
  meter: {
    organization_id: string;
    id: string;
    feature_id: string;
    name: string;
    meter_token: string;
    aggregation_type: AggregationType;
    unit: string | null;
    metadata_keys: string[];
  },
): Promise<void> {
  await db.insertInto('meters').values(meter).execute();
  if (meter.metadata_keys.length > 0) await announceChange(db, meter.organization_id);
}

/** How many an organization has, with those that are archived. */
export async function countMeters(db: Queries, organizationId: string): Promise<number> {
  return await countRows(db.selectFrom('meters').where('organization_id', '=', organizationId));
}

/** All of an organization's are put in order for each page: `LIMITS.meters` at most. */
export const METER_SORTS = sortsByName<Meter>();

/** Which meters to list: `search` is a part of the name or of the token, in whatever case. */
export interface MeterFilter {
  search: string;
  status?: MeterStatus | undefined;
  aggregationType?: AggregationType | undefined;
  /** Newest first, where nothing is said. */
  sort?: keyof typeof METER_SORTS | undefined;
}

/** Those that match all that is given. */
export async function listMeters(
  db: Queries,
  organizationId: string,
  { search, status, aggregationType, sort = '-created_at' }: MeterFilter,
  page: Page,
): Promise<PageOf<Meter>> {
  let query = db
    .selectFrom('meters')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where((eb) => holds(eb, search, 'name', 'meter_token'));
  if (status !== undefined) query = query.where('status', '=', status);
  if (aggregationType !== undefined) query = query.where('aggregation_type', '=', aggregationType);
  return await selectPage(query, METER_SORTS[sort], page);
}

export async function findMeter(db: Queries, organizationId: string, id: string): Promise<Meter | undefined> {
  return await meterBy(db, organizationId, id).executeTakeFirst();
}

/** The meter, if there is such a one; nobody changes or archives it before this transaction ends. */
export async function lockMeter(transaction: Queries, organizationId: string, id: string): Promise<Meter | undefined> {
  return await meterBy(transaction, organizationId, id).forShare().executeTakeFirst();
}

function meterBy(db: Queries, organizationId: string, id: string) {
  return db.selectFrom('meters').select(columns).where('organization_id', '=', organizationId).where('id', '=', id);
}

/** Changes what is given, of which there must be at least one thing, and returns the meter if there is such a one. */
export async function updateMeter(
  db: Queries,
  organizationId: string,
  id: string,
  changes: MeterChanges,
): Promise<Meter | undefined> {
  return await db
    .updateTable('meters')
    .set(changes)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst();
}

/** Changes the unit of the meter behind a feature. Returns whether there is a meter behind it. */
export async function updateUnitOfFeature(
  db: Queries,
  organizationId: string,
  featureId: string,
  unit: string | null,
): Promise<boolean> {
  return await hasDone(
    db
      .updateTable('meters')
      .set({ unit })
      .where('organization_id', '=', organizationId)
      .where('feature_id', '=', featureId),
  );
}

/** Closes the meter behind a feature, if there is one, for new events, and returns its id. What it has counted stays readable. */
export async function archiveMeterOfFeature(
  db: Queries,
  organizationId: string,
  featureId: string,
): Promise<string | undefined> {
  const meter = await db
    .updateTable('meters')
    .set({ status: 'ARCHIVED' })
    .where('organization_id', '=', organizationId)
    .where('feature_id', '=', featureId)
    .returning('id')
    .executeTakeFirst();
  return meter?.id;
}

/** Finds those of some meters that there are, by organization. */
export async function findExistingMeters(
  db: Queries,
  meterIds: readonly string[],
): Promise<{ organization_id: string; id: string }[]> {
  return await db.selectFrom('meters').select(['organization_id', 'id']).where('id', 'in', meterIds).execute();
}
