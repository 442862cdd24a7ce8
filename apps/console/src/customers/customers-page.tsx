import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { useOnward } from '../components/dialogs/leaving.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { ListExport } from '../components/lists/list-export.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { SearchField } from '../components/lists/search-field.tsx';
import { Page } from '../components/page/page.tsx';
import { useSearchState, useSorting } from '../components/lists/search-state.ts';
import { Time } from '../components/page/time.tsx';
import { CustomerForm } from './customer-form.tsx';

const columns: Column<Schema<'Customer'>>[] = [
  {
    title: 'Name',
    sort: 'name',
    cell: ({ id, name, external_id }) => (
      <Link to="/customers/$customerId" params={{ customerId: id }} className="row-link">
        {name ?? external_id}
      </Link>
    ),
  },
  { title: 'External ID', cell: ({ external_id }) => <code>{external_id}</code> },
  { title: 'Email', cell: ({ email }) => email, isExtra: true },
  {
    title: 'Since',
    sort: 'created_at',
    cell: ({ created_at }) => <Time at={created_at} as="date" />,
    isExtra: true,
    isTight: true,
  },
];

export function CustomersPage() {
  const onward = useOnward();
  const { state, change, page, setPage } = useSearchState<'search'>();
  const [isNew, setIsNew] = useState(false);
  const { sorting, sorted } = useSorting(['name', '-name', 'created_at', '-created_at']);
  const filter = { ...sorted, ...(state.search !== undefined && { search: state.search }) };
  const customers = useQuery({
    ...read('/api/v1/customers', { query: { page, ...filter } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Customers"
      actions={
        <>
          <ListExport
            name="customers"
            readPage={(part) => send(client.GET('/api/v1/customers', { params: { query: { ...filter, ...part } } }))}
          />
          <AdminOnly>
            <Button onClick={() => setIsNew(true)}>New customer</Button>
          </AdminOnly>
        </>
      }
    >
      <div className="toolbar">
        <SearchField
          label="Search customers"
          placeholder="Name, id or email"
          value={state.search}
          onSearch={(search) => change({ search })}
        />
      </div>
      <PagedList
        query={customers}
        onPage={setPage}
        label="Customers"
        columns={columns}
        sorting={sorting}
        empty={
          state.search === undefined
            ? 'No customer yet. Usage needs none: it is kept under the external id that services track it with.'
            : `No customer has “${state.search}” in its name, id or email.`
        }
      />
      {isNew && (
        <CustomerForm
          onClose={() => setIsNew(false)}
          onDone={({ id }) => void onward({ to: '/customers/$customerId', params: { customerId: id } })}
        />
      )}
    </Page>
  );
}
