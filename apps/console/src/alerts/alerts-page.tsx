import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { read, type Schema } from '../api/client.ts';
import { useOnward } from '../components/dialogs/leaving.ts';
import type { Column } from '../components/lists/data-table.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { useSearchState } from '../components/lists/search-state.ts';
import { Status } from '../components/lists/status.tsx';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Loading } from '../components/outcomes/loading.tsx';
import { Page } from '../components/page/page.tsx';
import { useMeters } from '../usage/meters.ts';
import { AlertForm } from './alert-form.tsx';
import { AlertMenu } from './alert-menu.tsx';
import { thresholdWords, Watched, WatchedCustomers } from './alert-words.tsx';

const columns: Column<Schema<'Alert'>>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <Link to="/alerts/$alertId" params={{ alertId: id }} className="row-link">
        {name}
      </Link>
    ),
  },
  { title: 'Watches', cell: (alert) => <Watched alert={alert} /> },
  { title: 'Customers', cell: (alert) => <WatchedCustomers alert={alert} />, isExtra: true },
  { title: 'Thresholds', cell: thresholdWords, isExtra: true },
  { title: 'Status', cell: ({ status }) => <Status of={status} /> },
  {
    title: 'Actions',
    isTitleHidden: true,
    isTight: true,
    cell: (alert) => (
      <AdminOnly>
        <AlertMenu alert={alert} />
      </AdminOnly>
    ),
  },
];

export function AlertsPage() {
  const onward = useOnward();
  const { page, setPage } = useSearchState();
  const [isNew, setNew] = useState(false);
  const meters = useMeters();
  const alerts = useQuery({ ...read('/api/v1/alerts', { query: { page } }), placeholderData: keepPreviousData });
  return (
    <Page
      title="Alerts"
      about="Your services are told by a webhook when the usage of a customer, or what that usage comes to, reaches a threshold."
      actions={
        <AdminOnly>
          <Button onClick={() => setNew(true)}>New alert</Button>
        </AdminOnly>
      }
    >
      {/* The names of meters are in its rows, which move when they come later. */}
      {meters.isPending ? (
        <Loading rows={8} />
      ) : (
        <PagedList
          query={alerts}
          onPage={setPage}
          label="Alerts"
          columns={columns}
          empty={<p>None yet. One of them tells you, say, when a customer has used 80 % of what is included.</p>}
        />
      )}
      {isNew && (
        <AlertForm
          onSaved={({ id }) => void onward({ to: '/alerts/$alertId', params: { alertId: id } })}
          onClose={() => setNew(false)}
        />
      )}
    </Page>
  );
}
