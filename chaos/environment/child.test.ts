import type { Server } from '@weir/services/server';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { Child, type ChildPlan } from './child.ts';
import type { ProcessRecord } from './system.ts';

const planOf = (records: ProcessRecord[], lines: string[], more: Partial<ChildPlan>): ChildPlan => ({
  name: 'api-0',
  logPath: 'api-0.log',
  launch: () => Promise.reject(new Error('it does not start')),
  records,
  log: (line) => lines.push(line),
  signal: new AbortController().signal,
  ...more,
});

test('a process that cannot start is tried for a while, and then whoever starts it is told', async () => {
  const lines: string[] = [];
  const child = new Child(planOf([], lines, { startSecondsMax: 0.1 }));
  await expect(child.start()).rejects.toThrow('api-0 could not be started in 0.1 s; its log is api-0.log');
  expect(lines).toEqual(['it does not start', 'it does not start']);
});

test('a process that does not end when it is told to is killed, and its record says so', async () => {
  const records: ProcessRecord[] = [];
  const launch: ChildPlan['launch'] = async (_variant, onLaunch) => {
    const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up');";
    const deafOne = spawn(process.execPath, ['-e', deaf], { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(deafOne, 'exit').then(([code, signal]) => String(signal ?? `exit code ${code}`));
    const server: Server = { pid: deafOne.pid ?? 0, ended, stop: () => Promise.resolve() };
    onLaunch(server);
    await once(deafOne.stdout, 'data');
    return server;
  };
  const lines: string[] = [];
  const child = new Child(planOf(records, lines, { launch, endSecondsMax: 0.1 }));
  await child.start();
  await child.end('SIGTERM');
  expect(lines).toEqual(['api-0 did not end in 0.1 s after SIGTERM; its log is api-0.log']);
  expect(records).toMatchObject([{ name: 'api-0', ended: { signal: 'SIGKILL', expected: true, isHung: true } }]);
});
