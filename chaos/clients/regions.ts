// By what some meters of a run group usage: a key of the metadata, which most of their events have.

import type { AggregationType } from '@weir/shared/meter';

export const REGIONS = ['eu', 'us', 'asia'] as const;

const GROUPED: readonly AggregationType[] = ['SUM', 'MAX', 'UNIQUE_COUNT'];

export const isGrouped = (aggregation: AggregationType): boolean => GROUPED.includes(aggregation);
