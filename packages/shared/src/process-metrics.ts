// What every process that Prometheus reads is measured with.

import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { readBuild } from './build.ts';

/** A registry with the build and the figures of Node in it, and what makes counters and gauges there: names end in their unit. */
export function openMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });
  gauge(
    'weir_build_info',
    'Always 1: which version of Weir runs here, on which Node, and from which commit it was built.',
    'version',
    'node',
    'revision',
  ).set({ ...readBuild() }, 1);
  return { registry, counter, gauge };
}
