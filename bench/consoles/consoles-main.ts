// A process of its own: consoles that people have left open. Each asks for what its page asks for, as often as the page does, and takes
// the answer packed, as a browser does. Any other answer than 200 ends it, and with it the round. What pages ask for, how often, and by
// how much less often while answers come late (apps/console/src/api/pace.ts) has to be kept equal by hand.

import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

interface OpenPage {
  everyMs: number;
  path: string;
}

function openPages(meterId: string): OpenPage[] {
  const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  const window = new URLSearchParams({ start_date: day(29), end_date: day(0), timezone: 'UTC', group_by: 'day' });
  const home = { everyMs: 10_000, path: '/overview' };
  const usage = { everyMs: 1_500, path: `/meters/${meterId}/usage?${window.toString()}` };
  const events = { everyMs: 1_500, path: '/events?limit=50' };
  const health = { everyMs: 5_000, path: '/system' };
  return [home, home, home, home, usage, usage, usage, events, events, health];
}

const { API_URL = '', SESSION = '', METER_ID = '' } = process.env;

const agent = new Agent({ keepAlive: true });

/** Returns how long the answer took to begin, in milliseconds. */
async function ask(path: string): Promise<number> {
  const began = performance.now();
  const headers = { cookie: SESSION, 'accept-encoding': 'gzip, deflate, br' };
  const sent = request(`${API_URL}/api/v1${path}`, { agent, headers }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const ms = performance.now() - began;
  answer.resume();
  await once(answer, 'end');
  if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
  return ms;
}

async function keepOpen({ everyMs, path }: OpenPage, delayMs: number): Promise<never> {
  await delay(delayMs);
  const recent: number[] = [];
  for (;;) {
    recent.push(await ask(path));
    if (recent.length > 5) recent.shift();
    await delay(Math.max(everyMs, Math.min(30_000, 60 * Math.min(...recent))));
  }
}

const pages = openPages(METER_ID);
await Promise.all(pages.map(({ path }) => ask(path)));
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => process.exit());
process.send?.({ url: '' });
// They were not all opened at the same instant.
await Promise.all(pages.map((page, n) => keepOpen(page, (page.everyMs * n) / pages.length)));
