// Usage told apart: by customers, or by the values of a key of the metadata. What adds up is stacked, and the others are what is left
// of the whole; what does not add up, such as an average, has a line for each.

import { useMemo, type ReactNode } from 'react';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { AGGREGATIONS } from './aggregations.ts';
import { NoUsage } from './no-usage.tsx';
import { drawnOf, readNames, wordOf, type Drawn, type PartName, type SplitKey } from './split.ts';
import { SplitChart } from './split-chart.tsx';
import { SplitTable } from './split-table.tsx';
import { UsageBar, type Csv } from './usage-bar.tsx';
import { UsageFigures } from './usage-figures.tsx';
import { useSplitUsage, type Scope, type SplitUsage as Answer } from './usage-reads.ts';
import { useUsageSearch } from './usage-search.ts';

interface SplitUsageProps {
  scope: Scope;
  split: SplitKey;
  below: ReactNode;
}

export function SplitUsage({ scope, split, below }: SplitUsageProps) {
  const [{ shown }] = useUsageSearch();
  const chosen = useMemo(() => readNames(shown), [shown]);
  const answer = useSplitUsage(scope, split, chosen);
  return (
    <>
      <Loaded query={answer} rows={14}>
        {(data) => <Split scope={scope} answer={data} isOfBefore={answer.isPlaceholderData} chosen={chosen} />}
      </Loaded>
      {answer.data !== undefined && below}
    </>
  );
}

interface SplitProps {
  scope: Scope;
  answer: Answer;
  /** Whether the answer is that of another question. */
  isOfBefore: boolean;
  chosen: readonly PartName[] | undefined;
}

function Split({ scope, answer, isOfBefore, chosen }: SplitProps) {
  const { meter } = scope;
  const { usage, split, scope: asked } = answer;
  const { addsUp = false } = AGGREGATIONS[meter.aggregation_type];
  const drawn = useMemo(() => drawnOf(answer, chosen, addsUp), [answer, chosen, addsUp]);
  return (
    <>
      <UsageFigures meter={meter} usage={usage} />
      <UsageBar
        scope={scope}
        split={split}
        shown={asked.window}
        csv={isOfBefore ? undefined : () => csvOf(answer, drawn)}
      />
      {usage.event_count === 0 ? (
        <NoUsage scope={asked} />
      ) : (
        <div className="usage-split">
          <SplitChart meter={meter} answer={answer} drawn={drawn} />
          <SplitTable meter={meter} answer={answer} drawn={drawn} chosen={chosen} />
        </div>
      )}
    </>
  );
}

function csvOf({ usage }: Answer, { parts, others }: Drawn): Csv {
  const header = ['period', 'period_start', ...parts.map(({ name }) => wordOf(name))];
  const rows = usage.grouped_data.map(({ period, period_start: start, usage: whole }, index) => [
    period,
    start,
    ...parts.map(({ periods }) => periods?.[index] ?? null),
    ...(others === undefined ? [] : [others.periods[index] ?? null]),
    whole,
  ]);
  return [[...header, ...(others === undefined ? [] : ['others']), 'total'], ...rows];
}
