import type { Meter } from '@weir/db/meters';
import type { AggregationType } from '@weir/shared/meter';
import { type Grouping, nameOf, planningWindow, type Window } from '@weir/shared/window';
import { expect, test } from 'vitest';
import { writingUsage } from './usage-answer.ts';

const meter = { id: 'm', aggregation_type: 'AVG' as AggregationType, unit: null } as Meter;
const read = {
  total: { usage: '1.5', event_count: 4 },
  uniqueCustomers: 2,
  ofBucket: (index: number) => ({ usage: `${index}.25`, event_count: index }),
};

/** What work in steps returns, how many there were, and how long the longest took. */
function runSteps<Result>(work: Generator<undefined, Result, undefined>) {
  let [steps, longestMs] = [0, 0];
  for (;;) {
    const began = performance.now();
    const step = work.next();
    longestMs = Math.max(longestMs, performance.now() - began);
    steps += 1;
    if (step.done === true) return { result: step.value, steps, longestMs };
  }
}

function planned(start_date: string, end_date: string, group_by: Grouping) {
  const run = runSteps(planningWindow({ start_date, end_date, timezone: 'Europe/Berlin', group_by }, 0));
  if ('problem' in run.result) throw new Error(run.result.problem.message);
  return { ...run, result: run.result };
}

const LARGEST = [
  ['hour', '2025-01-01T00:00Z', '2026-02-21T15:00Z', 9_999],
  ['day', '1999-01-01', '2026-05-18', 10_000],
] as const;

test.each(LARGEST)(
  'the largest window by the %s is planned and written in steps that do not stop others',
  (grouping, start, end, periods) => {
    const runs = Array.from({ length: 25 }, () => {
      const window = planned(start, end, grouping);
      return { window, written: runSteps(writingUsage(meter, { window: window.result, grouping }, read)) };
    });
    for (const { window, written } of runs) {
      expect(window.result.periods).toHaveLength(periods);
      expect([window.steps, written.steps]).toEqual([Math.floor(periods / 250) + 1, Math.ceil(periods / 250) + 1]);
    }
    // A busy machine makes single runs slow, and not the best of twenty-five.
    const best = Math.min(...runs.map(({ window, written }) => Math.max(window.longestMs, written.longestMs)));
    expect(best).toBeLessThan(10);
  },
);

test('what is written is the whole answer as JSON, however many periods it has', () => {
  for (const [grouping, start, end] of [...LARGEST, ['month', '2026-01-01', '2026-01-31']] as const) {
    const window: Window = planned(start, end, grouping).result;
    const { total_usage, period_start, grouped_data, ...rest } = JSON.parse(
      runSteps(writingUsage(meter, { window, grouping }, read)).result,
    );
    expect({ total_usage, period_start }).toEqual({
      total_usage: '1.5',
      period_start: new Date(window.start / 1000).toISOString(),
    });
    expect(rest).toMatchObject({ meter_id: 'm', event_count: 4, unique_customers: 2, unit: null });
    expect(grouped_data).toEqual(
      window.periods.map((period, index) => ({
        period: nameOf(period, grouping),
        period_start: new Date(period.at / 1000).toISOString(),
        usage: `${index}.25`,
        event_count: index,
      })),
    );
  }
});
