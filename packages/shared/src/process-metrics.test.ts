import { PerformanceObserver } from 'node:perf_hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openMetrics } from './process-metrics.ts';

test('each registry has the figures of Node, and they are taken once for the process', async () => {
  openMetrics();
  const observed = vi.spyOn(PerformanceObserver.prototype, 'observe');
  onTestFinished(() => observed.mockRestore());
  const [one, other] = [openMetrics(), openMetrics()];
  expect(observed).not.toHaveBeenCalled();
  one.counter('weir_things_total', 'Things of one.');
  for (const { registry } of [one, other]) {
    expect(await registry.metrics()).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
    expect(await registry.metrics()).toMatch(/^process_cpu_seconds_total \d/m);
  }
  expect(await other.registry.metrics()).not.toContain('weir_things_total');
});
