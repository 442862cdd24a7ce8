import { Button, SegmentedControl, Switch } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { client, send } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { useSession } from '../api/session.ts';
import { formatDecimal, percentChange } from '../text/decimals.ts';
import { toCsv } from '../text/csv.ts';
import { download } from '../text/download.ts';
import { Icon } from '../components/page/icons.tsx';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Loading } from '../components/outcomes/loading.tsx';
import { Page } from '../components/page/page.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { areReversed, ReversedDates } from '../components/forms/reversed-dates.tsx';
import type { SearchTexts } from '../components/lists/search-texts.ts';
import { useFirstMeter, useRemembered } from './first-meter.ts';
import { MetadataGroups } from './metadata-groups.tsx';
import { AGGREGATIONS } from './aggregations.ts';
import { useMeters, type Meter } from './meters.ts';
import { MonthExport } from './month-export.tsx';
import { TopCustomers } from './top-customers.tsx';
import { UsageChart, type MeterUsage } from './usage-chart.tsx';
import { UsageFilters } from './usage-filters.tsx';
import { BUCKET_WORDS, BUCKETS, windowBefore, windowOf, type UsageWindow } from './window.ts';

/** Usage is read anew this often while one looks at it. */
const REFRESH_MS = 1_500;

export function UsagePage() {
  const meters = useMeters();
  return (
    <Page title="Usage" actions={<MonthExport />}>
      <Loaded query={meters} rows={12}>
        {(all) => <UsageOfOne meters={all} />}
      </Loaded>
    </Page>
  );
}

function UsageOfOne({ meters }: { meters: readonly Meter[] }) {
  const search = useSearch({ from: '/shell/usage' });
  const meter = useFirstMeter(meters, search.meter);
  const window = windowOf(search);
  if (meter === null) return <Loading rows={12} />;
  if (meter === undefined) return <NoMeters />;
  return (
    <>
      <UsageFilters meters={meters} meter={meter} window={window} />
      {areReversed(window.from, window.to) ? (
        <ReversedDates />
      ) : (
        <UsageOfMeter key={meter.id} meter={meter} window={window} customer={search.customer} />
      )}
    </>
  );
}

function NoMeters() {
  const { isAdmin } = useSession();
  return (
    <div className="empty">
      <p>No meters yet. A meter is what is counted: API calls, tokens, active users.</p>
      {isAdmin && (
        <p>
          <Link to="/">Make the first one</Link>
        </p>
      )}
    </div>
  );
}

interface Scope {
  customer: string | undefined;
  /** A key of the metadata and its value. */
  only: Record<string, string> | undefined;
}

/** With each answer comes what was asked, so that an answer is never shown under the words of the next question. */
function useUsage(meter: Meter, window: UsageWindow, { customer, only }: Scope, isOn = true) {
  const path = { id: meter.id };
  const query = {
    start_date: window.from,
    end_date: window.to,
    timezone: window.zone,
    group_by: window.by,
    ...(customer !== undefined && { customer_external_id: customer }),
    ...(only !== undefined && { filter: only }),
  };
  return useQuery({
    queryKey: ['/api/v1/meters/{id}/usage', 'asked', meter.id, query],
    queryFn: async ({ signal }) => {
      const usage = await send(client.GET('/api/v1/meters/{id}/usage', { params: { path, query }, signal }));
      return { usage, window };
    },
    enabled: isOn,
    refetchInterval: () => pace(REFRESH_MS),
    placeholderData: keepPreviousData,
  });
}

interface UsageOfMeterProps {
  meter: Meter;
  window: UsageWindow;
  customer: string | undefined;
}

function UsageOfMeter({ meter, window, customer }: UsageOfMeterProps) {
  useRemembered(meter);
  const { compare, group, value } = useSearch({ from: '/shell/usage' });
  const navigate = useNavigate({ from: '/usage' });
  const isComparing = compare === '1';
  const only = group === undefined || value === undefined ? undefined : { [group]: value };
  const usage = useUsage(meter, window, { customer, only });
  const before = useUsage(meter, windowBefore(window), { customer, only }, isComparing);
  const earlier = isComparing && !before.isPlaceholderData ? before.data?.usage : undefined;
  return (
    <>
      <Loaded query={usage} rows={14}>
        {({ usage: data, window: asked }) => (
          <>
            <Figures meter={meter} usage={data} before={earlier} />
            <div className="toolbar usage-bar">
              <SegmentedControl
                aria-label="Bucket"
                data={BUCKETS.map((value) => ({ value, label: BUCKET_WORDS[value] }))}
                value={window.by}
                onChange={(by) => void navigate({ search: (all: SearchTexts) => ({ ...all, by }), replace: true })}
              />
              <Switch
                label="Compare with the period before"
                checked={isComparing}
                onChange={({ currentTarget: { checked } }) =>
                  void navigate({
                    search: (all: SearchTexts) => ({ ...all, compare: checked ? '1' : undefined }),
                    replace: true,
                  })
                }
              />
              {only !== undefined && (
                <Button
                  variant="light"
                  rightSection={<Icon name="close" />}
                  aria-label={`Only ${group} ${value}: show all`}
                  onClick={() =>
                    void navigate({ search: (all: SearchTexts) => ({ ...all, value: undefined }), replace: true })
                  }
                >
                  {group}: {value}
                </Button>
              )}
              <Button
                className="is-end"
                variant="default"
                leftSection={<Icon name="download" />}
                onClick={() => download(fileName(meter, asked), usageCsv(data, earlier))}
              >
                CSV
              </Button>
            </div>
            {isComparing && <ProblemBox error={before.error} />}
            {isComparing && (before.isPending || before.isPlaceholderData) ? (
              <Loading rows={10} />
            ) : (
              <UsageChart meter={meter} usage={data} before={earlier} window={asked} />
            )}
          </>
        )}
      </Loaded>
      {usage.data !== undefined && meter.metadata_keys !== undefined && meter.metadata_keys.length > 0 && (
        <MetadataGroups meter={meter} window={window} customer={customer} />
      )}
      {/* What stands below the chart comes after it, so that nothing moves. */}
      {usage.data !== undefined && customer === undefined && <TopCustomers meter={meter} window={window} />}
    </>
  );
}

function Figures({ meter, usage, before }: { meter: Meter; usage: MeterUsage; before: MeterUsage | undefined }) {
  return (
    <dl className="figures">
      <Figure
        title={AGGREGATIONS[meter.aggregation_type].total}
        value={usage.total_usage}
        before={before?.total_usage}
        unit={meter.unit}
      />
      <Figure title="Events" value={String(usage.event_count)} before={count(before?.event_count)} />
      <Figure title="Customers" value={String(usage.unique_customers)} before={count(before?.unique_customers)} />
    </dl>
  );
}

const count = (value: number | undefined): string | undefined => (value === undefined ? undefined : String(value));

interface FigureProps {
  title: string;
  value: string | null;
  before: string | null | undefined;
  unit?: string | null;
}

function Figure({ title, value, before, unit }: FigureProps) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <span className="figure">{formatDecimal(value)}</span>{' '}
        {typeof unit === 'string' && value !== null && <span className="muted">{unit}</span>}
        {before !== undefined && (
          <div className="figure-note">
            {before === null || value === null ? 'No value' : (percentChange(value, before) ?? 'New')} ·{' '}
            {formatDecimal(before)} before
          </div>
        )}
      </dd>
    </div>
  );
}

function fileName(meter: Meter, { from, to, by }: UsageWindow): string {
  const name = meter.name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `usage-${name}-${from}-${to}-by-${by}.csv`;
}

function usageCsv(usage: MeterUsage, before: MeterUsage | undefined): string {
  const rows = usage.grouped_data.map(({ period, period_start: start, usage: used, event_count: events }, index) => {
    const earlier = before?.grouped_data[index];
    return [period, start, used, events, ...(before === undefined ? [] : [earlier?.usage ?? null])];
  });
  const header = ['period', 'period_start', 'usage', 'event_count', ...(before === undefined ? [] : ['usage_before'])];
  return toCsv([header, ...rows]);
}
