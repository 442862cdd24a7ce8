import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Sorting } from './data-table.tsx';

/**
 * What a list shows, kept in the address: it is there again after a look at one of its rows, and can be sent to somebody.
 * A change of anything but the page leads to the first page.
 */
export function useSearchState<Name extends string>() {
  type State = { [Key in Name | 'page']?: string };
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const state = Object.fromEntries(Object.entries(search).map(([name, value]) => [name, String(value)])) as State;
  const change = (part: { [Key in Name]?: string | null }): void => {
    const next = Object.entries({ ...state, page: undefined, ...part }).filter(
      ([, value]) => value != null && value !== '',
    );
    void navigate({ to: '.', search: Object.fromEntries(next), replace: true });
  };
  const page = Number(state.page ?? 1) || 1;
  const setPage = (to: number): void =>
    void navigate({ to: '.', search: { ...state, page: to === 1 ? undefined : to } });
  return { state, change, page, setPage };
}

/** In which order a list is, kept in the address as well: one of those that it has, else its own. */
export function useSorting<Sort extends string>(sorts: readonly Sort[]) {
  const { state, change } = useSearchState<'sort'>();
  const sort = sorts.find((each) => each === state.sort);
  const sorting: Sorting = { sort, onSort: (next) => change({ sort: next ?? null }) };
  return { sorting, sorted: { ...(sort !== undefined && { sort }) } };
}
