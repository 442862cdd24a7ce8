import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { read, type Schema } from '../api/client.ts';
import { useOnward } from '../components/dialogs/leaving.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import type { Column } from '../components/lists/data-table.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { useSearchState } from '../components/lists/search-state.ts';
import { Page } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';
import { AccountForm } from './account-form.tsx';
import { DeleteAccount } from './delete-account.tsx';
import { roleWords } from './roles.ts';

const columns: Column<Schema<'ServiceAccount'>>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <Link to="/service-accounts/$accountId" params={{ accountId: id }} className="row-link">
        {name}
      </Link>
    ),
  },
  { title: 'Role', cell: ({ role }) => roleWords(role) },
  { title: 'Tokens', cell: ({ token_count: count }) => count, isNumber: true },
  { title: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'Never' : <Time at={at} as="ago" />) },
  { title: 'Created', cell: ({ created_at: at }) => <Time at={at} as="date" />, isExtra: true },
  {
    title: 'Actions',
    isTitleHidden: true,
    isTight: true,
    cell: (account) => (
      <AdminOnly>
        <DeleteAccount account={account} />
      </AdminOnly>
    ),
  },
];

export function ServiceAccountsPage() {
  const onward = useOnward();
  const { page, setPage } = useSearchState();
  const [isNew, setIsNew] = useState(false);
  const accounts = useQuery({
    ...read('/api/v1/service-accounts', { query: { page } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Service accounts"
      about="For services that do more than send usage: they make customers, subscribe them and mark invoices paid."
      actions={
        <AdminOnly>
          <Button onClick={() => setIsNew(true)}>New service account</Button>
        </AdminOnly>
      }
    >
      <PagedList
        query={accounts}
        onPage={setPage}
        label="Service accounts"
        columns={columns}
        empty={<p>None yet. A service that only sends usage needs an API key instead.</p>}
      />
      {isNew && (
        <AccountForm
          onSaved={({ id }) => void onward({ to: '/service-accounts/$accountId', params: { accountId: id } })}
          onClose={() => setIsNew(false)}
        />
      )}
    </Page>
  );
}
