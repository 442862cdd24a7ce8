import { Button, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { invalidate } from '../api/queries.ts';
import { ToChange } from '../components/forms/to-change.tsx';
import { SubscriptionsOfOne } from '../billing/subscription-list.tsx';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { lazily } from '../components/page/lazily.tsx';
import { useOnward } from '../components/dialogs/leaving.ts';
import type { Column } from '../components/lists/data-table.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { Facts } from '../components/lists/facts.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Page } from '../components/page/page.tsx';
import { PageTabs } from '../components/page/page-tabs.tsx';
import { ThingPage } from '../components/page/thing-page.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { RowsByPage } from '../components/lists/rows-by-page.tsx';
import { Time } from '../components/page/time.tsx';
import { useRecentUsage, useZoneOfUsage, zoneWords, type RecentUsage } from '../usage/days-of-usage.ts';
import { CustomerOverview } from './customer-overview.tsx';
import { EntitlementTable } from './entitlement-table.tsx';
import { EraseCustomer, Erased } from './erase-customer.tsx';
import './customer-page.css';

const CustomerForm = lazily(() => import('./customer-form.tsx').then((loaded) => loaded.CustomerForm));
const SubscribeForm = lazily(() => import('../billing/subscribe-form.tsx').then((loaded) => loaded.SubscribeForm));
const InvoicesOfOne = lazily(() => import('../billing/invoice-list.tsx').then((loaded) => loaded.InvoicesOfOne));
const CustomerCredits = lazily(() =>
  import('../billing/customer-credits.tsx').then((loaded) => loaded.CustomerCredits),
);

type Customer = Schema<'Customer'>;

const ABOVE = <Link to="/customers">Customers</Link>;

/** The title is the name; the address is told as a whole; services keep what they want to in metadata. */
type NotAFact =
  | 'id'
  | 'name'
  | 'metadata'
  | 'billing_address_line2'
  | 'billing_address_postal_code'
  | 'billing_address_city'
  | 'billing_address_state'
  | 'billing_address_country'
  | 'billing_country_code';

/** What is known of a customer, in the order in which it is shown. A field that is missing here does not compile. */
const FACTS: Readonly<
  Record<Exclude<keyof Customer, NotAFact>, readonly [title: string, of: (customer: Customer) => ReactNode]>
> = {
  external_id: ['External ID', ({ external_id }) => <code>{external_id}</code>],
  email: ['Email', ({ email }) => email],
  phone: ['Phone', ({ phone }) => phone],
  legal_name: ['Legal name', ({ legal_name }) => legal_name],
  tax_id: ['Tax ID', ({ tax_id }) => tax_id],
  billing_address_line1: ['Address', addressOf],
  time_zone: ['Time zone', ({ time_zone }) => time_zone ?? 'that of the organization'],
  created_at: ['Since', ({ created_at }) => <Time at={created_at} as="date" />],
  erased_at: ['Erased', ({ id, erased_at }) => erased_at !== null && <Erased id={id} at={erased_at} />],
};

export function CustomerPage() {
  const { customerId } = useParams({ from: '/shell/customers/$customerId' });
  const customer = useQuery(read('/api/v1/customers/{id}', { path: { id: customerId } }));
  return (
    <ThingPage query={customer} of="Customer" above={ABOVE}>
      {(data) => <CustomerView customer={data} />}
    </ThingPage>
  );
}

function CustomerView({ customer }: { customer: Customer }) {
  const onward = useOnward();
  const [dialog, setDialog] = useState<'edit' | 'subscribe'>();
  const { id, name, external_id: externalId, erased_at: erasedAt } = customer;
  const close = () => setDialog(undefined);
  return (
    <Page
      title={name ?? externalId}
      above={ABOVE}
      actions={
        <AdminOnly>
          {erasedAt === null && (
            <>
              <Button onClick={() => setDialog('subscribe')}>Subscribe to a plan</Button>
              <Button variant="default" onClick={() => setDialog('edit')}>
                Edit
              </Button>
            </>
          )}
          <CustomerMenu customer={customer} />
        </AdminOnly>
      }
    >
      <div className="customer-columns">
        <Facts of={Object.values(FACTS).map(([title, of]) => [title, of(customer)] as const)} />
        <PageTabs
          tabs={[
            { name: 'overview', title: 'Overview', panel: <CustomerOverview customer={customer} /> },
            { name: 'usage', title: 'Usage', panel: <Usage customer={customer} /> },
            {
              name: 'subscriptions',
              title: 'Subscriptions',
              panel: <SubscriptionsOfOne filter={{ customer_id: id }} />,
            },
            { name: 'invoices', title: 'Invoices', panel: <InvoicesOfOne filter={{ customer_id: id }} /> },
            { name: 'credits', title: 'Credits', panel: <CustomerCredits customerId={id} /> },
            { name: 'entitlements', title: 'Entitlements', panel: <Entitlements customer={customer} /> },
          ]}
        />
      </div>
      {dialog === 'edit' && (
        <ToChange path="/api/v1/customers/{id}" params={{ path: { id } }}>
          {(opened) => <CustomerForm opened={opened} onClose={close} />}
        </ToChange>
      )}
      {dialog === 'subscribe' && (
        <SubscribeForm
          customerId={id}
          onClose={close}
          onDone={(made) => void onward({ to: '/subscriptions/$subscriptionId', params: { subscriptionId: made.id } })}
        />
      )}
    </Page>
  );
}

/** What is seldom done, and cannot be taken back. */
function CustomerMenu({ customer }: { customer: Customer }) {
  const onward = useOnward();
  const queries = useQueryClient();
  const { id, name, external_id: externalId } = customer;
  const remove = async () => {
    await send(client.DELETE('/api/v1/customers/{id}', { params: { path: { id } } }));
    await onward({ to: '/customers' });
    await invalidate(queries, '/api/v1/customers');
  };
  return (
    <Confirm
      label="Delete"
      title={`Delete ${name ?? externalId}?`}
      onConfirm={remove}
      isDangerous
      trigger={(openDelete) => (
        <EraseCustomer
          customer={customer}
          trigger={(openErase) => (
            <RowMenu
              label="More actions"
              items={[
                { label: 'Delete', onClick: openDelete, isDangerous: true },
                { label: 'Erase', onClick: openErase, isDangerous: true },
              ]}
            />
          )}
        />
      )}
    >
      The record only: usage stays, under the external id. A customer with a subscription, an invoice or a credit cannot
      be deleted: erase it.
    </Confirm>
  );
}

function addressOf(customer: Customer): string {
  const { billing_address_line1: street, billing_address_city: city, billing_address_country: country } = customer;
  const place = [customer.billing_address_postal_code, city].filter(Boolean).join(' ');
  const { billing_address_line2: second, billing_country_code: code } = customer;
  return [street, second, place, customer.billing_address_state, country ?? code].filter(Boolean).join(', ');
}

function Usage({ customer }: { customer: Customer }) {
  const usage = useRecentUsage(customer, 5_000);
  const [isWhole, setWhole] = useState(false);
  type Row = RecentUsage['meters'][number];
  const columns: Column<Row>[] = [
    {
      title: 'Meter',
      cell: ({ meter_id, name }) => (
        <Link to="/usage" search={{ meter: meter_id, customer: customer.external_id }} className="row-link">
          {name}
        </Link>
      ),
    },
    {
      title: 'Usage',
      cell: ({ total_usage, unit }) => `${formatDecimal(total_usage)}${unit === null ? '' : ` ${unit}`}`,
      isNumber: true,
    },
    { title: 'Events', cell: ({ event_count }) => formatDecimal(event_count), isNumber: true },
  ];
  return (
    <Loaded query={usage}>
      {({ meters, days }) => {
        const used = meters.filter(({ event_count: events }) => events > 0);
        const rows = (isWhole ? meters : used).toSorted((a, b) => b.event_count - a.event_count);
        return (
          <>
            <p className="muted">Of the last 30 days. {zoneWords(days)}</p>
            {used.length < meters.length && (
              <Switch
                label="Meters without usage, too"
                mb="sm"
                checked={isWhole}
                onChange={({ currentTarget: { checked } }) => setWhole(checked)}
              />
            )}
            <RowsByPage
              label="Usage of the last 30 days"
              columns={columns}
              rows={rows}
              keyOf={({ meter_id }) => meter_id}
              empty="No usage in the last 30 days."
            />
          </>
        );
      }}
    </Loaded>
  );
}

function Entitlements({ customer: { id, external_id: externalId } }: { customer: Schema<'Customer'> }) {
  const zone = useZoneOfUsage(externalId);
  const entitlements = useQuery({
    ...read('/api/v1/customers/{id}/entitlements', { path: { id } }),
    refetchInterval: () => pace(10_000),
  });
  return (
    <Loaded query={zone}>
      {({ days }) => (
        <Loaded query={entitlements}>
          {(answer) => <EntitlementTable entitlements={'data' in answer ? answer.data : [answer]} zone={days.zone} />}
        </Loaded>
      )}
    </Loaded>
  );
}
