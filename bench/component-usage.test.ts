import { expect, test } from 'vitest';
import { ComponentWatch, cpuPerEvent, descendantsOf, memoryOf, componentOfCommand } from './component-usage.ts';

const status = (anon: number, file: number, shared: number) =>
  `Name:\tpostgres\nVmHWM:\t  999 kB\nRssAnon:\t ${anon} kB\nRssFile:\t${file} kB\nRssShmem:\t  ${shared} kB\n`;

test('what processes have for themselves is added up, and what they share is counted once', () => {
  expect(memoryOf([status(10, 5, 200), status(20, 7, 150)])).toBe((30 + 7 + 200) * 1_024);
  expect(memoryOf([])).toBe(0);
});

test('children are found whatever their number, and others are not', () => {
  const all = [
    { pid: 3, parent: 9 },
    { pid: 9, parent: 5 },
    { pid: 5, parent: 1 },
    { pid: 6, parent: 1 },
  ];
  expect(descendantsOf(5, all).map(({ pid }) => pid)).toEqual([3, 9]);
});

test('each program belongs to its component', () => {
  const command = (program: string) => `node\0${program}\0`;
  expect(componentOfCommand(command('bench/dist/load/load-main.js'))).toBe('load');
  expect(componentOfCommand(command('apps/worker/dist/main.js'))).toBe('worker');
  expect(componentOfCommand(command('bench/dist/baselines/job-worker-main.js'))).toBe('worker');
  expect(componentOfCommand(command('bench/dist/baselines/ceiling-main.js'))).toBe('worker');
  expect(componentOfCommand(command('bench/dist/baselines/job-api-main.js'))).toBe('API');
  expect(componentOfCommand(command('apps/api/dist/main.js'))).toBe('API');
  expect(componentOfCommand(command('services/dist/temporary-keeper.js'))).toBeNull();
});

test('the load is not part of the sum', () => {
  const use = (cpuSeconds: number) => ({ cpuSeconds, memoryBytes: 0 });
  const used = new Map([['API', use(2)] as const, ['Redis', use(1)] as const, ['load', use(5)] as const]);
  expect(cpuPerEvent(used, 1_000_000)).toEqual({ all: 3, API: 2, Redis: 1, load: 5 });
  expect(cpuPerEvent(used, 0)).toBeNull();
});

test('a process that this one has not started is not watched', () => {
  const watch = ComponentWatch.open();
  watch?.look();
  expect([...(watch?.used() ?? [])]).toEqual([]);
});
