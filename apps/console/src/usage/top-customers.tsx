import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { read, type Answer } from '../api/client.ts';
import { DataTable, Paging, type Column } from '../components/lists/data-table.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Section } from '../components/page/page.tsx';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import type { Meter } from './meters.ts';
import { windowQuery, type UsageWindow } from './window.ts';

type Row = Answer<'/api/v1/meters/{id}/customers'>['data'][number];

const PAGE_SIZE = 10;

export function TopCustomers({ meter, window }: { meter: Meter; window: UsageWindow }) {
  // Another window begins with its own first page.
  const of = `${window.from} ${window.to} ${window.zone}`;
  const [shown, setShown] = useState({ of, page: 1 });
  const page = shown.of === of ? shown.page : 1;
  const query = { ...windowQuery(window), page, page_size: PAGE_SIZE };
  const customers = useQuery({
    ...read('/api/v1/meters/{id}/customers', { path: { id: meter.id }, query }),
    placeholderData: keepPreviousData,
  });
  const columns: Column<Row>[] = [
    {
      title: 'Customer',
      cell: ({ customer_external_id: externalId }) => (
        <Link
          className="row-link"
          from="/usage"
          to="/usage"
          search={(all: SearchTexts) => ({ ...all, meter: meter.id, customer: externalId })}
        >
          {externalId}
        </Link>
      ),
    },
    { title: 'Name', cell: ({ name }) => name ?? <span className="muted">–</span>, isExtra: true },
    { title: 'Usage', isNumber: true, cell: ({ total_usage: total }) => formatDecimal(total) },
    { title: 'Events', isNumber: true, cell: ({ event_count: events }) => formatDecimal(events) },
  ];
  return (
    <Section title="Top customers">
      <Loaded query={customers} rows={6}>
        {({ data, meta }) => (
          <>
            <DataTable
              label="Top customers"
              columns={columns}
              rows={data}
              keyOf={({ customer_external_id: id }) => id}
              empty={<p>No customer used {meter.name} in these days.</p>}
            />
            <Paging meta={meta} onPage={(to) => setShown({ of, page: to })} label="Top customers" />
          </>
        )}
      </Loaded>
    </Section>
  );
}
