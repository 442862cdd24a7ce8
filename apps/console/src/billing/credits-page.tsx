import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, read, send, type Schema } from '../api/client.ts';
import { CustomerSelect } from '../customers/customer-select.tsx';
import { ListExport } from '../components/lists/list-export.tsx';
import { Page } from '../components/page/page.tsx';
import { useSearchState } from '../components/lists/search-state.ts';
import type { Column } from '../components/lists/data-table.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import { formatAmount } from '../text/decimals.ts';
import { CustomerCredits } from './customer-credits.tsx';
import { CustomerName } from './customer-name.tsx';

export function CreditsPage() {
  const { state, change, page, setPage } = useSearchState<'customer'>();
  const filter = state.customer === undefined ? {} : { customer_id: state.customer };
  return (
    <Page
      title="Credits"
      about="Money that a customer has in advance. Invoices draw it when they are finalized."
      actions={
        <ListExport
          name="credits"
          readPage={(part) => send(client.GET('/api/v1/credits', { params: { query: { ...filter, ...part } } }))}
        />
      }
    >
      <div className="toolbar">
        <CustomerSelect value={state.customer ?? null} onChange={(customer) => change({ customer })} isClearable />
      </div>
      {state.customer === undefined ? (
        <AllCredits page={page} onPage={setPage} />
      ) : (
        <CustomerCredits key={state.customer} customerId={state.customer} />
      )}
    </Page>
  );
}

const columns: Column<Schema<'ListedCredit'>>[] = [
  { title: 'Granted', cell: ({ created_at: at }) => <Time at={at} as="date" />, isTight: true },
  { title: 'Customer', cell: ({ customer_id: id }) => <CustomerName id={id} known={null} /> },
  { title: 'Status', cell: ({ status }) => <Status of={status} />, isTight: true },
  { title: 'Note', cell: ({ note }) => note, isExtra: true },
  { title: 'Amount', cell: ({ amount, currency }) => formatAmount(amount, currency), isNumber: true, isExtra: true },
  { title: 'Remaining', cell: ({ remaining, currency }) => formatAmount(remaining, currency), isNumber: true },
];

/** Of all customers: to grant more, one is chosen. */
function AllCredits({ page, onPage }: { page: number; onPage: (page: number) => void }) {
  const credits = useQuery({ ...read('/api/v1/credits', { query: { page } }), placeholderData: keepPreviousData });
  return (
    <>
      <p className="muted">Choose a customer to see its balance, and to grant it more.</p>
      <PagedList
        query={credits}
        onPage={onPage}
        label="Credits"
        columns={columns}
        empty="No credit. What is granted is drawn by invoices when they are finalized."
      />
    </>
  );
}
