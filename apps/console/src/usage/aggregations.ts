// What the console says of the ways in which a meter counts, in the order in which they are offered. The document has their names: one
// that is missing here does not compile.

import type { Schema } from '../api/client.ts';
import { keysOf } from '../components/forms/keys-of.ts';

export type Aggregation = Schema<'Meter'>['aggregation_type'];

interface Words {
  /** Offered beside its name. */
  exact: string;
  /** Heading of the usage of a window. */
  total: string;
  /** Drawn as bars, since it adds up over time; an average or a maximum does not. */
  addsUp?: true;
  /** The unit where nobody has named one. */
  unit?: string;
  /** It counts a value of the metadata, so each event needs one. */
  metadata?: Record<string, string>;
}

export const AGGREGATIONS: Readonly<Record<Aggregation, Words>> = {
  COUNT: { exact: 'how many events', total: 'Events counted', addsUp: true, unit: 'events' },
  SUM: { exact: 'the quantities, added up', total: 'Sum', addsUp: true },
  UNIQUE_COUNT: {
    exact: 'different metadata.user_id',
    total: 'Distinct values',
    metadata: { user_id: 'ann' },
  },
  MAX: { exact: 'the largest quantity', total: 'Highest' },
  MIN: { exact: 'the smallest quantity', total: 'Lowest' },
  AVG: { exact: 'the average quantity', total: 'Average' },
  LAST: { exact: 'the latest quantity', total: 'Last value' },
};

const names = keysOf(AGGREGATIONS);

/** Choices by their names. */
export const EXACT_CHOICES = names.map((value) => ({ value, label: `${value}: ${AGGREGATIONS[value].exact}` }));
