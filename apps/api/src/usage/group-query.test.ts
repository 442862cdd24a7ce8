import type { Window } from '@weir/shared/window';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { gatherFilters, groupsOf } from './group-query.ts';

async function gathered(query: Record<string, unknown>): Promise<unknown> {
  const request = { query } as FastifyRequest;
  await gatherFilters(request);
  return request.query;
}

test('parameters that filter are gathered in their order, whatever their names hold, and the others stay', async () => {
  expect(await gathered({ group_by: 'day' })).toEqual({ group_by: 'day' });
  expect(
    await gathered({ 'filter[a]b]': 'x', group_by: 'day', 'filter[__proto__]': ['y', 'z'], filters: '1' }),
  ).toEqual({
    group_by: 'day',
    filters: '1',
    filter: [
      ['a]b', 'x'],
      ['__proto__', ['y', 'z']],
    ],
  });
});

test('a caller pays for the buckets of all groups and of the rest', () => {
  let paid = 0;
  const request = { pay: (buckets: number) => (paid += buckets) } as unknown as FastifyRequest;
  const window = { periods: Array.from({ length: 30 }) } as unknown as Window;
  const meter = { metadata_keys: ['model'] };
  expect(groupsOf(request, meter, { groups_limit: 20 }, window)).toBeUndefined();
  expect(groupsOf(request, meter, { groups_limit: 20, filter: [['model', 'a']] }, window)).toMatchObject({
    filters: [{ key: 'model', value: 'a' }],
  });
  expect(paid).toBe(0);
  groupsOf(request, meter, { groups_limit: 20, group_by_metadata: 'model' }, window);
  expect(paid).toBe(30 * 21);
});
