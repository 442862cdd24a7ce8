import { Select } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client, read, send, type Schema } from '../api/client.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { ListExport } from '../components/lists/list-export.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { SearchField } from '../components/lists/search-field.tsx';
import { Page } from '../components/page/page.tsx';
import { useSearchState, useSorting } from '../components/lists/search-state.ts';

type Plan = Schema<'Plan'>;

const columns: Column<Plan>[] = [
  {
    title: 'Name',
    sort: 'name',
    cell: ({ id, name }) => (
      <Link to="/plans/$planId" params={{ planId: id }} className="row-link">
        {name}
      </Link>
    ),
  },
  { title: 'Lookup ID', cell: ({ lookup_id }) => <code>{lookup_id}</code>, isExtra: true },
  { title: 'Charges', cell: ({ type }) => TYPES.find(({ value }) => value === type)?.label },
  { title: 'Billed', cell: ({ billing_interval, currency }) => `every ${billing_interval}, ${currency}` },
  { title: 'Trial', cell: ({ trial_days }) => (trial_days === 0 ? '–' : `${trial_days} days`), isExtra: true },
  { title: 'New subscriptions', cell: ({ is_active }) => (is_active ? 'yes' : 'no'), isExtra: true },
];

const TYPES = [
  { value: 'HYBRID', label: 'Fixed and usage' },
  { value: 'USAGE', label: 'Usage' },
  { value: 'FIXED', label: 'Fixed' },
] as const;

export function PlansPage() {
  const { state, change, page, setPage } = useSearchState<'search' | 'type'>();
  const { sorting, sorted } = useSorting(['name', '-name']);
  const type = TYPES.find(({ value }) => value === state.type)?.value;
  const { search } = state;
  const filter = { ...sorted, ...(search !== undefined && { search }), ...(type !== undefined && { type }) };
  const plans = useQuery({
    ...read('/api/v1/plans', { query: { page, ...filter } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Plans"
      about="What customers pay, and what they may use."
      actions={
        <>
          <ListExport
            name="plans"
            readPage={(part) => send(client.GET('/api/v1/plans', { params: { query: { ...filter, ...part } } }))}
          />
          <AdminOnly>
            <Link to="/plans/new" className="link-button is-primary">
              New plan
            </Link>
          </AdminOnly>
        </>
      }
    >
      <div className="toolbar">
        <SearchField
          label="Search plans"
          placeholder="Name or lookup ID"
          value={search}
          onSearch={(text) => change({ search: text })}
        />
        <Select
          aria-label="Charges"
          placeholder="Any charges"
          data={TYPES}
          value={type ?? null}
          onChange={(chosen) => change({ type: chosen })}
          clearable
        />
      </div>
      <PagedList
        query={plans}
        onPage={setPage}
        label="Plans"
        columns={columns}
        sorting={sorting}
        empty={
          type === undefined && search === undefined
            ? 'No plan yet. Make one, give it a price, and subscribe customers to it.'
            : 'No plan is like this.'
        }
      />
    </Page>
  );
}
