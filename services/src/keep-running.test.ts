import { expect, test } from 'vitest';
import { keepRunning } from './keep-running.ts';
import type { Server } from './server.ts';

class FakeServer implements Server {
  readonly pid = 0;
  isStopped = false;
  die: (how: string) => void = () => {};
  readonly ended = new Promise<string>((resolve) => (this.die = resolve));

  async stop(): Promise<void> {
    this.isStopped = true;
    this.die('SIGTERM');
  }
}

/** Starts fake servers, and lets a test wait for the one it wants. */
class FakeStarter {
  readonly servers: FakeServer[] = [];
  failures: string[] = [];
  /** A start that has begun ends when this is open. */
  gate: Promise<void> | undefined;
  openGate = (): void => {};
  #told: (() => void)[] = [];

  readonly start = async (): Promise<Server> => {
    const failure = this.failures.shift();
    if (failure !== undefined) throw new Error(failure);
    const server = new FakeServer();
    this.servers.push(server);
    for (const tell of this.#told.splice(0)) tell();
    await this.gate;
    return server;
  };

  async nth(count: number): Promise<FakeServer> {
    while (this.servers.length < count) await new Promise<void>((resolve) => this.#told.push(resolve));
    return this.servers[count - 1] as FakeServer;
  }
}

test('a server that dies is started again, and the log says so', async () => {
  const starter = new FakeStarter();
  const lines: string[] = [];
  const kept = await keepRunning('Redis', starter.start, (line) => lines.push(line));
  (await starter.nth(1)).die('SIGKILL');
  await starter.nth(2);
  expect(lines).toEqual(['Redis ended by itself (SIGKILL); starting it again.']);
  await kept.stop();
});

test('a start that fails later is tried again', async () => {
  const starter = new FakeStarter();
  const lines: string[] = [];
  const kept = await keepRunning('Redis', starter.start, (line) => lines.push(line));
  starter.failures = ['the disk is full'];
  (await starter.nth(1)).die('exit code 1');
  await starter.nth(2);
  expect(lines).toContain('the disk is full');
  await kept.stop();
});

test('a server that is stopped stays stopped', async () => {
  const starter = new FakeStarter();
  const kept = await keepRunning('Redis', starter.start, () => {});
  await kept.stop();
  expect(starter.servers.map((server) => server.isStopped)).toEqual([true]);
});

test('a server that was just being started again when it was to stop is stopped too', async () => {
  const starter = new FakeStarter();
  const kept = await keepRunning('Redis', starter.start, () => {});
  starter.gate = new Promise((resolve) => (starter.openGate = resolve));
  (await starter.nth(1)).die('SIGKILL');
  const starting = await starter.nth(2);
  const stopped = kept.stop();
  starter.openGate();
  await stopped;
  expect(starting.isStopped).toBe(true);
});

test('a first start that fails is the caller’s to know', async () => {
  const starter = new FakeStarter();
  starter.failures = ['no such program'];
  await expect(keepRunning('Redis', starter.start, () => {})).rejects.toThrow('no such program');
});
