import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { useSession } from '../api/session.ts';
import { invalidate } from '../api/queries.ts';
import { EntitlementTable } from '../customers/entitlement-table.tsx';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { lazily } from '../components/page/lazily.tsx';
import { useOnward } from '../components/dialogs/leaving.ts';
import { ToChange } from '../components/forms/to-change.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { formatDate, formatDays } from '../text/instants.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { Page } from '../components/page/page.tsx';
import { PageTabs } from '../components/page/page-tabs.tsx';
import { ThingPage } from '../components/page/thing-page.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import { InvoiceLines, InvoiceTotals } from './invoice-lines.tsx';
import { PendingChanges } from './pending-changes.tsx';
import { hasPeriod } from './has-period.ts';
import { SubscriptionTimeline } from './subscription-timeline.tsx';

const InvoicesOfOne = lazily(() => import('./invoice-list.tsx').then((loaded) => loaded.InvoicesOfOne));
const ChangePlanForm = lazily(() => import('./change-plan-form.tsx').then((loaded) => loaded.ChangePlanForm));
const CancelForm = lazily(() => import('./subscription-forms.tsx').then((loaded) => loaded.CancelForm));

type Subscription = Schema<'SubscriptionWithEntitlements'>;

const ABOVE = <Link to="/subscriptions">Subscriptions</Link>;

export function SubscriptionPage() {
  const { subscriptionId: id } = useParams({ from: '/shell/subscriptions/$subscriptionId' });
  const subscription = useQuery({
    ...read('/api/v1/subscriptions/{id}', { path: { id } }),
    refetchInterval: () => pace(10_000),
  });
  return (
    <ThingPage query={subscription} of="Subscription" above={ABOVE}>
      {(data) => <SubscriptionView subscription={data} />}
    </ThingPage>
  );
}

function SubscriptionView({ subscription }: { subscription: Subscription }) {
  const { id, status, time_zone: zone } = subscription;
  const [dialog, setDialog] = useState<{ of: 'cancel' | 'change'; press: number }>();
  // Each press reads it: the one before may have got no answer.
  const open = (of: 'cancel' | 'change') => setDialog((before) => ({ of, press: (before?.press ?? 0) + 1 }));
  const isOver = status === 'CANCELED';
  // To compute it is not open to viewers.
  const hasNext = useSession().isAdmin && !isOver;
  return (
    <Page
      title={`${subscription.plan_name} for ${subscription.customer_external_id}`}
      above={ABOVE}
      actions={
        <AdminOnly>
          {!isOver && (
            <Button variant="default" onClick={() => open('change')}>
              Change plan
            </Button>
          )}
          {!isOver && (
            <Button variant="default" onClick={() => open('cancel')}>
              {subscription.cancel_at_period_end ? 'Cancel now' : 'Cancel subscription'}
            </Button>
          )}
          {isOver && (
            <Settle id={id} label="Bill what came late" nothing="Nothing came late that comes to an amount.">
              What was recorded after the end of the subscription goes onto an invoice of its own, which is finalized at
              once.
            </Settle>
          )}
        </AdminOnly>
      }
    >
      <PendingChanges subscription={subscription} />
      {subscription.is_rebilling && !isOver && <Rebilling subscription={subscription} />}
      <SubscriptionFacts subscription={subscription} />
      <PageTabs
        tabs={[
          { name: 'timeline', title: 'Timeline', panel: <SubscriptionTimeline subscription={subscription} /> },
          ...(hasNext ? [{ name: 'next', title: 'Next invoice', panel: <NextInvoice id={id} zone={zone} /> }] : []),
          { name: 'invoices', title: 'Invoices', panel: <InvoicesOfOne filter={{ subscription_id: id }} /> },
          {
            name: 'features',
            title: 'Entitlements',
            panel: <EntitlementTable entitlements={subscription.entitlements} zone={zone} />,
          },
        ]}
      />
      {dialog !== undefined && (
        // What it says of the end of the period is of now: another one may have begun since the page was read.
        <ToChange key={dialog.press} path="/api/v1/subscriptions/{id}" params={{ path: { id } }}>
          {({ data }) =>
            dialog.of === 'cancel' ? (
              <CancelForm subscription={data} onClose={() => setDialog(undefined)} />
            ) : (
              <ChangePlanForm subscription={data} onClose={() => setDialog(undefined)} />
            )
          }
        </ToChange>
      )}
    </Page>
  );
}

function SubscriptionFacts({ subscription }: { subscription: Subscription }) {
  const { status, customer_id: customerId, plan_id: planId, time_zone: zone } = subscription;
  const isOver = status === 'CANCELED';
  const time = (at: string | null) => (at === null ? null : <Time at={at} zone={zone} />);
  return (
    <Facts
      of={[
        ['Status', <Status key="status" of={status} />],
        [
          'Customer',
          <Link key="customer" to="/customers/$customerId" params={{ customerId }}>
            {subscription.customer_external_id}
          </Link>,
        ],
        [
          'Plan',
          <Link key="plan" to="/plans/$planId" params={{ planId }}>
            {subscription.plan_name}
          </Link>,
        ],
        [status === 'SCHEDULED' ? 'Starts' : 'Started', time(subscription.start_date)],
        ['Trial until', time(subscription.trial_end_date)],
        [
          isOver ? 'Last period' : 'Current period',
          hasPeriod(subscription)
            ? formatDays(subscription.current_period_start, subscription.current_period_end, zone)
            : null,
        ],
        [isOver ? 'Ended' : 'Ends', time(subscription.ended_at)],
        ['Reason', subscription.cancel_reason],
        ['Time zone', zone],
        ['External ID', subscription.external_id],
      ]}
    />
  );
}

function NextInvoice({ id, zone }: { id: string; zone: string }) {
  const preview = useQuery({
    queryKey: ['/api/v1/subscriptions/{id}', 'preview-invoice', id],
    queryFn: () => send(client.POST('/api/v1/subscriptions/{id}/preview-invoice', { params: { path: { id } } })),
    // It goes up with every event.
    refetchInterval: () => pace(3_000),
  });
  return (
    <Loaded query={preview} rows={6}>
      {(invoice) => (
        <>
          <p className="muted">
            As it would be now, for the period {formatDays(invoice.period_start, invoice.period_end, zone)}.
          </p>
          <InvoiceLines invoice={invoice} zone={zone} />
          <InvoiceTotals invoice={invoice} />
        </>
      )}
    </Loaded>
  );
}

/** What void invoices have left for the next one waits, on a yearly plan for months. Where there is a draft, nothing else may bill it. */
function Rebilling({ subscription: { id, current_period_end: end, time_zone: zone } }: { subscription: Subscription }) {
  // The earliest of them has it; each one more would be computed with all of its usage.
  const query = { subscription_id: id, status: 'DRAFT', sort: 'created_at', limit: 1 } as const;
  const drafts = useQuery({ ...read('/api/v1/invoices', { query }), refetchInterval: () => pace(10_000) });
  return (
    <Loaded query={drafts} rows={1}>
      {({ data: [draft] }) => {
        const is = draft === undefined ? <ToBill id={id} day={formatDate(end, zone)} /> : <OnDraft id={draft.id} />;
        return <div className="callout">{is}</div>;
      }}
    </Loaded>
  );
}

function OnDraft({ id }: { id: string }) {
  return (
    <p>
      What void invoices have left for the next one is on{' '}
      <Link to="/invoices/$invoiceId" params={{ invoiceId: id }}>
        the draft that there is
      </Link>
      .
    </p>
  );
}

function ToBill({ id, day }: { id: string; day: string }) {
  return (
    <>
      <p>What void invoices have left for the next one waits for it. It is made on {day}.</p>
      <AdminOnly>
        <Settle id={id} label="Bill it now" nothing="It comes to no amount.">
          What void invoices have left for the next one goes onto an invoice of its own, as it comes to now and with
          what came late, and is finalized at once.
        </Settle>
      </AdminOnly>
    </>
  );
}

interface SettleProps {
  id: string;
  label: string;
  /** Said where there is no invoice of it. */
  nothing: string;
  children: ReactNode;
}

function Settle({ id, label, nothing, children }: SettleProps) {
  const queries = useQueryClient();
  const onward = useOnward();
  const settle = async () => {
    const settled = await send(client.POST('/api/v1/subscriptions/{id}/settle', { params: { path: { id } } }));
    // The types of the client leave out what is always null in one of its answers.
    const { invoice } = settled as { invoice: { id: string } | null };
    if (invoice === null) notify(nothing);
    // Before its page asks for it again, and does not offer this any more.
    else await onward({ to: '/invoices/$invoiceId', params: { invoiceId: invoice.id } });
    await invalidate(queries, '/api/v1/invoices', '/api/v1/subscriptions/{id}');
  };
  return (
    <Confirm label={label} title={`${label}?`} onConfirm={settle}>
      {children}
    </Confirm>
  );
}
