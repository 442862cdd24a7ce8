import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerPlan, startServer } from './server.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-server-'));
});
afterEach(() => rm(folder, { recursive: true }));

function planFor(code: string): ServerPlan {
  return {
    name: 'The server',
    program: process.execPath,
    args: ['--eval', code],
    env: process.env,
    folder,
    logPath: join(folder, 'log', 'server.log'),
    startSeconds: 10,
    stopSteps: [
      ['SIGTERM', 5],
      ['SIGKILL', 5],
    ],
    isReady: async () => false,
  };
}

test('a server that ends while it starts is told with its lines for people, and none of before', async () => {
  const before = planFor(`console.log('an old line')`);
  await expect(startServer(before, () => {})).rejects.toThrow('an old line');
  const plan = planFor(`console.log('{"level":30}'); console.error('the port is taken'); process.exit(3)`);
  await expect(startServer(plan, () => {})).rejects.toThrow(
    new Error(`The server ended while it started (exit code 3). The end of ${plan.logPath}:\n  the port is taken`),
  );
});

test('a program that does not exist is told by its name', async () => {
  const plan = { ...planFor(''), program: join(folder, 'missing') };
  await expect(startServer(plan, () => {})).rejects.toThrow(/missing ENOENT/);
});

test('a server that is not ready in time is ended', async () => {
  const plan = { ...planFor(`setInterval(() => {}, 1000)`), startSeconds: 0 };
  await expect(startServer(plan, () => {})).rejects.toThrow('not ready within 0 s');
});

test('a server that ignores the order to stop is ended by force, and the log says so', async () => {
  const sign = join(folder, 'up');
  const code = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); fs.writeFileSync(${JSON.stringify(sign)}, 'up')`;
  const isUp = async (): Promise<boolean> => (await readFile(sign, 'utf8').catch(() => '')) === 'up';
  await writeFile(sign, '');
  const lines: string[] = [];
  const server = await startServer(
    {
      ...planFor(code),
      isReady: isUp,
      stopSteps: [
        ['SIGTERM', 0.2],
        ['SIGKILL', 5],
      ],
    },
    (line) => lines.push(line),
  );
  await server.stop();
  expect(await server.ended).toBe('SIGKILL');
  expect(lines.join()).toContain('ended with SIGKILL');
});

test('a server with a channel sends us messages', async () => {
  const messages: unknown[] = [];
  const plan = planFor(`process.send({ url: 'here' }); setInterval(() => {}, 1000)`);
  const server = await startServer(
    { ...plan, onMessage: (message) => messages.push(message), isReady: async () => messages.length > 0 },
    () => {},
  );
  expect(messages).toEqual([{ url: 'here' }]);
  await server.stop();
});
