// What charges come to, and which invoice they are of.

import type { ChargeTerms } from '@weir/rating/charge-terms';
import type { AggregationType } from '@weir/shared/meter';
import type { Selectable } from 'kysely';
import type { Tables } from '../schema.ts';

/** A row of dues, with its terms as they are written, and how its meter counts; null where it has none. */
export type DueRow = Omit<Selectable<Tables['dues']>, 'terms'> & {
  terms: ChargeTerms;
  aggregation: AggregationType | null;
};
