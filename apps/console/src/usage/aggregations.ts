// What the console says of the ways in which a meter counts, in the order in which they are offered. The document has their names: one
// that is missing here does not compile.

import type { Schema } from '../api/client.ts';
import { keysOf } from '../components/forms/keys-of.ts';

export type Aggregation = Schema<'Meter'>['aggregation_type'];

interface Words {
  /** Offered to somebody who is new. */
  plain: string;
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
  COUNT: {
    plain: 'How many events',
    exact: 'how many events',
    total: 'Events counted',
    addsUp: true,
    unit: 'events',
  },
  SUM: { plain: 'Their quantities added up', exact: 'the quantities, added up', total: 'Sum', addsUp: true },
  UNIQUE_COUNT: {
    plain: 'How many different users',
    exact: 'different metadata.user_id',
    total: 'Distinct values',
    metadata: { user_id: 'ann' },
  },
  MAX: { plain: 'The highest quantity', exact: 'the largest quantity', total: 'Highest' },
  MIN: { plain: 'The lowest quantity', exact: 'the smallest quantity', total: 'Lowest' },
  AVG: { plain: 'The average quantity', exact: 'the average quantity', total: 'Average' },
  LAST: { plain: 'The last quantity', exact: 'the latest quantity', total: 'Last value' },
};

const names = keysOf(AGGREGATIONS);

/** Choices in plain words. */
export const PLAIN_CHOICES = names.map((value) => ({ value, label: AGGREGATIONS[value].plain }));

/** The same by their names. */
export const EXACT_CHOICES = names.map((value) => ({ value, label: `${value}: ${AGGREGATIONS[value].exact}` }));
