// What the page of usage asks: the usage of a meter over a window, in all, and told apart by customers or by values. With each answer
// comes what was asked, so that it is never shown under the words of the next question.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, send } from '../api/client.ts';
import { GROUP_BUCKETS_MAX } from '../api/limits.ts';
import { pace } from '../api/pace.ts';
import type { Meter, MeterUsage } from './meters.ts';
import { PARTS_DRAWN_FIRST, type Part, type PartName, type SplitKey } from './split.ts';
import { periodsAtMost, windowQuery, type UsageWindow } from './window.ts';

/** Usage is read anew this often while one looks at it. */
const REFRESH_MS = 1_500;

/** What is split takes several reads, or a larger one. */
const SPLIT_REFRESH_MS = 5_000;

/** As many values, or customers, as one reads through in a table beside a chart. */
const VALUES_MAX = 20;
const CUSTOMERS_MAX = 10;

export interface Scope {
  meter: Meter;
  window: UsageWindow;
  customer: string | undefined;
  /** A key of the metadata and its value. */
  only: Record<string, string> | undefined;
  /** Whether the days are those of this customer. While they are still those of the one before, nothing is asked. */
  isZoneKnown: boolean;
}

const PATH = '/api/v1/meters/{id}/usage';

function queryOf({ window, customer, only }: Scope) {
  return {
    ...windowQuery(window),
    group_by: window.by,
    ...(customer !== undefined && { customer_external_id: customer }),
    ...(only !== undefined && { filter: only }),
  };
}

export function useUsage(scope: Scope, isOn = true) {
  const { meter } = scope;
  const query = queryOf(scope);
  return useQuery({
    queryKey: [PATH, 'asked', meter.id, query],
    queryFn: async ({ signal }) => {
      const usage = await send(client.GET(PATH, { params: { path: { id: meter.id }, query }, signal }));
      return { usage, scope };
    },
    enabled: isOn && scope.isZoneKnown,
    refetchInterval: () => pace(REFRESH_MS),
    placeholderData: keepPreviousData,
  });
}

export interface SplitUsage {
  /** Of all together. */
  usage: MeterUsage;
  /** The largest first. */
  parts: Part[];
  /** What has values beyond these, where the API tells it: it is all that one knows of the rest of what does not add up. */
  rest: Part | undefined;
  split: SplitKey;
  /** What was asked. */
  scope: Scope;
}

/**
 * Customers are read one by one, so only as many as are drawn: those that were chosen, else the largest. The largest values come in one
 * answer, and beside it those that were chosen and are not among them.
 */
export function useSplitUsage(scope: Scope, split: SplitKey, chosen: readonly PartName[] | undefined) {
  const largest = useParts({ scope, split, chosen: split === null ? chosen : undefined });
  const parts = largest.data?.split === split ? largest.data?.parts : undefined;
  const added = parts && chosen?.filter((name) => name !== null && parts.every((part) => part.name !== name));
  const isAdding = split !== null && added !== undefined && added.length > 0;
  const withAdded = useParts({ scope, split, chosen: added }, isAdding, largest.data);
  return isAdding ? withAdded : largest;
}

interface PartsQuestion {
  scope: Scope;
  split: SplitKey;
  /** Customers: these alone. Values: these beside the largest. */
  chosen: readonly PartName[] | undefined;
}

function useParts({ scope, split, chosen }: PartsQuestion, isOn = true, meanwhile?: SplitUsage) {
  return useQuery<SplitUsage>({
    queryKey: [PATH, 'split', scope.meter.id, split, queryOf(scope), chosen],
    queryFn: async ({ signal }) => ({
      ...(split === null
        ? await readByCustomer(scope, chosen, signal)
        : await readByValue(scope, split, chosen ?? [], signal)),
      split,
      scope,
    }),
    enabled: isOn && scope.isZoneKnown,
    // Also while the API says that it is still making the groups of new keys.
    refetchInterval: () => pace(SPLIT_REFRESH_MS),
    placeholderData: (before) => before ?? meanwhile,
  });
}

type Parts = Pick<SplitUsage, 'usage' | 'parts' | 'rest'>;

async function readByValue(scope: Scope, key: string, added: readonly PartName[], signal: AbortSignal): Promise<Parts> {
  const path = { id: scope.meter.id };
  const names = added.filter((name) => name !== null);
  const beside = await Promise.all(
    names.map(async (name) => {
      const query = { ...queryOf(scope), filter: { ...scope.only, [key]: name } };
      return partOf(name, await send(client.GET(PATH, { params: { path, query }, signal })));
    }),
  );
  // Of many periods fewer values are told apart, so that the answer stays within its bound.
  const room = Math.floor(GROUP_BUCKETS_MAX / periodsAtMost(scope.window)) - 2;
  const groups_limit = Math.max(1, Math.min(VALUES_MAX, room));
  const query = { ...queryOf(scope), group_by_metadata: key, groups_limit };
  // The whole comes last: what arrives meanwhile is among the others, and these are never less than nothing.
  const usage = await send(client.GET(PATH, { params: { path, query }, signal }));
  const groups = usage.groups ?? [];
  const all = groups.map((group) => partOf(group.value, group));
  const largest = all.filter((_, index) => groups[index]?.is_rest === false);
  // It may be among the largest by now.
  const others = beside.filter(({ name }) => largest.every((part) => part.name !== name));
  return {
    usage,
    parts: [...largest, ...others],
    rest: all.find((_, index) => groups[index]?.is_rest === true),
  };
}

async function readByCustomer(
  scope: Scope,
  chosen: readonly PartName[] | undefined,
  signal: AbortSignal,
): Promise<Parts> {
  const path = { id: scope.meter.id };
  const ranking = { ...windowQuery(scope.window), page_size: CUSTOMERS_MAX };
  const ranked = await send(client.GET('/api/v1/meters/{id}/customers', { params: { path, query: ranking }, signal }));
  const largest = ranked.data.map(({ customer_external_id: id }) => id);
  const names = chosen?.filter((name) => name !== null) ?? largest.slice(0, PARTS_DRAWN_FIRST);
  const readOne = async (customer: string | undefined) =>
    await send(client.GET(PATH, { params: { path, query: queryOf({ ...scope, customer }) }, signal }));
  const read = await Promise.all(names.map(async (name) => partOf(name, await readOne(name))));
  // The whole comes last: what arrives meanwhile is among the others, and these are never less than nothing.
  const usage = await readOne(undefined);
  const others = ranked.data
    .filter(({ customer_external_id: id }) => !names.includes(id))
    .map((each): Part => {
      const { customer_external_id: name, total_usage: total, event_count: events } = each;
      return { name, usage: total, events, periods: undefined };
    });
  const place = ({ name }: Part): number => largest.indexOf(name ?? '');
  // Those that are not among the largest come after them.
  const parts = [...read, ...others].sort((a, b) => (place(a) >>> 0) - (place(b) >>> 0));
  return { usage, parts, rest: undefined };
}

function partOf(name: PartName, usage: Pick<MeterUsage, 'total_usage' | 'event_count' | 'grouped_data'>): Part {
  return {
    name,
    usage: usage.total_usage,
    events: usage.event_count,
    periods: usage.grouped_data.map(({ usage: used }) => used),
  };
}
