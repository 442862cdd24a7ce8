import { SegmentedControl } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { read } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Section } from '../components/page/page.tsx';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import type { Meter } from './meters.ts';
import type { MeterUsage } from './usage-chart.tsx';
import type { UsageWindow } from './window.ts';

type Group = NonNullable<MeterUsage['groups']>[number];

interface MetadataGroupsProps {
  meter: Meter;
  window: UsageWindow;
  customer: string | undefined;
}

const NUMBERS: Column<Group>[] = [
  { title: 'Usage', isNumber: true, cell: ({ total_usage: total }) => formatDecimal(total) },
  { title: 'Events', isNumber: true, cell: ({ event_count: events }) => formatDecimal(events) },
];

const REFRESH_MS = 5_000;

/** Usage by one of the keys that the meter names, largest first; the last line is all the rest. */
export function MetadataGroups({ meter, window, customer }: MetadataGroupsProps) {
  const { group } = useSearch({ from: '/shell/usage' });
  const navigate = useNavigate({ from: '/usage' });
  const keys = meter.metadata_keys ?? [];
  const key = keys.find((each) => each === group) ?? keys[0] ?? '';
  const usage = useQuery({
    ...read('/api/v1/meters/{id}/usage', {
      path: { id: meter.id },
      query: {
        start_date: window.from,
        end_date: window.to,
        timezone: window.zone,
        // Only the totals are shown, and the fewer buckets the better.
        group_by: 'month',
        group_by_metadata: key,
        ...(customer !== undefined && { customer_external_id: customer }),
      },
    }),
    placeholderData: keepPreviousData,
    // Also while the API says that it is still making the groups of new keys.
    refetchInterval: () => pace(REFRESH_MS),
  });
  const columns: Column<Group>[] = [{ title: 'Value', cell: (each) => <Value group={each} of={key} /> }, ...NUMBERS];
  return (
    <Section
      title="By metadata"
      actions={
        <SegmentedControl
          aria-label="Key of the metadata"
          data={keys}
          value={key}
          onChange={(next) =>
            void navigate({ search: (all: SearchTexts) => ({ ...all, group: next, value: undefined }), replace: true })
          }
        />
      }
    >
      <Loaded query={usage} rows={6}>
        {({ groups = [] }) => (
          <DataTable
            label={`Usage by ${key}`}
            columns={columns}
            rows={groups}
            keyOf={(each) => JSON.stringify([each.value, each.is_rest])}
            empty={<p>No event of these days has the key {key}.</p>}
          />
        )}
      </Loaded>
    </Section>
  );
}

/** Leads to the usage with this value alone. */
function Value({ group: { value, is_rest: isRest }, of: key }: { group: Group; of: string }) {
  if (isRest) return <span className="muted">All others</span>;
  if (value === null) return <span className="muted">Without the key</span>;
  return (
    <Link
      className="row-link"
      from="/usage"
      to="/usage"
      search={(all: SearchTexts) => ({ ...all, group: key, value })}
      resetScroll={false}
    >
      {value}
    </Link>
  );
}
