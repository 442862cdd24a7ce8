import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { changeShown, read, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { CopyButton } from '../components/page/copy-button.tsx';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { Facts } from '../components/lists/facts.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Page, Section } from '../components/page/page.tsx';
import { ThingPage } from '../components/page/thing-page.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import { useRecentCustomers, zoneWords } from '../usage/days-of-usage.ts';
import { MeterKeys } from './meter-keys.tsx';

type Meter = Schema<'Meter'>;

const ABOVE = <Link to="/features">Features and meters</Link>;

export function MeterPage() {
  const { meterId } = useParams({ from: '/shell/meters/$meterId' });
  const meter = useQuery(read('/api/v1/meters/{id}', { path: { id: meterId } }));
  return (
    <ThingPage query={meter} of="Meter" above={ABOVE}>
      {(data) => <MeterView meter={data} />}
    </ThingPage>
  );
}

function MeterView({ meter }: { meter: Meter }) {
  const queries = useQueryClient();
  const { id, name, status, meter_token: token, unit } = meter;
  const isActive = status === 'ACTIVE';
  const setStatus = async () => {
    const params = { path: { id } };
    const body = { status: isActive ? ('ARCHIVED' as const) : ('ACTIVE' as const) };
    try {
      await changeShown('/api/v1/meters/{id}', params, { status }, (PATCH) =>
        PATCH('/api/v1/meters/{id}', { params, body }),
      );
    } finally {
      await invalidate(queries, '/api/v1/meters', '/api/v1/meters/{id}');
    }
  };
  return (
    <Page
      title={name}
      above={ABOVE}
      actions={
        <>
          <Link to="/usage" search={{ meter: id }} className="link-button">
            Usage
          </Link>
          <AdminOnly>
            <Confirm
              label={isActive ? 'Archive' : 'Take into use again'}
              title={isActive ? `Archive ${name}?` : `Take ${name} into use again?`}
              onConfirm={setStatus}
              isDangerous={isActive}
              trigger={
                isActive
                  ? (open) => (
                      <RowMenu
                        label={`Actions on ${name}`}
                        items={[{ label: 'Archive', onClick: open, isDangerous: true }]}
                      />
                    )
                  : undefined
              }
            >
              {isActive
                ? 'It takes no more events then, also where a plan has a price for it: they are refused. What it has counted stays and is billed, and it can be taken into use again.'
                : 'It takes events again, and goes on with what it has counted.'}
            </Confirm>
          </AdminOnly>
        </>
      }
    >
      <Facts
        of={[
          ['Status', <Status key="status" of={status} />],
          [
            'Meter token',
            <span key="token" className="with-button">
              <code>{token}</code> <CopyButton value={token} label="Copy the meter token" />
            </span>,
          ],
          ['Aggregation', meter.aggregation_type],
          ['Unit', unit ?? 'none'],
          ['Since', <Time key="since" at={meter.created_at} as="date" />],
        ]}
      />
      <MeterKeys meter={meter} />
      <TopCustomers meter={meter} />
    </Page>
  );
}

function TopCustomers({ meter: { id, unit } }: { meter: Meter }) {
  const recent = useRecentCustomers(id, 10_000);
  type Row = NonNullable<typeof recent.data>['customers'][number];
  const columns: Column<Row>[] = [
    {
      title: 'Customer',
      cell: ({ customer_id, customer_external_id }) =>
        customer_id === null ? (
          <>
            {customer_external_id} <span className="muted">without a record</span>
          </>
        ) : (
          <Link to="/customers/$customerId" params={{ customerId: customer_id }}>
            {customer_external_id}
          </Link>
        ),
    },
    {
      title: 'Usage',
      cell: ({ total_usage }) => `${formatDecimal(total_usage)}${unit === null ? '' : ` ${unit}`}`,
      isNumber: true,
    },
    { title: 'Events', cell: ({ event_count }) => formatDecimal(event_count), isNumber: true },
  ];
  return (
    <Section title="Customers" about="Of the last 30 days, the largest first.">
      <Loaded query={recent}>
        {({ customers, days }) => (
          <>
            <DataTable
              label="Customers by usage"
              columns={columns}
              rows={customers}
              keyOf={({ customer_external_id }) => customer_external_id}
              empty="No usage yet: send an event with the meter token."
            />
            <p className="muted">{zoneWords(days)}</p>
          </>
        )}
      </Loaded>
    </Section>
  );
}
