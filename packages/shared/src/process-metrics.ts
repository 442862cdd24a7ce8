// What every process that Prometheus reads is measured with.

import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { readBuild } from './build.ts';

/** The figures of Node are taken once for each process: what takes them, timers and observers, never ends. */
let figuresOfNode: Registry | undefined;

function takeFiguresOfNode(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}

/** A registry with the build and the figures of Node in it, and what makes counters and gauges there: names end in their unit. */
export function openMetrics() {
  figuresOfNode ??= takeFiguresOfNode();
  const registry = Registry.merge([figuresOfNode]);
  const registers = [registry];
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
