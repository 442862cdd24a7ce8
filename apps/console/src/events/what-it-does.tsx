// What corrections would do: to usage, and to which invoices. It stands in the forms that make them.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client, send, type Schema } from '../api/client.ts';
import { writeExact } from '../api/exact-json.ts';
import type { paths } from '../api/openapi.d.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { formatDays, formatMonth } from '../text/instants.ts';

type Asked = paths['/api/v1/corrections/preview']['post']['requestBody']['content']['application/json']['corrections'];

/** Asks the API, which says here what it would refuse. Of no corrections nothing is asked. */
export function usePreviewOfCorrections(corrections: Asked) {
  const body = { corrections };
  return useQuery({
    queryKey: ['/api/v1/events', 'preview of corrections', writeExact(body)],
    queryFn: ({ signal }) =>
      send(client.POST('/api/v1/corrections/preview', { body, bodySerializer: writeExact, signal })),
    enabled: corrections.length > 0,
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    // While one types, what it would have done before.
    placeholderData: keepPreviousData,
  });
}

export function WhatItDoes({ preview }: { preview: ReturnType<typeof usePreviewOfCorrections> }) {
  return (
    <section aria-label="What it does">
      <Loaded query={preview} rows={6}>
        {({ usage, usage_total: usageTotal, invoices, invoices_total: invoicesTotal }) => (
          <>
            <DataTable
              label="Usage before and after"
              columns={USAGE}
              rows={usage}
              keyOf={({ meter_id: meter, customer_external_id: customer, month }) => `${month} ${meter} ${customer}`}
              empty={null}
            />
            <More shown={usage.length} total={usageTotal} of="rows" />
            <DataTable
              label="Invoices"
              columns={INVOICES}
              rows={invoices}
              keyOf={({ invoice_id: invoice, subscription_id: subscription, period_start: start }) =>
                `${invoice} ${subscription} ${start}`
              }
              empty={<p>No invoice has these events, and none would.</p>}
            />
            <More shown={invoices.length} total={invoicesTotal} of="invoices" />
          </>
        )}
      </Loaded>
    </section>
  );
}

function More({ shown, total, of }: { shown: number; total: number; of: string }) {
  if (total <= shown) return null;
  return <p className="muted">{`The first ${shown} ${of} of ${formatDecimal(total)}.`}</p>;
}

const USAGE: Column<Schema<'ChangedUsage'>>[] = [
  { title: 'Meter', cell: ({ meter_name: name }) => name },
  { title: 'Customer', cell: ({ customer_external_id: customer }) => customer },
  { title: 'Month', isTight: true, cell: ({ month }) => formatMonth(`${month}-01T00:00:00Z`, 'UTC') },
  { title: 'Events', isNumber: true, isExtra: true, cell: ({ events }) => formatDecimal(events) },
  { title: 'Usage', isNumber: true, cell: ({ before, after }) => `${formatDecimal(before)} → ${formatDecimal(after)}` },
];

const INVOICES: Column<Schema<'TouchedInvoice'>>[] = [
  {
    title: 'Invoice',
    isTight: true,
    // In another tab: what was typed into the form stays.
    cell: ({ invoice_number: number, invoice_id: id }) =>
      id === null ? (
        'Not made yet'
      ) : (
        <Link to="/invoices/$invoiceId" params={{ invoiceId: id }} target="_blank">
          {number ?? 'Draft'}
        </Link>
      ),
  },
  { title: 'Customer', isExtra: true, cell: ({ customer_external_id: customer }) => customer },
  {
    title: 'Period',
    isExtra: true,
    cell: ({ period_start: start, period_end: end, time_zone: zone }) => formatDays(start, end, zone),
  },
  {
    title: 'What becomes of it',
    cell: ({ effect }) =>
      effect === 'LATE_USAGE' ? 'Stays as it is; the next one has a line for the difference' : 'Shows it at once',
  },
];
