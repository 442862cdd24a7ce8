// An alert, and which customers have reached which of its thresholds.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { client, read, send, type Schema } from '../api/client.ts';
import { useOnward } from '../components/dialogs/leaving.ts';
import type { Column } from '../components/lists/data-table.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { ListExport } from '../components/lists/list-export.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { useSearchState } from '../components/lists/search-state.ts';
import { Status } from '../components/lists/status.tsx';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Page, Section } from '../components/page/page.tsx';
import { ThingPage } from '../components/page/thing-page.tsx';
import { Time } from '../components/page/time.tsx';
import { formatAmount, formatDecimal } from '../text/decimals.ts';
import { formatDays } from '../text/instants.ts';
import { AlertMenu } from './alert-menu.tsx';
import { thresholdWords, Watched, WatchedCustomers } from './alert-words.tsx';

/** While one looks, what is crossed is seen within this time. */
const LOOK_MS = 5_000;

type Crossing = Schema<'AlertCrossing'>;

const ABOVE = <Link to="/alerts">Alerts</Link>;

export function AlertPage() {
  const { alertId: id } = useParams({ from: '/shell/alerts/$alertId' });
  const onward = useOnward();
  const alert = useQuery(read('/api/v1/alerts/{id}', { path: { id } }));
  return (
    <ThingPage query={alert} of="Alert" above={ABOVE}>
      {(found) => (
        <Page
          title={found.name}
          above={ABOVE}
          actions={
            <AdminOnly>
              <AlertMenu alert={found} onDeleted={() => void onward({ to: '/alerts' })} />
            </AdminOnly>
          }
        >
          <Facts
            of={[
              ['Watches', <Watched key="watches" alert={found} />],
              ['Customers', <WatchedCustomers key="customers" alert={found} />],
              ['Thresholds', thresholdWords(found)],
              ['Status', <Status key="status" of={found.status} />],
              ['Since', <Time key="since" at={found.created_at} as="date" />],
            ]}
          />
          <Crossings alertId={id} />
        </Page>
      )}
    </ThingPage>
  );
}

const valueOf = (text: string, currency: string | null): string =>
  currency === null ? formatDecimal(text) : formatAmount(text, currency);

const columns: Column<Crossing>[] = [
  { title: 'Customer', cell: (crossing) => <CustomerOf crossing={crossing} /> },
  { title: 'Threshold', cell: ({ threshold, currency }) => valueOf(threshold, currency), isNumber: true },
  { title: 'When seen', cell: ({ value, currency }) => valueOf(value, currency), isNumber: true },
  {
    title: 'Period',
    cell: ({ period_start: start, period_end: end, time_zone: zone }) => formatDays(start, end, zone),
    isExtra: true,
  },
  { title: 'Crossed', cell: ({ crossed_at: at }) => <Time at={at} as="ago" />, isExtra: true },
];

function CustomerOf({
  crossing: { customer_id: id, customer_name: name, customer_external_id },
}: {
  crossing: Crossing;
}) {
  if (id === null) return customer_external_id;
  return (
    <Link to="/customers/$customerId" params={{ customerId: id }} className="row-link">
      {name ?? customer_external_id}
    </Link>
  );
}

function Crossings({ alertId: id }: { alertId: string }) {
  const { page, setPage } = useSearchState();
  const crossings = useQuery({
    ...read('/api/v1/alerts/{id}/crossings', { path: { id }, query: { page } }),
    placeholderData: keepPreviousData,
    refetchInterval: LOOK_MS,
  });
  return (
    <Section
      title="Crossed"
      about="Each threshold once for each customer and period."
      actions={
        <ListExport
          name="crossings"
          readPage={(part) =>
            send(client.GET('/api/v1/alerts/{id}/crossings', { params: { path: { id }, query: { ...part } } }))
          }
        />
      }
    >
      <PagedList
        query={crossings}
        onPage={setPage}
        label="Crossed thresholds"
        columns={columns}
        empty={<p>Nobody has reached a threshold yet.</p>}
      />
    </Section>
  );
}
