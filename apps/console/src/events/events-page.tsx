// The log of events, live while one looks at its newest; what an event became (receipt.tsx); and what was rejected, by reason.

import { Button, Switch } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { writeExact } from '../api/exact-json.ts';
import { pace } from '../api/pace.ts';
import { useSession } from '../api/session.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { ListExport } from '../components/lists/list-export.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Loading } from '../components/outcomes/loading.tsx';
import { Page } from '../components/page/page.tsx';
import { areReversed, ReversedDates } from '../components/forms/reversed-dates.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import { useMeters } from '../usage/meters.ts';
import { EventFilters } from './event-filters.tsx';
import './events.css';
import { listEvents, type EventFilter, type EventReceipt } from './event-log.ts';
import { Receipt } from './receipt.tsx';
import { Rejections } from './rejections.tsx';
import { VoidMany } from './void-many.tsx';

/** How often new events are asked for. */
const LIVE_MS = 1_500;

const LIMIT = 50;

export function EventsPage() {
  const search = useSearch({ from: '/shell/events' });
  const [isLive, setLive] = useState(true);
  const { isAdmin } = useSession();
  const filter = useEventFilter();
  const isReversed = areReversed(search.from, search.to);
  return (
    <Page
      title="Events"
      actions={
        <>
          {isAdmin && isVoidable(filter) && !isReversed && <VoidMany key={JSON.stringify(filter)} filter={filter} />}
          {!isReversed && <ListExport name="events" readPage={(part) => listEvents({ ...filter, ...part })} />}
          <Switch label="Live" checked={isLive} onChange={({ currentTarget }) => setLive(currentTarget.checked)} />
        </>
      }
    >
      <EventFilters />
      {search.status === 'rejected' && <Rejections />}
      <div className={search.event === undefined ? 'log' : 'beside'}>
        {isReversed ? <ReversedDates /> : <EventLog isLive={isLive} />}
        {search.event !== undefined && <Receipt key={search.event} id={search.event} />}
      </div>
    </Page>
  );
}

/** Some of them, and recorded ones. */
function isVoidable({ status, reason, ...filter }: EventFilter): boolean {
  return (status === undefined || status === 'recorded') && reason === undefined && Object.keys(filter).length > 0;
}

/** As the address has it. */
function useEventFilter(): EventFilter {
  const { status, meter, customer, from, to, key, reason } = useSearch({ from: '/shell/events' });
  return {
    ...(status !== undefined && { status: status as Exclude<EventReceipt['status'], 'queued'> }),
    ...(meter !== undefined && { meter_id: meter }),
    ...(customer !== undefined && { customer_external_id: customer }),
    ...(from !== undefined && { start_date: from }),
    ...(to !== undefined && { end_date: to }),
    ...(key !== undefined && { idempotency_key: key }),
    ...(reason !== undefined && { reason }),
  };
}

function useEvents(isLive: boolean) {
  const query = { limit: LIMIT, ...useEventFilter() };
  return useInfiniteQuery({
    queryKey: ['/api/v1/events', query],
    queryFn: ({ pageParam, signal }) =>
      listEvents({ ...query, ...(pageParam !== undefined && { cursor: pageParam }) }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    // Who has gone back further reads, and would not want the lines to move.
    refetchInterval: ({ state }) => (isLive && (state.data?.pages.length ?? 1) === 1 ? pace(LIVE_MS) : false),
  });
}

function EventLog({ isLive }: { isLive: boolean }) {
  const events = useEvents(isLive);
  const { event: shown } = useSearch({ from: '/shell/events' });
  const meters = useMeters();
  const names = new Map(meters.data?.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? <code>{id.slice(0, 8)}</code>;
  const columns: Column<EventReceipt>[] = [
    {
      title: 'Time',
      isTight: true,
      cell: ({ id, timestamp: at, status }) => (
        <>
          <Link className="row-link" from="/events" to="/events" search={(all: SearchTexts) => ({ ...all, event: id })}>
            <Time at={at} />
          </Link>
          <span className="only-phone">
            <Status of={status} />
          </span>
        </>
      ),
    },
    { title: 'Received', isTight: true, isExtra: true, cell: ({ received_at: at }) => <Time at={at} /> },
    { title: 'Status', isTight: true, isBelowOnPhone: true, cell: ({ status }) => <Status of={status} /> },
    { title: 'Meter', isBelowOnPhone: true, cell: ({ meter_id: id }) => nameOf(id) },
    {
      title: 'Customer',
      cell: ({ customer_external_id: customer, meter_id: meter }) => (
        <>
          {customer}
          <span className="only-phone muted">{nameOf(meter)}</span>
        </>
      ),
    },
    { title: 'Quantity', isNumber: true, cell: ({ quantity }) => formatDecimal(quantity) },
    { title: 'Metadata', isExtra: true, cell: ({ metadata }) => <Metadata of={metadata} /> },
  ];
  return (
    <div>
      {/* The names of meters are in its rows, which move when they come later. */}
      {meters.isPending ? (
        <Loading rows={12} />
      ) : (
        <Loaded query={events} rows={12}>
          {({ pages }) => (
            <DataTable
              label="Events, last received first"
              columns={columns}
              rows={pages.flatMap(({ data }) => data)}
              keyOf={({ id }) => id}
              isSelected={({ id }) => id === shown}
              empty={
                <p>{isLive ? 'No events like this yet. New ones show here as they come.' : 'No events like this.'}</p>
              }
            />
          )}
        </Loaded>
      )}
      {events.hasNextPage && !meters.isPending && (
        <div className="more">
          <Button variant="default" loading={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
            Older events
          </Button>
        </div>
      )}
    </div>
  );
}

function Metadata({ of: metadata }: { of: EventReceipt['metadata'] }) {
  if (metadata === null) return <span className="muted">–</span>;
  return <code className="one-line">{writeExact(metadata)}</code>;
}
