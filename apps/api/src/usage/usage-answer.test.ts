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

/** What work in steps returns, and how long each of them took. */
function runSteps<Result>(work: Generator<undefined, Result, undefined>) {
  const stepsMs: number[] = [];
  for (;;) {
    const began = performance.now();
    const step = work.next();
    stepsMs.push(performance.now() - began);
    if (step.done === true) return { result: step.value, stepsMs };
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
      expect([window.stepsMs.length, written.stepsMs.length]).toEqual([
        Math.floor(periods / 250) + 1,
        Math.ceil(periods / 250) + 1,
      ]);
    }
    // A busy machine and the garbage collector make single steps slow, and not the quickest of twenty-five of the same step.
    const stepsOf = (run: (typeof runs)[number]) => [...run.window.stepsMs, ...run.written.stepsMs];
    const quickest = stepsOf(runs[0]!).map((_, step) => Math.min(...runs.map((run) => stepsOf(run)[step]!)));
    expect(Math.max(...quickest)).toBeLessThan(5);
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
