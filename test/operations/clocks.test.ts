// Months, erasures and drafts hang on the clocks of the machines: each process says by how much its own differs.

import { expect, test } from 'vitest';
import { spawnCaptured } from '../support/captured.ts';
import { until } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });

async function offsetAt(url: string): Promise<number> {
  return Number(/^weir_clock_offset_seconds (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
}

test('a process with the clock of Postgres says that they do not differ', async () => {
  await until(async () => !Number.isNaN(await offsetAt(weir.baseUrl)), 'it has looked');
  expect(Math.abs(await offsetAt(weir.baseUrl))).toBeLessThan(1);
});

test.each(['api', 'worker'])(
  'the %s says that its clock is ahead or behind, by how much, and once in the log',
  async (app) => {
    for (const seconds of [60, -60]) {
      const module = new URL('../../chaos/dist/environment/shifted-clock-main.js', import.meta.url);
      module.searchParams.set('offset', String(seconds * 1_000));
      const env = { ...weir.env, LOG_LEVEL: 'warn', NODE_OPTIONS: `--import=${module.href}` };
      const child = await spawnCaptured(`apps/${app}/dist/main.js`, env);
      // What a question takes on its way is not counted as a difference, so it may be somewhat less.
      const isSaid = async () => (await offsetAt(child.url)) / seconds > 0.95;
      await until(isSaid, 'it says so');
      expect((await offsetAt(child.url)) / seconds).toBeLessThan(1.01);
      await child.stop();
      expect(child.output().match(/the clocks of this machine and of Postgres differ/g)).toHaveLength(1);
    }
  },
);
