import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findProcesses, listPids, parseStat, readProc, readStat, startedAt, stopProcess } from './processes.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process that lives until it is ended; it has said something by the time this resolves, so its code has run. */
async function spawnIdle(code: string, ...args: string[]): Promise<ChildProcess & { pid: number }> {
  const script = `${code}; setInterval(() => {}, 1000); console.log('up')`;
  const child = spawn(process.execPath, ['--eval', script, '--', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return child as ChildProcess & { pid: number };
}

test('the time a process began names it while it lives', async () => {
  const child = await spawnIdle('');
  const born = await startedAt(child.pid);
  expect(born).toBeDefined();
  expect(await startedAt(child.pid)).toBe(born);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await startedAt(child.pid)).toBeUndefined();
});

test('a process that ignores the first signal is ended by the next', async () => {
  const deaf = await spawnIdle(`process.on('SIGTERM', () => {})`);
  const ended = once(deaf, 'exit');
  const steps: Parameters<typeof stopProcess>[1] = [
    ['SIGTERM', 0.2],
    ['SIGKILL', 10],
  ];
  expect(await stopProcess(deaf.pid, steps)).toBe('SIGKILL');
  await ended;
  expect(await stopProcess(deaf.pid, steps)).toBeUndefined();
});

test('a process is found by the name of its program and a text on its command line, both', async () => {
  const folder = `/weir-test-${process.pid}/data/`;
  const child = await spawnIdle('', `--folder=${folder}`);
  const program = basename(process.execPath);
  expect(await findProcesses([program], folder)).toEqual([child.pid]);
  expect(await findProcesses(['postgres'], folder)).toEqual([]);
  expect(await findProcesses([program], '/weir-test-elsewhere/')).toEqual([]);
});

test('a folder is not taken for another one whose path ends like its own', async () => {
  const folder = `/weir-test-${process.pid}/data/`;
  await spawnIdle('', `--folder=/elsewhere${folder}`, `/srv${folder}redis.conf`);
  const argument = await spawnIdle('', `${folder}redis.conf`);
  expect(await findProcesses([basename(process.execPath)], folder)).toEqual([argument.pid]);
});

test('a process is read from /proc, also one whose name holds brackets and spaces', () => {
  const fields = Array.from({ length: 40 }, (_, index) => String(index));
  expect(parseStat(7, `7 (a (b) c) S ${fields.join(' ')}`)).toEqual({
    pid: 7,
    parent: 0,
    name: 'a (b) c',
    state: 'S',
    cpuSeconds: (10 + 11) / 100,
    startedAt: '18',
  });
});

test('this process is in /proc, where the system has one', () => {
  const isThere = listPids()?.includes(process.pid) === true;
  expect(readStat(process.pid)?.parent).toBe(isThere ? process.ppid : undefined);
  expect(readProc(process.pid, 'status')?.includes(`Pid:\t${process.pid}\n`) ?? false).toBe(isThere);
});
