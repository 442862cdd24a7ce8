// A process of their own for the hostile clients, so that their work is not taken for slowness of the system. Started by
// lane.ts, which tells it when to begin and to stop; the connections that it holds end with it, and it ends with its parent.

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { HttpClient } from '../clients/http-client.ts';
import { Random } from '../random.ts';
import { Attack, emptyCounts } from './attack.ts';
import type { FromHostile, HostilePlan, ToHostile } from './lane.ts';
import { planTurns, type Turn } from './turns.ts';
import { HOSTILE_ADDRESSES, RawConnections } from './raw-connections.ts';

/** How often acts are let go. */
const TICK_MS = 20;

const plan = JSON.parse(process.argv[2] ?? '') as HostilePlan;
const random = new Random(plan.seed);
const rawConnections = new RawConnections(plan.ports, random.fork());
const clients = plan.ports.flatMap((port) =>
  HOSTILE_ADDRESSES.slice(0, 2).map((address) => new HttpClient(`http://127.0.0.1:${port}`, address)),
);
const stopping = new AbortController();
setMaxListeners(0, stopping.signal);
/** Turns that are over, but for answers that they wait for. */
const ending = new Set<Promise<void>>();

// Nobody is left to tell it to stop.
process.once('disconnect', () => process.exit());
// Ctrl-C reaches the whole group; the parent stops this in order.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

const tell = (message: FromHostile) => process.send?.(message);
const lanes: Promise<void>[] = [];
process.on('message', (message: ToHostile) => {
  if (message === 'begin') for (const lane of planTurns(plan.seconds, random.fork())) lanes.push(runLane(lane));
  else void stop();
});
tell({ type: 'ready' });

async function runLane(turns: Iterator<Turn>): Promise<void> {
  while (!stopping.signal.aborted) {
    const { kind, seconds, pauseSeconds } = (turns.next() as IteratorYieldResult<Turn>).value;
    const [turn, last] = await runTurn(kind, seconds);
    const ended = last.then(() => void tell({ type: 'turn', ...turn, forMs: performance.now() - turn.beganAt }));
    ending.add(ended);
    await pause(pauseSeconds);
  }
}

/** Lets the acts of a kind go until its time is up; returns what came of them, and when the last of them is over. */
async function runTurn(kind: Turn['kind'], seconds: number) {
  const counts = emptyCounts();
  const attack = new Attack(random.fork(), plan.accounts, { rawConnections, clients }, counts);
  const underWay = new Set<Promise<void>>();
  const beganAt = performance.now();
  // The first one at once: of a rare kind there would be none in a short turn.
  let due = 1;
  let last = beganAt;
  while (!stopping.signal.aborted && performance.now() - beganAt < seconds * 1_000) {
    for (; due >= 1; due -= 1) {
      if (underWay.size >= kind.atOnceMax) {
        counts.leftOut += 1;
        continue;
      }
      counts.acts += 1;
      const act = Promise.resolve(kind.act(attack)).finally(() => underWay.delete(act));
      underWay.add(act);
    }
    await pause(TICK_MS / 1_000);
    const now = performance.now();
    due += ((now - last) * kind.perSecond) / 1_000;
    last = now;
  }
  return [{ kind: kind.name, beganAt, counts }, Promise.all(underWay)] as const;
}

/** Begins nothing new, waits for the answers that are waited for, and keeps every connection that it holds. */
async function stop(): Promise<void> {
  stopping.abort();
  await Promise.all(lanes);
  await Promise.all(ending);
  for (const client of clients) client.close();
  tell({ type: 'stopped' });
}

async function pause(seconds: number): Promise<void> {
  await delay(seconds * 1_000, undefined, { signal: stopping.signal }).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
}
