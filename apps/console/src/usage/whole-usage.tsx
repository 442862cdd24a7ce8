import type { ReactNode } from 'react';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Loading } from '../components/outcomes/loading.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import type { MeterUsage } from './meters.ts';
import { NoUsage } from './no-usage.tsx';
import { UsageBar, type Csv } from './usage-bar.tsx';
import { UsageChart } from './usage-chart.tsx';
import { UsageFigures } from './usage-figures.tsx';
import { useUsage, type Scope } from './usage-reads.ts';
import { useUsageSearch } from './usage-search.ts';
import { windowBefore } from './window.ts';

interface WholeUsageProps {
  scope: Scope;
  /** What stands below the chart comes after it, so that nothing moves. */
  below: ReactNode;
}

/** Usage in one series, beside that of the period before where it is asked for. */
export function WholeUsage({ scope, below }: WholeUsageProps) {
  const [{ compare }] = useUsageSearch();
  const { meter, window } = scope;
  const isComparing = compare === '1';
  const usage = useUsage(scope);
  const before = useUsage({ ...scope, window: windowBefore(window) }, isComparing);
  // The two are put beside each other only where both are of what is asked now.
  const isAnswered = !usage.isPlaceholderData && !before.isPlaceholderData;
  const earlier = isComparing && isAnswered ? before.data?.usage : undefined;
  const isMissing = usage.isPlaceholderData || (isComparing && earlier === undefined);
  return (
    <>
      <Loaded query={usage} rows={14}>
        {({ usage: data, scope: asked }) => (
          <>
            <UsageFigures meter={meter} usage={data} before={earlier} />
            <UsageBar
              scope={scope}
              split={undefined}
              shown={asked.window}
              csv={isMissing ? undefined : () => csvOf(data, earlier)}
            />
            {isComparing && <ProblemBox error={before.error} onRetry={() => void before.refetch()} />}
            {isComparing && (before.isPending || before.isPlaceholderData) ? (
              <Loading rows={10} />
            ) : data.event_count === 0 && (earlier?.event_count ?? 0) === 0 ? (
              <NoUsage scope={asked} before={earlier && windowBefore(asked.window)} />
            ) : (
              <UsageChart meter={meter} usage={data} before={earlier} window={asked.window} />
            )}
          </>
        )}
      </Loaded>
      {usage.data !== undefined && below}
    </>
  );
}

function csvOf(usage: MeterUsage, before: MeterUsage | undefined): Csv {
  const rows = usage.grouped_data.map(({ period, period_start: start, usage: used, event_count: events }, index) => {
    const earlier = before?.grouped_data[index];
    return [period, start, used, events, ...(before === undefined ? [] : [earlier?.usage ?? null])];
  });
  const header = ['period', 'period_start', 'usage', 'event_count', ...(before === undefined ? [] : ['usage_before'])];
  return [header, ...rows];
}
