import type { AggregationType } from '@weir/shared/meter';
import type { Selectable } from 'kysely';
import type { BillingTables } from './tables.ts';

/** A row of dues, with how its meter counts; null where it has none. */
export type DueRow = Selectable<BillingTables['dues']> & { aggregation: AggregationType | null };
