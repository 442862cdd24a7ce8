// There is one way to page: `cursor` and `limit` lead through every list that takes them, and where pages have numbers, these still say
// the same. That no list lacks it, but for those that something else bounds, is held by openapi.test.ts.

import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type RequestOptions } from '../support/harness.ts';
import { makeLists, type Lists } from '../support/every-list.ts';
import { readOpenapi, type Operation } from '../support/openapi-document.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let scene: Lists;
let operations: Operation[];
/** The lists that come by pages. */
let lists: Operation[];

beforeAll(async () => {
  operations = (await readOpenapi(weir)).operations;
  lists = operations.filter((each) => each.method === 'GET' && takes(each, 'cursor'));
  scene = await makeLists(weir);
}, 60_000);

const takes = ({ parameters }: Operation, name: string) => parameters.some((each) => each.name === name);

interface Page {
  data: Record<string, unknown>[];
  meta: { next_cursor: string | null; total?: number; total_pages?: number };
}

async function get(path: string, query: Record<string, string>, credentials?: RequestOptions): Promise<Page> {
  const { status, body } = await ask(path, query, credentials);
  expect([path, query, status, body.errors]).toEqual([path, query, 200, undefined]);
  return body;
}

function ask(path: string, query: Record<string, string>, credentials?: RequestOptions) {
  const { path: asked, query: always = {} } = scene.places[path] ?? { path };
  const widget = { headers: { authorization: `Bearer ${scene.widgetToken}` } };
  const own = path.startsWith('/api/v1/widget/') ? widget : { session: scene.session };
  const search = new URLSearchParams({ ...always, ...query });
  return weir.request('GET', `${asked}?${search.toString()}`, credentials ?? own);
}

/** What a row is known by, whatever else of it changes meanwhile. */
const nameOf = (row: Record<string, unknown>): unknown =>
  row['id'] ?? row['sequence'] ?? row['customer_external_id'] ?? JSON.stringify(row);

async function walk(
  path: string,
  limit: number,
  query: Record<string, string> = {},
): Promise<{ rows: unknown[]; sizes: number[] }> {
  const rows: unknown[] = [];
  const sizes: number[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { data, meta } = await get(path, { ...query, limit: String(limit), ...(cursor !== undefined && { cursor }) });
    rows.push(...data.map(nameOf));
    sizes.push(data.length);
    cursor = meta.next_cursor;
  }
  return { rows, sizes };
}

test('every list of the document has its place in the table of this file, with rows to walk over', async () => {
  expect(lists.length).toBeGreaterThan(30);
  for (const { path } of lists) {
    expect(scene.places[path]?.path ?? path).not.toContain('{');
    expect([path, (await get(path, { limit: '3' })).data.length]).toEqual([path, 3]);
  }
});

test('a walk by cursor over any list shows what its pages show, each row once', async () => {
  for (const { path, parameters } of lists) {
    const isNumbered = parameters.some(({ name }) => name === 'page');
    const whole = await get(path, isNumbered ? { page: '1', page_size: '100' } : { limit: '100' });
    const known = new Set(whole.data.map(nameOf));
    // A long one is walked in some four steps, since each costs a request.
    const limit = whole.data.length <= 6 ? 1 : Math.ceil(whole.data.length / 4);
    const { rows, sizes } = await walk(path, limit);
    expect(Math.max(...sizes), path).toBeLessThanOrEqual(limit);
    expect(new Set(rows).size, path).toBe(rows.length);
    // Meanwhile something may be new in the feed.
    expect([path, rows.filter((row) => known.has(row))]).toEqual([path, [...known]]);
  }
}, 60_000);

describe('where pages have numbers', () => {
  const numbered = () => lists.filter((each) => takes(each, 'page'));

  test('they are what they were, with the cursor of what follows', async () => {
    expect(numbered().length).toBeGreaterThan(24);
    for (const { path } of numbered()) {
      const [first, second] = [
        await get(path, { page: '1', page_size: '1' }),
        await get(path, { page: '2', page_size: '1' }),
      ];
      const { total = 0 } = first.meta;
      const cursor = expect.any(String);
      expect([path, first.meta]).toEqual([
        path,
        { page: 1, page_size: 1, total: expect.any(Number), total_pages: total, next_cursor: cursor },
      ]);
      const next = await get(path, { cursor: first.meta.next_cursor ?? '', limit: '1' });
      expect([path, next.data.map(nameOf)]).toEqual([path, second.data.map(nameOf)]);
      expect(next.meta).toEqual({ next_cursor: cursor });
      const past = await get(path, { page: '1000', page_size: '100' });
      expect([path, past.data, past.meta.next_cursor]).toEqual([path, [], null]);
    }
  });

  test('without any of it a list begins at its beginning, as always, and says where it goes on', async () => {
    for (const { path } of numbered().filter((each) => each.path !== '/api/v1/features')) {
      const { meta } = await get(path, {});
      expect([path, meta]).toMatchObject([path, { page: 1, page_size: 20 }]);
      expect([path, meta.next_cursor === null]).toEqual([path, (meta.total ?? 0) <= 20]);
    }
    // Features come all at once.
    expect((await get('/api/v1/features', {})).meta).toBeUndefined();
  });

  test('both ways at once are refused, with what to do', async () => {
    const message = 'must not be sent together with page or page_size: send cursor and limit alone';
    for (const { path } of numbered()) {
      for (const [query, field] of [
        [{ cursor: 'abc', page: '1' }, 'cursor'],
        [{ cursor: 'abc', page_size: '5' }, 'cursor'],
        [{ limit: '5', page: '1' }, 'limit'],
      ] as const) {
        const answer = await ask(path, query);
        expectProblem(answer, 422, 'invalid_request');
        expect([path, answer.body.errors]).toEqual([path, [{ path: field, message }]]);
      }
    }
  });
});

test('every order of a list is the same by pages and by cursor, and the other way round with a minus', async () => {
  const sorted = lists.filter((each) => takes(each, 'sort'));
  expect(sorted.length).toBeGreaterThan(5);
  for (const { path, parameters } of sorted) {
    const sorts = parameters.find(({ name }) => name === 'sort')?.schema.enum as string[];
    expect([path, sorts.length]).toEqual([path, expect.toSatisfy((count: number) => count >= 2)]);
    for (const sort of sorts) {
      const whole = (await get(path, { sort, page: '1', page_size: '100' })).data.map(nameOf);
      expect([path, sort, (await walk(path, 2, { sort })).rows]).toEqual([path, sort, whole]);
      const opposite = sort.startsWith('-') ? sort.slice(1) : `-${sort}`;
      const other = (await get(path, { sort: opposite, limit: '100' })).data.map(nameOf);
      expect([path, sort, other.toReversed()]).toEqual([path, sort, whole]);
    }
    const answer = await ask(path, { sort: 'nothing' });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toEqual([{ path: 'sort', message: `must be one of ${sorts.join(', ')}` }]);
    const [first = ''] = sorts;
    const { next_cursor: cursor } = (await get(path, { limit: '1', sort: first })).meta;
    expectProblem(await ask(path, { cursor: cursor ?? '', sort: `-${first}` }), 422, 'invalid_request');
  }
});

test('names are in order whatever the case of their letters, and invoices by issue date are without drafts', async () => {
  const { session } = await signUp(weir);
  for (const [external_id, name] of [
    ['z', 'b'],
    ['C', undefined],
    ['y', 'A'],
    ['x', 'a'],
    ['w', 'B'],
  ])
    await weir.request('POST', '/api/v1/customers', { session, body: { external_id, name } });
  const { data } = await get('/api/v1/customers', { sort: 'name' }, { session });
  expect(data.map((each) => each['external_id'])).toEqual(['y', 'x', 'z', 'w', 'C']);
  const { data: invoices } = await get('/api/v1/invoices', { sort: '-issue_date' });
  const dates = invoices.map((each) => each['issue_date']);
  expect(dates).toEqual(dates.map(() => expect.any(String)));
  expect(dates.length).toBeGreaterThan(3);
});

test('what is no cursor is refused by every list, and says what one is', async () => {
  const forged = Buffer.from(JSON.stringify(['-id', "' OR true --"])).toString('base64url');
  for (const { path } of lists) {
    for (const cursor of ['', 'x', '%', '\0', "' OR true --", forged, 'A'.repeat(4_097), '🦊', 'null']) {
      const answer = await ask(path, { cursor });
      expectProblem(answer, 422, 'invalid_request');
      expect([path, cursor, answer.body.errors]).toEqual([
        path,
        cursor,
        [{ path: 'cursor', message: 'must be the next_cursor of the page before' }],
      ]);
    }
  }
});

test('a cursor of another list is refused, or leads to rows of the list that was asked for', async () => {
  const cursors: string[] = [];
  for (const { path } of lists) cursors.push((await get(path, { limit: '1' })).meta.next_cursor ?? '');
  const outcomes = new Set<number>();
  for (const [index, { path }] of lists.entries()) {
    const whole = new Set((await get(path, { limit: '100' })).data.map(nameOf));
    for (const cursor of [1, 5, 12].map((step) => cursors[(index + step) % lists.length] ?? '')) {
      const { status, body } = await ask(path, { cursor, limit: '5' });
      outcomes.add(status);
      // Sequences of the feed go on.
      const strange = status === 200 ? (body as Page).data.map(nameOf).filter((row) => !whole.has(row)) : [];
      expect([path, cursor, strange.filter((row) => typeof row !== 'number')]).toEqual([path, cursor, []]);
    }
  }
  expect(outcomes).toEqual(new Set([200, 422]));
}, 60_000);

test('a cursor leads nobody to rows of another organization', async () => {
  const stranger = await signUp(weir);
  for (const { path } of lists.filter((each) => !each.path.includes('/widget/') && !each.path.includes('{'))) {
    const { next_cursor: cursor } = (await get(path, { limit: '1' })).meta;
    const own = new Set((await get(path, { limit: '100' })).data.map(nameOf));
    const { data } = await get(path, { cursor: cursor ?? '', limit: '100' }, { session: stranger.session });
    // Sequences of feeds count from 1 in each.
    expect([path, data.map(nameOf).filter((row) => typeof row === 'string' && own.has(row))]).toEqual([path, []]);
  }
});

test('the feed is followed by its cursor to its end, and from there by its sequence', async () => {
  const path = '/api/v1/billing-events';
  const answer = await ask(path, { cursor: '1', after: '1' });
  expectProblem(answer, 422, 'invalid_request');
  expect(answer.body.errors).toEqual([
    { path: 'cursor', message: 'must not be sent together with after: send one of them' },
  ]);
  const [by, after] = [await get(path, { cursor: '1', limit: '2' }), await get(path, { after: '1', limit: '2' })];
  expect(by).toEqual(after);
  expect(by.meta).toEqual({ next_after: 3, next_cursor: '3' });
});
