import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useCanGoBack, useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { problemOf } from '../api/problem.ts';
import { lazily } from '../components/page/lazily.tsx';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { formatDay } from '../text/instants.ts';
import { Page } from '../components/page/page.tsx';
import { ThingPage } from '../components/page/thing-page.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { Time } from '../components/page/time.tsx';
import { InvoiceButtons, useRemoveLine } from './invoice-changes.tsx';
import { DownloadPdfs } from './download-pdf.tsx';
import { InvoiceCredits } from './invoice-credits.tsx';
import { InvoicePayments } from './invoice-payments.tsx';
import { AllLines } from './all-lines.tsx';
import { InvoiceTotals, periodOf } from './invoice-lines.tsx';
import { CustomerName } from './customer-name.tsx';
import { InvoiceStatus } from './invoice-status.tsx';

const AddLineForm = lazily(() => import('./invoice-forms.tsx').then((loaded) => loaded.AddLineForm));
const LineBehind = lazily(() => import('./line-behind.tsx').then((loaded) => loaded.LineBehind));

type Invoice = Schema<'InvoiceWithLines'>;

/** An invoice, with its subscription: its periods are of the zone of that. A draft is read again and again: it is computed when it is read. */
function useInvoice(id: string) {
  return useQuery({
    queryKey: ['/api/v1/invoices/{id}', id],
    queryFn: async () => {
      const invoice = await send(client.GET('/api/v1/invoices/{id}', { params: { path: { id } } }));
      const path = { id: invoice.subscription_id };
      const subscription = await send(client.GET('/api/v1/subscriptions/{id}', { params: { path } }));
      return { invoice, subscription, zone: subscription.time_zone };
    },
    refetchInterval: ({ state: { data, error } }) =>
      data?.invoice.status === 'DRAFT' && !isGone(error) ? pace(3_000) : false,
  });
}

const isGone = (error: unknown): boolean => error !== null && problemOf(error).code === 'not_found';

const ABOVE = <Link to="/invoices">Invoices</Link>;

export function InvoicePage() {
  const { invoiceId } = useParams({ from: '/shell/invoices/$invoiceId' });
  const query = useInvoice(invoiceId);
  if (query.data?.invoice.status === 'DRAFT' && isGone(query.error))
    return (
      <Page title="Draft invoice" above={ABOVE}>
        <p role="status">Nothing was to be billed: the draft is gone.</p>
      </Page>
    );
  return (
    <ThingPage query={query} of="Invoice" above={ABOVE}>
      {({ invoice, subscription }) => <InvoiceView invoice={invoice} subscription={subscription} />}
    </ThingPage>
  );
}

function InvoiceView({ invoice, subscription }: { invoice: Invoice; subscription: Schema<'Subscription'> }) {
  const { line: lineId } = useSearch({ strict: false }) as { line?: string };
  const closeLine = useCloseLine();
  const { time_zone: zone } = subscription;
  const [isAdding, setIsAdding] = useState(false);
  const { id, status, currency } = invoice;
  const isDraft = status === 'DRAFT';
  const { ended_at: end } = subscription;
  const isAfterEnd = invoice.cycle === null && end !== null && Date.parse(invoice.created_at) >= Date.parse(end);
  const { removeLine, error } = useRemoveLine(id);
  return (
    <Page
      title={invoice.invoice_number ?? 'Draft invoice'}
      above={ABOVE}
      actions={
        <>
          <AdminOnly>
            {isDraft && (
              <Button variant="default" onClick={() => setIsAdding(true)}>
                Add a line
              </Button>
            )}
            <InvoiceButtons invoice={invoice} subscription={subscription} />
          </AdminOnly>
          <DownloadPdfs invoice={invoice} />
        </>
      }
    >
      {isDraft && (
        <div className="callout callout-quiet">
          <p>
            Computed a moment ago, and again every few seconds.{' '}
            {invoice.finalizes_at === null ? (
              'It stays a draft until somebody finalizes it.'
            ) : (
              <>
                It is finalized by itself on <Time at={invoice.finalizes_at} zone={zone} />.
              </>
            )}
          </p>
        </div>
      )}
      <Facts
        of={[
          ['Status', <InvoiceStatus key="status" of={invoice} />],
          ['Customer', <CustomerName key="customer" id={invoice.customer_id} known={invoice.customer} />],
          [
            'Subscription',
            <Link key="of" to="/subscriptions/$subscriptionId" params={{ subscriptionId: invoice.subscription_id }}>
              {`${subscription.plan_name} for ${subscription.customer_external_id}`}
              {isAfterEnd && ', after its end'}
            </Link>,
          ],
          ['Period', periodOf(invoice, zone)],
          ['Issued', invoice.issue_date !== null && formatDay(invoice.issue_date)],
          ['Due', invoice.due_date !== null && formatDay(invoice.due_date)],
          ['Paid', invoice.paid_at !== null && <Time key="paid" at={invoice.paid_at} zone={zone} />],
          ['Voided', status === 'VOID' && (invoice.rebilled ? 'Its charges are billed again' : 'It was waived')],
          ['Note', invoice.note],
        ]}
      />
      {!isDraft && <Recompute id={id} />}
      <AllLines
        invoice={invoice}
        zone={zone}
        onRemove={isDraft ? (removed) => void removeLine(removed.id) : undefined}
      />
      <ProblemBox error={error} />
      <InvoiceTotals invoice={invoice} />
      <InvoicePayments invoice={invoice} zone={zone} />
      {!isDraft && <InvoiceCredits invoice={invoice} zone={zone} />}
      {lineId !== undefined && (
        <LineBehind
          path={{ id, line_id: lineId }}
          known={invoice.lines.find((each) => each.id === lineId)}
          currency={currency}
          zone={zone}
          onClose={closeLine}
        />
      )}
      {isAdding && <AddLineForm invoice={invoice} onClose={() => setIsAdding(false)} />}
    </Page>
  );
}

/** Back to the invoice alone: the way one came, or where one came by the address, by taking the line out of it. */
function useCloseLine(): () => void {
  const { history } = useRouter();
  const navigate = useNavigate();
  const canGoBack = useCanGoBack();
  return () => {
    if (canGoBack) history.back();
    else void navigate({ to: '.', search: {}, replace: true, resetScroll: false });
  };
}

/** Computes the invoice again from the single events, and says whether it comes to the same. */
function Recompute({ id }: { id: string }) {
  const recomputed = useQuery({
    queryKey: ['recompute', id],
    queryFn: () =>
      send(client.POST('/api/v1/invoices/{id}/recompute', { params: { path: { id } }, body: { from: 'events' } })),
    enabled: false,
  });
  const { data, error, isFetching } = recomputed;
  return (
    <div className="callout callout-quiet">
      <p role="status">
        {data === undefined && 'Every amount can be computed again from the events behind it.'}
        {data?.identical === true && (
          <>
            <span className="status status-good">Identical</span> Computed again from its single events, it comes to the
            same, to the last digit.
          </>
        )}
        {data?.identical === false && (
          <>
            <span className="status status-bad">Differs</span> Computed again it comes to {data.recomputed.total}.
          </>
        )}
      </p>
      <Button variant="default" loading={isFetching} onClick={() => void recomputed.refetch()}>
        Recompute
      </Button>
      <ProblemBox error={error} />
    </div>
  );
}
