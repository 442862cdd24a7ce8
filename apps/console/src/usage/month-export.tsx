import { Select, TextInput } from '@mantine/core';
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { read } from '../api/client.ts';
import { readPages } from '../api/pages.ts';
import { ApiError } from '../api/problem.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { FormBox, NOT_SENT, useForm } from '../components/forms/form.tsx';
import { toCsv } from '../text/csv.ts';
import { formatDecimal } from '../text/decimals.ts';
import { download } from '../text/download.ts';
import { addDays, dateIn, timeZones } from '../text/instants.ts';
import { firstOfMonth, lastOfMonth } from './window.ts';

/** Usage of all meters and customers of a month, as one file: a row for each meter and customer that used it. */
export function MonthExport({ organizationZone, onClose }: { organizationZone: string; onClose: () => void }) {
  return (
    <Dialog title="Export a month" onClose={onClose}>
      <ExportForm organizationZone={organizationZone} onDone={onClose} />
    </Dialog>
  );
}

function ExportForm({ organizationZone, onDone }: { organizationZone: string; onDone: () => void }) {
  const queries = useQueryClient();
  const [initial] = useState(() => ({ month: lastMonth(organizationZone), zone: organizationZone }));
  const [rowsRead, setRowsRead] = useState<number | undefined>();
  const [moved, setMoved] = useState<string[]>([]);
  const reading = useRef(new AbortController());
  // Whoever closes it wants no file any more.
  useEffect(() => () => reading.current.abort(), []);
  const form = useForm({
    initial,
    onSubmit: async ({ month, zone }) => {
      if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(month)) throw NO_MONTH;
      setMoved([]);
      reading.current = new AbortController();
      const { signal } = reading.current;
      const read = await readMonth(queries, month, zone, (count) => {
        signal.throwIfAborted();
        setRowsRead(count);
      }).catch((problem: unknown) => {
        if (!signal.aborted) throw problem;
      });
      if (read === undefined) return NOT_SENT;
      const { parts, movedMeters } = read;
      download(`usage-${month}.csv`, parts);
      if (movedMeters.length === 0) onDone();
      setMoved(movedMeters);
    },
  });
  return (
    <FormBox form={form} submitLabel="Export" onCancel={onDone} isHeldOpen={false}>
      <p className="dialog-lead">A CSV file with the usage of each meter by each customer.</p>
      <TextInput label="Month" type="month" {...form.field('month')} />
      <Select
        label="Time zone"
        description="In which the month begins and ends"
        data={timeZones(initial.zone)}
        searchable
        allowDeselect={false}
        {...form.field('zone')}
      />
      <p className="muted" role="status">
        {rowsRead !== undefined && form.isBusy && `${formatDecimal(rowsRead)} rows read …`}
        {moved.length > 0 && movedWords(moved)}
      </p>
    </FormBox>
  );
}

const NAMES_MAX = 5;

/** Customers are read by parts, each as of its moment. */
function movedWords(meters: readonly string[]): string {
  const more = meters.length - NAMES_MAX;
  const names = [...meters.slice(0, NAMES_MAX), ...(more > 0 ? [`${formatDecimal(more)} more`] : [])].join(', ');
  return `The file is there. Usage of these meters changed while it was made, so it is not all of one moment: ${names}. Where that matters, export it again.`;
}

/** A browser without a field for months gives what was typed. */
const NO_MONTH = new ApiError({
  code: 'invalid_request',
  detail: 'There is no such month.',
  errors: [{ path: 'month', message: 'Write a month such as 2026-11.' }],
});

/** Whose usage is whole, but for what comes late. */
function lastMonth(zone: string): string {
  return addDays(firstOfMonth(dateIn(zone, new Date())), -1).slice(0, 7);
}

const HEADER = [
  'meter',
  'meter_token',
  'aggregation_type',
  'unit',
  'customer_external_id',
  'customer_name',
  'usage',
  'event_count',
];

type Row = (string | number | null)[];

interface MonthFile {
  /** One for each meter, after that with the names of the columns. */
  parts: Blob[];
  /** The names of those whose usage changed while their customers were read. */
  movedMeters: string[];
}

async function readMonth(
  queries: QueryClient,
  month: string,
  zone: string,
  onProgress: (rows: number) => void,
): Promise<MonthFile> {
  const parts = [new Blob([toCsv([HEADER])])];
  const movedMeters: string[] = [];
  let count = 0;
  const window = { start_date: `${month}-01`, end_date: lastOfMonth(month), timezone: zone };
  const meters = await readPages((part) =>
    queries.fetchQuery({ ...read('/api/v1/meters', { query: { ...part } }), staleTime: 0 }),
  );
  for (const meter of meters) {
    const { id, name, meter_token: token, aggregation_type: aggregation, unit } = meter;
    const path = { id };
    let pages = 0;
    const customers = await readPages((part) => {
      pages += 1;
      // In the order of usage a customer who uses more meanwhile would move to what was read.
      const query = { ...window, ...part, sort: 'customer_external_id' as const };
      return queries.fetchQuery({ ...read('/api/v1/meters/{id}/customers', { path, query }), ...UNKEPT });
    });
    const rows = customers.map((each): Row => {
      const { customer_external_id: externalId, name: customer, total_usage: usage, event_count: events } = each;
      return [name, token, aggregation, unit, externalId, customer, usage, events];
    });
    parts.push(new Blob([toCsv(rows)]));
    count += rows.length;
    onProgress(count);
    // One page is of one moment.
    if (pages === 1) continue;
    const events = customers.reduce((sum, { event_count }) => sum + event_count, 0);
    const whole = await queries.fetchQuery({
      ...read('/api/v1/meters/{id}/usage', { path, query: window }),
      ...UNKEPT,
    });
    if (whole.event_count !== events) movedMeters.push(name);
  }
  return { parts, movedMeters };
}

const UNKEPT = { staleTime: 0, gcTime: 0 };
