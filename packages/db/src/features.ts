import type { AggregationType } from '@weir/shared/meter';
import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { holdRow } from './hold-row.ts';
import { sortsByName } from './order.ts';
import { countRows, holds, inOrder, selectPage, type Page, type PageOf } from './page.ts';
import type { FeatureType } from './schema.ts';

/** A feature, with the meter behind it where its type is `meter`, and the number of plans that use it. */
export interface Feature {
  id: string;
  name: string;
  lookup_key: string;
  type: FeatureType;
  meter_id: string | null;
  meter_token: string | null;
  aggregation_type: AggregationType | null;
  unit: string | null;
  metadata_keys: string[] | null;
  plan_count: number;
  created_at: string;
}

/** The fields of a feature that can be changed. */
export interface FeatureChanges {
  name?: string | undefined;
  lookup_key?: string | undefined;
}

function selectFeatures(db: Queries, organizationId: string) {
  return db
    .selectFrom('features')
    .leftJoin('meters', (join) =>
      join
        .onRef('meters.organization_id', '=', 'features.organization_id')
        .onRef('meters.feature_id', '=', 'features.id'),
    )
    .select([
      'features.id',
      'features.name',
      'features.lookup_key',
      'features.type',
      'meters.id as meter_id',
      'meters.meter_token',
      'meters.aggregation_type',
      'meters.unit',
      'meters.metadata_keys',
      'features.created_at',
    ])
    .select(({ selectFrom, cast }) =>
      cast<number>(
        selectFrom('plan_features')
          .whereRef('plan_features.organization_id', '=', 'features.organization_id')
          .whereRef('plan_features.feature_id', '=', 'features.id')
          .select(({ fn }) => fn.countAll().as('count')),
        'integer',
      ).as('plan_count'),
    )
    .where('features.organization_id', '=', organizationId);
}

/** Violates `features_organization_id_lookup_key_key` when the lookup_key is taken. */
export async function insertFeature(
  db: Queries,
  feature: { organization_id: string; id: string; name: string; lookup_key: string; type: FeatureType },
): Promise<void> {
  await db.insertInto('features').values(feature).execute();
}

/** How many an organization has. */
export async function countFeatures(db: Queries, organizationId: string): Promise<number> {
  return await countRows(db.selectFrom('features').where('organization_id', '=', organizationId));
}

/** All of an organization's are put in order for each page: a few thousand at most. */
export const FEATURE_SORTS = sortsByName<Feature>({ column: 'features.name' }, { column: 'features.id' });

/** Which features to list: `search` is a part of the name or of the lookup_key, in whatever case. */
export interface FeatureFilter {
  search: string;
  type?: FeatureType | undefined;
  aggregationType?: AggregationType | undefined;
  /** Oldest first, where nothing is said. */
  sort?: keyof typeof FEATURE_SORTS | undefined;
}

/** Those that match all that is given: a page of them, or without one all. */
export async function listFeatures(
  db: Queries,
  organizationId: string,
  { search, type, aggregationType, sort = 'created_at' }: FeatureFilter,
  page: Page | undefined,
): Promise<PageOf<Feature>> {
  let query = selectFeatures(db, organizationId).where((eb) =>
    holds(eb, search, 'features.name', 'features.lookup_key'),
  );
  if (type !== undefined) query = query.where('features.type', '=', type);
  if (aggregationType !== undefined) query = query.where('meters.aggregation_type', '=', aggregationType);
  if (page !== undefined) return await selectPage(query, FEATURE_SORTS[sort], page);
  return { rows: await inOrder(query, FEATURE_SORTS[sort]).execute(), next: null };
}

export async function findFeature(db: Queries, organizationId: string, id: string): Promise<Feature | undefined> {
  return await selectFeatures(db, organizationId).where('features.id', '=', id).executeTakeFirst();
}

/**
 * Holds off others that change a feature, or the meter behind it, until the transaction ends; what refers to them may be written
 * meanwhile. The feature before its meter: lock 6 of decision 94.
 */
export async function holdFeature(transaction: Queries, organizationId: string, id: string): Promise<void> {
  await holdRow('features')(transaction, organizationId, id);
  await transaction
    .selectFrom('meters')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('feature_id', '=', id)
    .forNoKeyUpdate()
    .execute();
}

/** Whether there is such a feature; where there is, nobody else changes or deletes it before this transaction ends. */
export async function lockFeature(transaction: Queries, organizationId: string, id: string): Promise<boolean> {
  return (await lockFeatures(transaction, organizationId, [id])).has(id);
}

/** Returns the types of those of these features that there are; nobody else changes or deletes them before this transaction ends. */
export async function lockFeatures(
  transaction: Queries,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, FeatureType>> {
  const found = await transaction
    .selectFrom('features')
    .select(['id', 'type'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    // In one order, so that two who want the same do not wait for each other.
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Map(found.map(({ id, type }) => [id, type]));
}

/** Changes what is given; at least one thing must be. */
export async function updateFeature(
  db: Queries,
  organizationId: string,
  id: string,
  changes: FeatureChanges,
): Promise<void> {
  await db
    .updateTable('features')
    .set(changes)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

/**
 * Violates `plan_features_organization_id_feature_id_fkey` while a plan uses it. The meter behind it stays; see
 * `archiveMeterOfFeature`.
 */
export async function deleteFeature(db: Queries, organizationId: string, id: string): Promise<void> {
  await db.deleteFrom('features').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}
