// Reads the part of a query about metadata: `group_by_metadata=model` and `filter[model]=gpt-4`.

import type { Meter } from '@weir/db/meters';
import type { GroupQuestion } from '@weir/db/usage/read-groups';
import type { FieldError } from '@weir/shared/errors';
import { isStorable, text } from '@weir/shared/text';
import type { Window } from '@weir/shared/window';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sizeOf } from '../http/fields.ts';
import { KEY_CHARACTERS_MAX } from '../http/field-errors.ts';
import { invalidFields } from '../http/problem.ts';

type Filters = [key: string, value: unknown][];

const FILTER_EXAMPLE = 'write filter[model]=gpt-4 for the events whose metadata has that model';

export const groupQuery = {
  group_by_metadata: text(1, LIMITS.shortText).optional().meta({
    description:
      "One of the meter's metadata_keys. The answer then has groups: the usage of each of its values, largest first.",
  }),
  groups_limit: sizeOf('groups').meta({
    description: 'How many values are told apart. The others are one group, the rest.',
  }),
  filter: z
    .custom<Filters>((given) => Array.isArray(given) && given.every(Array.isArray), FILTER_EXAMPLE)
    .refine(
      (filters) => filters.length <= LIMITS.meterKeys,
      `must name at most ${LIMITS.meterKeys} keys: a meter has no more of them`,
    )
    .optional()
    .meta({
      type: 'object',
      additionalProperties: { type: 'string' },
      style: 'deepObject',
      explode: true,
      description:
        "filter[model]=gpt-4: only events with this value, by any of the meter's metadata_keys. Numbers and booleans as text.",
    }),
};

export type GroupQuery = z.output<z.ZodObject<typeof groupQuery>>;

const FILTER = /^filter\[(.*)\]$/s;

/** Gathers the parameters `filter[…]` into `filter`, before the query is checked: their names are not known to any schema. */
export async function gatherFilters(request: FastifyRequest): Promise<void> {
  const filters: Filters = [];
  const rest: [string, unknown][] = [];
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    const key = FILTER.exec(name)?.[1];
    if (key === undefined) rest.push([name, value]);
    else filters.push([key, value]);
  }
  if (filters.length > 0 && !rest.some(([name]) => name === 'filter'))
    request.query = Object.fromEntries([...rest, ['filter', filters]]);
}

/**
 * What of a question is about metadata, charged to the caller; undefined where nothing is. Throws a Refusal for keys that the meter
 * does not name, and for an answer that would be too large.
 */
export function groupsOf(
  request: FastifyRequest,
  { metadata_keys: keys }: Pick<Meter, 'metadata_keys'>,
  query: GroupQuery,
  { periods }: Window,
): Pick<GroupQuestion, 'keys' | 'filters' | 'groupBy'> | undefined {
  const { group_by_metadata: groupBy, groups_limit: limit, filter = [] } = query;
  if (groupBy === undefined && filter.length === 0) return undefined;
  const notNamed =
    keys.length === 0
      ? 'must be one of the metadata_keys of the meter, and it has none: name some with PATCH /api/v1/meters/{id}'
      : `must be one of the metadata_keys of the meter: ${keys.join(', ')}`;
  const errors: FieldError[] = [];
  if (groupBy !== undefined && !keys.includes(groupBy)) errors.push({ path: 'group_by_metadata', message: notNamed });
  const filters = filter.map(([key, value]) => {
    const path = `filter[${key.slice(0, KEY_CHARACTERS_MAX)}]`;
    if (!keys.includes(key)) errors.push({ path, message: notNamed });
    else if (typeof value !== 'string') errors.push({ path, message: 'must be sent once' });
    else if (!isStorable(value))
      errors.push({ path, message: 'must not hold a NUL character or half of a surrogate pair' });
    return { key, value: String(value) };
  });
  if (errors.length > 0) throw invalidFields(errors);
  if (groupBy === undefined) return { keys, filters };
  const buckets = periods.length * (limit + 1);
  if (periods.length + buckets > LIMITS.groupBuckets) {
    const message = `would make more than ${LIMITS.groupBuckets} buckets: ask for fewer groups, a shorter window or longer periods`;
    throw invalidFields([{ path: 'groups_limit', message }]);
  }
  request.pay(buckets);
  return { keys, filters, groupBy: { key: groupBy, limit } };
}
