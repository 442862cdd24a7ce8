// The aggregations in SQL, each once: of which column of the rollups its usage is. All statements that read meters of several
// aggregations are made of these. One that is missing here does not compile, and none is read as another one.

import { AGGREGATION_TYPES, AGGREGATIONS, type Aggregation, type AggregationType } from '@weir/shared/meter';
import { addedUp, ofEvent, ofLast, USAGE_COLUMNS, type UsageColumn } from './rollups.ts';
import type { Reading } from './usage/usage-rows.ts';

type Kind = Aggregation['kind'];

/** The SQL of each kind of aggregation. */
interface OfKind {
  total: { column: 'event_count' | 'quantity_sum' };
  /** It leaves Postgres as its sum, and is divided in `usageOf`. */
  mean: { column: 'quantity_sum' };
  extreme: {
    column: UsageColumn;
    /** Says of which event the column is. */
    beside?: readonly UsageColumn[];
    /** The column of some rows, among which there may be those of other aggregations. */
    amongOthers: string;
    /** Whether an event in `late` is the one that a row tells of. */
    isLate: string;
  };
  /** Rollups of usage only count the events; the values have rollups of their own. */
  values: { column: 'event_count' };
}

const SQL = {
  COUNT: { column: 'event_count' },
  SUM: { column: 'quantity_sum' },
  MAX: { column: 'quantity_max', amongOthers: addedUp('quantity_max'), isLate: 'late.quantity = quantity_max' },
  MIN: { column: 'quantity_min', amongOthers: addedUp('quantity_min'), isLate: 'late.quantity = quantity_min' },
  AVG: { column: 'quantity_sum' },
  LAST: {
    column: 'last_quantity',
    beside: ['last_timestamp', 'last_event_id'],
    // To sort is dear, so only what needs it is sorted.
    amongOthers: ofLast('last_quantity', 'last_timestamp', 'last_event_id', `WHERE aggregation = 'LAST'`),
    isLate: 'late.event_id = last_event_id',
  },
  UNIQUE_COUNT: { column: 'event_count' },
} as const satisfies { [Type in AggregationType]: OfKind[(typeof AGGREGATIONS)[Type]['kind']] };

const sqlOf = (aggregation: AggregationType): OfKind[Kind] & Partial<OfKind['extreme']> => SQL[aggregation];
const kindOf = (aggregation: AggregationType): Kind => AGGREGATIONS[aggregation].kind;

/** How usage is read: of which columns of a rollup, and what the usage of such rows is. */
export interface ColumnsRead {
  columns: readonly UsageColumn[];
  usage: string;
}

/** How the usage of one aggregation is read. Of `values` only the events are counted. */
export function columnsRead(aggregation: AggregationType): ColumnsRead {
  const { column, beside = [] } = sqlOf(aggregation);
  return { columns: [...new Set<UsageColumn>(['event_count', ...beside, column])], usage: addedUp(column) };
}

/** The same for meters of any aggregation but one of `values`, side by side. */
export const ANY_READ: ColumnsRead = {
  columns: USAGE_COLUMNS,
  usage: caseOf('aggregation_type', (type) => (kindOf(type) === 'values' ? undefined : columnsRead(type).usage)),
};

/** Columns of rows, and what a single event has in their place. It names them, since any part of a UNION can be the first. */
export function readingOf(columns: readonly UsageColumn[]): Reading {
  return { ofRow: columns.join(', '), ofEvent: columns.map((column) => `${ofEvent(column)} AS ${column}`).join(', ') };
}

/** Whether an aggregation is of a kind. */
export function isOf(aggregation: string, kind: Kind): string {
  const types = AGGREGATION_TYPES.filter((type) => kindOf(type) === kind);
  return `${aggregation} IN (${types.map((type) => `'${type}'`).join(', ')})`;
}

/** The value that an event is counted by; null where its meter counts none. */
export function valueHash(aggregation: string): string {
  return `CASE WHEN ${isOf(aggregation, 'values')} THEN unique_value_hash(metadata) END AS value_hash`;
}

/** The sum, by the column that the aggregation adds up; null for those that are no total. */
export function caseOfTotal(aggregation: string, sums: Record<OfKind['total']['column'], string>): string {
  const of: Partial<Record<UsageColumn, string>> = sums;
  return caseOf(aggregation, (type) => (kindOf(type) === 'total' ? of[sqlOf(type).column] : undefined));
}

/** The columns of some rows, of which each is the quantity of one event. */
export const EXTREMES = [
  ...new Set(
    AGGREGATION_TYPES.flatMap((type) => {
      const { column, amongOthers } = sqlOf(type);
      return amongOthers === undefined ? [] : [`${amongOthers} AS ${column}`];
    }),
  ),
].join(', ');

/** Whether an event in `late` is the one that a row of such an aggregation tells of. */
export function isLateInRow(aggregation: string): string {
  return caseOf(aggregation, (type) => sqlOf(type).isLate);
}

/** The usage that was summed up, of extremes and numbers of values where there are such among the aggregations that are asked for. */
export function caseOfSummed(aggregation: string, read: { extremes: boolean; uniques: boolean }): string {
  const isRead: Record<Kind, boolean> = { total: true, mean: true, extreme: read.extremes, values: read.uniques };
  return caseOf(aggregation, (type) => {
    const kind = kindOf(type);
    if (!isRead[kind]) return undefined;
    return kind === 'values' ? 'coalesce(uniques, 0)' : sqlOf(type).column;
  });
}

/** A CASE without an ELSE: of an aggregation that is not told of nothing is read, rather than something else. */
function caseOf(aggregation: string, then: (type: AggregationType) => string | undefined): string {
  const cases = AGGREGATION_TYPES.flatMap((type) => {
    const found = then(type);
    return found === undefined ? [] : [`WHEN '${type}' THEN ${found}`];
  });
  return `CASE ${aggregation} ${cases.join(' ')} END`;
}
