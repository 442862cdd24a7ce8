// Shows what a line comes from: the buckets that make up its quantity, and the events, as they were at its closing.

import '@mantine/core/styles/Tabs.css';
import { Button, SegmentedControl, Switch, Tabs } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, read, send, type Schema } from '../api/client.ts';
import { Tiers } from '../catalog/charge-price.tsx';
import { describeCharge, describeWithoutTiers, tiersOf } from '../catalog/charge-words.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { formatAmount, formatDecimal, subtractDecimals } from '../text/decimals.ts';
import { Drawer } from '../components/dialogs/drawer.tsx';
import { Facts } from '../components/lists/facts.tsx';
import { RowsByPage } from '../components/lists/rows-by-page.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Time } from '../components/page/time.tsx';

type Line = Schema<'InvoiceLine'>;
type Tier = Extract<NonNullable<Line['detail']>, unknown[]>[number];
type Grouping = 'hour' | 'day' | 'week' | 'month';

interface LinePath {
  id: string;
  line_id: string;
}

interface BehindProps {
  path: LinePath;
  zone: string;
}

interface LineBehindProps {
  path: LinePath;
  /** Where it came with the invoice. */
  known: Line | undefined;
  currency: string;
  zone: string;
  onClose: () => void;
}

export function LineBehind({ path, known, currency, zone, onClose }: LineBehindProps) {
  const found = useQuery({
    ...read('/api/v1/invoices/{id}/lines/{line_id}', { path }),
    enabled: known === undefined,
  });
  const line = known ?? found.data;
  return (
    <Drawer
      title={line === undefined ? 'What is behind a line' : `What is behind “${line.description}”`}
      onClose={onClose}
    >
      {line === undefined ? (
        <Loaded query={found} rows={8}>
          {() => null}
        </Loaded>
      ) : (
        <Behind path={path} line={line} currency={currency} zone={zone} />
      )}
    </Drawer>
  );
}

function Behind({ path, line, currency, zone }: BehindProps & { line: Line; currency: string }) {
  const tiers = line.charge === null ? [] : tiersOf(line.charge);
  const describe = tiers.length === 0 ? describeCharge : describeWithoutTiers;
  return (
    <>
      <Facts
        of={[
          ['Quantity', formatDecimal(line.quantity)],
          ['Events', formatDecimal(line.event_count)],
          ['Price', line.charge !== null && describe(line.charge, currency)],
          ['Before rounding', `${line.exact_amount} ${currency}`],
          ['Billed before', formatAmount(line.billed_before, currency)],
          ['Waived', line.waived !== null && formatAmount(line.waived, currency)],
          ['Amount', formatAmount(line.amount, currency)],
        ]}
      />
      <Tiers tiers={tiers} currency={currency} name={line.description} />
      <Detail line={line} currency={currency} />
      <Tabs defaultValue="buckets" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="buckets">Usage by time</Tabs.Tab>
          <Tabs.Tab value="events">Events</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="buckets" pt="sm">
          <Buckets path={path} zone={zone} />
        </Tabs.Panel>
        <Tabs.Panel value="events" pt="sm">
          <Events path={path} zone={zone} isLate={line.kind === 'LATE_USAGE'} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** By tier, or the number of packages. */
function Detail({ line, currency }: { line: Line; currency: string }) {
  const { detail } = line;
  if (detail === null) return null;
  if (!Array.isArray(detail))
    return (
      <p>
        {formatDecimal(detail.packages)} {detail.packages === '1' ? 'package was' : 'packages were'} started.
      </p>
    );
  const columns: Column<Tier>[] = [
    { title: 'Tier', cell: ({ up_to }) => (up_to === null ? 'beyond' : `up to ${formatDecimal(up_to)}`) },
    { title: 'Quantity', cell: ({ quantity }) => formatDecimal(quantity), isNumber: true },
    { title: `Amount, ${currency}`, cell: ({ exact_amount }) => exact_amount, isNumber: true },
  ];
  return (
    <DataTable label="By tier" columns={columns} rows={detail} keyOf={({ up_to }) => up_to ?? 'end'} empty="No tier." />
  );
}

function Buckets({ path, zone }: BehindProps) {
  const [grouping, setGrouping] = useState<Grouping>('day');
  const usage = useQuery(read('/api/v1/invoices/{id}/lines/{line_id}/usage', { path, query: { group_by: grouping } }));
  type Bucket = NonNullable<typeof usage.data>['grouped_data'][number];
  const columns: Column<Bucket>[] = [
    {
      title: 'From',
      cell: ({ period_start }) => <Time at={period_start} zone={zone} as={grouping === 'hour' ? 'instant' : 'date'} />,
    },
    { title: 'Usage', cell: (bucket) => formatDecimal(bucket.usage), isNumber: true },
    { title: 'Events', cell: ({ event_count }) => formatDecimal(event_count), isNumber: true },
  ];
  return (
    <>
      <SegmentedControl
        aria-label="Grouped by"
        value={grouping}
        onChange={(value) => setGrouping(value)}
        data={['hour', 'day', 'week', 'month']}
      />
      <Loaded query={usage}>
        {({ grouped_data: buckets }) => (
          <RowsByPage
            label="Usage by time"
            columns={columns}
            rows={buckets.filter(({ event_count }) => event_count > 0)}
            keyOf={({ period_start }) => period_start}
            empty="No usage in this period."
          />
        )}
      </Loaded>
    </>
  );
}

function Events({ path, zone, isLate }: BehindProps & { isLate: boolean }) {
  const [onlyChanges, setOnlyChanges] = useState(isLate);
  const events = useInfiniteQuery({
    queryKey: ['/api/v1/invoices/{id}/lines/{line_id}/events', path, onlyChanges],
    initialPageParam: '',
    queryFn: ({ pageParam: cursor }) => {
      const query = { limit: 50, ...(cursor !== '' && { cursor }), ...(onlyChanges && { changes: 'true' as const }) };
      return send(client.GET('/api/v1/invoices/{id}/lines/{line_id}/events', { params: { path, query } }));
    },
    getNextPageParam: ({ meta }) => meta.next_cursor,
  });
  const { hasNextPage, isFetchingNextPage } = events;
  type Event = NonNullable<typeof events.data>['pages'][number]['data'][number];
  const columns: Column<Event>[] = [
    { title: 'Time', cell: ({ timestamp }) => <Time at={timestamp} zone={zone} /> },
    { title: 'Idempotency key, or id', cell: ({ idempotency_key, id }) => <code>{idempotency_key ?? id}</code> },
    { title: 'Change', cell: changeOf, isTight: true },
    {
      title: 'Quantity',
      cell: ({ quantity, change }) => formatDecimal(change === 'removed' ? subtractDecimals('0', quantity) : quantity),
      isNumber: true,
    },
  ];
  return (
    <>
      {isLate && (
        <Switch
          label="Only what changed since the line before"
          checked={onlyChanges}
          onChange={({ currentTarget: { checked } }) => setOnlyChanges(checked)}
        />
      )}
      <Loaded query={events}>
        {({ pages }) => (
          <DataTable
            label="Events"
            columns={columns}
            rows={pages.flatMap((page) => page.data)}
            keyOf={({ id }) => id}
            empty={hasNextPage ? 'The events of this page are lost.' : 'No event.'}
          />
        )}
      </Loaded>
      {hasNextPage && (
        <Button variant="default" mt="sm" loading={isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
          More events
        </Button>
      )}
    </>
  );
}

/** What an event did to the line: what is voided after it still counts in it. */
function changeOf({ change, status }: Pick<Schema<'EventReceipt'>, 'change' | 'status'>): string {
  if (change === 'removed') return 'taken out';
  const isVoided = status === 'voided';
  if (change === 'added') return isVoided ? 'added, voided since' : 'added';
  return isVoided ? 'voided since' : '';
}
