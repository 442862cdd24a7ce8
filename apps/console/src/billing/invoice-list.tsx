import { keepPreviousData, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client, read, send, type Schema } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import type { Column, Sorting } from '../components/lists/data-table.tsx';
import { formatDay } from '../text/instants.ts';
import { ListExport } from '../components/lists/list-export.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { useSearchState, useSorting } from '../components/lists/search-state.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { FinalizeAll } from './finalize-all.tsx';
import { amountOfListed } from './invoice-amount.ts';
import { CustomerName } from './customer-name.tsx';
import { periodOf } from './invoice-lines.tsx';
import { InvoiceStatus } from './invoice-status.tsx';
import { LinesExport } from './lines-export.tsx';

type Invoice = Schema<'Invoice'>;

interface InvoiceFilter {
  page: number;
  page_size?: number;
  status?: Invoice['status'];
  is_past_due?: 'true';
  customer_id?: string;
  subscription_id?: string;
  search?: string;
  from?: string;
  to?: string;
  issued_from?: string;
  issued_to?: string;
  sort?: (typeof INVOICE_SORTS)[number];
}

export const INVOICE_SORTS = ['issue_date', '-issue_date'] as const;

interface InvoiceListProps {
  filter: InvoiceFilter;
  onPage: (page: number) => void;
  sorting?: Sorting;
  /** On the page of its customer, or of its subscription. */
  isOfOne?: boolean;
}

type Row = Invoice & { zone: string };

const columns: Column<Row>[] = [
  {
    title: 'Number',
    cell: (invoice) => (
      <>
        <Link to="/invoices/$invoiceId" params={{ invoiceId: invoice.id }} className="row-link">
          {invoice.invoice_number ?? 'Draft'}
        </Link>
        <span className="only-phone">
          <InvoiceStatus of={invoice} />
        </span>
      </>
    ),
    isTight: true,
  },
  { title: 'Status', cell: (invoice) => <InvoiceStatus of={invoice} />, isTight: true, isBelowOnPhone: true },
  { title: 'Customer', cell: ({ customer_id, customer }) => <CustomerName id={customer_id} known={customer} /> },
  { title: 'Period', cell: (invoice) => periodOf(invoice, invoice.zone), isExtra: true },
  {
    title: 'Issued',
    sort: 'issue_date',
    cell: ({ issue_date: issued }) => (issued === null ? '–' : formatDay(issued)),
    isExtra: true,
  },
  { title: 'Due', cell: ({ due_date }) => (due_date === null ? '–' : formatDay(due_date)), isExtra: true },
  {
    title: 'Total',
    cell: (invoice) => amountOfListed(invoice, invoice.total),
    isNumber: true,
  },
  {
    title: 'Amount due',
    cell: (invoice) =>
      `${invoice.status === 'UNCOLLECTIBLE' ? 'unpaid ' : ''}${amountOfListed(invoice, invoice.amount_due)}`,
    isNumber: true,
    isExtra: true,
  },
];

/** Drafts are computed when they are read, so a list is read again as long as it is looked at. */
export function InvoiceList({ filter, onPage, sorting, isOfOne = false }: InvoiceListProps) {
  const queries = useQueryClient();
  const invoices = useQuery({
    queryKey: ['/api/v1/invoices', 'in their zones', filter],
    queryFn: async ({ signal }) => {
      const page = await send(client.GET('/api/v1/invoices', { params: { query: filter }, signal }));
      return { ...page, data: await Promise.all(page.data.map((invoice) => inItsZone(queries, invoice))) };
    },
    placeholderData: keepPreviousData,
    refetchInterval: () => pace(10_000),
  });
  const reasons = new Set(invoices.data?.data.flatMap(({ not_computed: why }) => why?.detail ?? []));
  return (
    <>
      {filter.status === 'DRAFT' && invoices.data !== undefined && !invoices.isPlaceholderData && (
        <AdminOnly>
          <FinalizeAll key={JSON.stringify(filter)} drafts={invoices.data.data} />
        </AdminOnly>
      )}
      {filter.sort !== undefined && (filter.status ?? filter.is_past_due) === undefined && (
        <p className="muted">In the order of issue dates there are no drafts: they have none yet.</p>
      )}
      {[...reasons].map((why) => (
        <p key={why}>A draft cannot be computed. {why}</p>
      ))}
      <PagedList
        query={invoices}
        onPage={onPage}
        label="Invoices"
        sorting={sorting}
        columns={isOfOne ? columns.filter(({ title }) => title !== 'Customer') : columns}
        empty={
          filter.search === undefined
            ? 'No invoice. They are made at the end of each period of a subscription.'
            : 'No such invoice has a number that begins with this.'
        }
      />
    </>
  );
}

export function InvoicesExport({ filter }: { filter: Omit<InvoiceFilter, 'page' | 'page_size'> }) {
  return (
    <ListExport
      name="invoices"
      readPage={(part) => send(client.GET('/api/v1/invoices', { params: { query: { ...filter, ...part } } }))}
    />
  );
}

interface InvoicesOfOneProps {
  filter: { customer_id: string } | { subscription_id: string };
}

/** The invoices of one customer or one subscription, on its page. */
export function InvoicesOfOne({ filter }: InvoicesOfOneProps) {
  const { page, setPage } = useSearchState();
  const { sorting, sorted } = useSorting(INVOICE_SORTS);
  const shown = { ...filter, ...sorted };
  return (
    <>
      <div className="list-actions">
        <LinesExport filter={filter} />
        <InvoicesExport filter={shown} />
      </div>
      <InvoiceList filter={{ page, ...shown }} onPage={setPage} sorting={sorting} isOfOne />
    </>
  );
}

/** The days of its period are days of the zone of its subscription, wherever the reader is. That zone stays what it is. */
async function inItsZone(queries: QueryClient, invoice: Invoice): Promise<Row> {
  const path = { id: invoice.subscription_id };
  const { time_zone: zone } = await queries.fetchQuery({
    ...read('/api/v1/subscriptions/{id}', { path }),
    staleTime: Infinity,
  });
  return { ...invoice, zone };
}
