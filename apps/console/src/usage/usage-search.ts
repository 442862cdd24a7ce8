import { useNavigate, useSearch } from '@tanstack/react-router';
import type { SearchTexts } from '../components/lists/search-texts.ts';

/** What the page of usage shows stands in its address, so that it can be sent to somebody. Returns it, and what changes a part of it. */
export function useUsageSearch() {
  const search = useSearch({ from: '/shell/usage' });
  const navigate = useNavigate({ from: '/usage' });
  const change = (part: Partial<typeof search>): void =>
    void navigate({ search: (all: SearchTexts) => ({ ...all, ...part }), replace: true, resetScroll: false });
  return [search, change] as const;
}
