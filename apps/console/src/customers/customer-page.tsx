import { Button, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, type Schema, send } from '../api/client.ts';
import { CustomerCredits } from '../billing/customer-credits.tsx';
import { InvoiceTable, useInvoices } from '../billing/invoices-page.tsx';
import { SubscribeForm } from '../billing/subscribe-form.tsx';
import { SubscriptionTable, useSubscriptions } from '../billing/subscriptions-page.tsx';
import { AdminOnly } from '../parts/admin-only.tsx';
import { formatDecimal } from '../parts/decimals.ts';
import { Facts } from '../parts/facts.tsx';
import { FormModal } from '../parts/form-modal.tsx';
import { Page } from '../parts/page.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { Time } from '../parts/time.tsx';
import { CustomerForm } from './customer-form.tsx';
import { EntitlementTable } from './entitlement-table.tsx';

type Customer = Schema<'Customer'>;

export function CustomerPage() {
  const { customerId } = useParams({ strict: false }) as { customerId: string };
  const customer = useQuery(read('/api/v1/customers/{id}', { path: { id: customerId } }));
  return <QueryView query={customer}>{(data) => <CustomerView customer={data} />}</QueryView>;
}

function CustomerView({ customer }: { customer: Customer }) {
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'edit' | 'delete' | 'subscribe'>();
  const { id, name, external_id, email, phone, time_zone } = customer;
  const close = () => setDialog(undefined);
  const address = addressOf(customer);
  return (
    <Page
      title={name ?? external_id}
      parents={[{ label: 'Customers', to: '/customers' }]}
      actions={
        <AdminOnly>
          <Button onClick={() => setDialog('subscribe')}>Subscribe to a plan</Button>
          <Button variant="default" onClick={() => setDialog('edit')}>
            Change
          </Button>
          <Button variant="default" onClick={() => setDialog('delete')}>
            Delete
          </Button>
        </AdminOnly>
      }
    >
      <Facts
        of={[
          ['External id', <code key="external">{external_id}</code>],
          ...(email === null ? [] : [['Email', email] as const]),
          ...(phone === null ? [] : [['Phone', phone] as const]),
          ...(address === '' ? [] : [['Address', address] as const]),
          ['Time zone', time_zone ?? 'that of the organization'],
          ['Since', <Time key="since" of={customer.created_at} isDate />],
        ]}
      />
      <Tabs defaultValue="usage" keepMounted={false} mt="md">
        <Tabs.List>
          <Tabs.Tab value="usage">Usage</Tabs.Tab>
          <Tabs.Tab value="subscriptions">Subscriptions</Tabs.Tab>
          <Tabs.Tab value="invoices">Invoices</Tabs.Tab>
          <Tabs.Tab value="credits">Credits</Tabs.Tab>
          <Tabs.Tab value="features">Entitlements</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="usage" pt="md">
          <Usage id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="subscriptions" pt="md">
          <Subscriptions id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="invoices" pt="md">
          <Invoices id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="credits" pt="md">
          <CustomerCredits customerId={id} />
        </Tabs.Panel>
        <Tabs.Panel value="features" pt="md">
          <Entitlements id={id} />
        </Tabs.Panel>
      </Tabs>
      {dialog === 'edit' && <CustomerForm customer={customer} onClose={close} />}
      {dialog === 'subscribe' && (
        <SubscribeForm
          customerId={id}
          onClose={close}
          onDone={(made) => void navigate({ to: '/subscriptions/$subscriptionId', params: { subscriptionId: made.id } })}
        />
      )}
      {dialog === 'delete' && (
        <FormModal
          title={`Delete ${name ?? external_id}?`}
          submit="Delete customer"
          isDangerous
          run={() => send(client.DELETE('/api/v1/customers/{id}', { params: { path: { id } } }))}
          refresh={['/api/v1/customers']}
          onDone={() => void navigate({ to: '/customers' })}
          onClose={close}
        >
          <Text size="sm">The record only: usage stays, under the external id.</Text>
        </FormModal>
      )}
    </Page>
  );
}

function addressOf(customer: Customer): string {
  const { billing_address_line1: street, billing_address_city: city, billing_address_country: country } = customer;
  const place = [customer.billing_address_postal_code, city].filter(Boolean).join(' ');
  return [street, place, customer.billing_address_state, country].filter(Boolean).join(', ');
}

function Usage({ id }: { id: string }) {
  const usage = useQuery({
    ...read('/api/v1/customers/{id}/usage', { path: { id } }),
    refetchInterval: 5_000,
  });
  return (
    <QueryView query={usage}>
      {({ data, period_start, period_end }) => (
        <>
          <Text size="sm" c="dimmed" mb="xs">
            From <Time of={period_start} /> to <Time of={period_end} />
          </Text>
          {data.length === 0 ? (
            <Text c="dimmed">No usage in this time.</Text>
          ) : (
            <div className="table-scroll">
              <table className="table" aria-label="Usage by meter">
                <thead>
                  <tr>
                    <th scope="col">Meter</th>
                    <th scope="col" className="right">
                      Usage
                    </th>
                    <th scope="col" className="right">
                      Events
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {data.map((meter) => (
                    <tr key={meter.meter_id}>
                      <td>
                        <Link to="/meters/$meterId" params={{ meterId: meter.meter_id }}>
                          {meter.name}
                        </Link>
                      </td>
                      <td className="right number">
                        {formatDecimal(meter.total_usage)} {meter.unit ?? ''}
                      </td>
                      <td className="right number">{formatDecimal(meter.event_count)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </>
      )}
    </QueryView>
  );
}

function Subscriptions({ id }: { id: string }) {
  const [page, setPage] = useState(1);
  return (
    <SubscriptionTable query={useSubscriptions({ page, customer_id: id })} page={page} onPage={setPage} isOfCustomer />
  );
}

function Invoices({ id }: { id: string }) {
  const [page, setPage] = useState(1);
  return <InvoiceTable query={useInvoices({ page, customer_id: id })} page={page} onPage={setPage} />;
}

function Entitlements({ id }: { id: string }) {
  const entitlements = useQuery({
    ...read('/api/v1/customers/{id}/entitlements', { path: { id } }),
    refetchInterval: 10_000,
  });
  return (
    <QueryView query={entitlements}>
      {(answer) => <EntitlementTable entitlements={'data' in answer ? answer.data : [answer]} />}
    </QueryView>
  );
}
