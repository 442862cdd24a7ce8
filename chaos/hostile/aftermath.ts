// What is looked at when hostile clients have been at work: what the APIs still hold of them, whether every slot is free,
// and what each process uses.

import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { HttpClient } from '../clients/http-client.ts';
import { countHostileConnections, readResourceUsage } from '../environment/resource-usage.ts';
import { withRedis } from '../environment/redis-queue.ts';
import { APPS, type Stack } from '../environment/stack.ts';
import type { ResourceUsageLine, History } from '../history.ts';
import { isBack } from '../judge/missing.ts';

/** REQUESTS_IN_FLIGHT_MAX of the APIs in a run with hostile clients: the default. */
export const SLOTS = 100;

/** A request has 30 s to come in by default, and what is over then has to be gone soon. */
const LET_GO_SECONDS_MAX = 60;

/** Memory is given back to the system little by little. */
const SETTLE_SECONDS_MAX = 60;

const LOOK_AGAIN_MS = 250;

/** Long enough that all requests for the slots are there before the first is answered. */
const SLOTS_HELD_MS = 1_000;
const SLOTS_TIMEOUT_MS = 20_000;

/** While hostile clients still hold their connections: looks until no API holds its end of one. */
export async function watchLettingGo(stack: Stack, history: History): Promise<void> {
  await Promise.all(
    stack.apis.map(async ({ name }) => {
      const beganAt = performance.now();
      const held = await countHostileConnections(stack.port(name));
      if (held === undefined) return;
      let left = held;
      while (left > 0 && performance.now() - beganAt < LET_GO_SECONDS_MAX * 1_000) {
        await delay(LOOK_AGAIN_MS);
        left = (await countHostileConnections(stack.port(name))) ?? 0;
      }
      const afterMs = Math.round(performance.now() - beganAt);
      history.write({ type: 'let go', at: history.now(), process: name, held, left, afterMs });
    }),
  );
}

/**
 * Asks each API at once for as much as it may have in flight beside tracking. Postgres is kept from answering until all of it
 * is there, so that one slot that is missing is one request that is refused. Returns the APIs that did not serve all.
 */
export async function trySlots(stack: Stack, history: History, sessions: readonly string[]): Promise<string[]> {
  const shut: string[] = [];
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    for (const { name } of stack.apis) {
      const api = new HttpClient(`http://127.0.0.1:${stack.port(name)}`);
      await client.query('BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
      const asked = Array.from({ length: SLOTS }, (_, index) => {
        const cookie = `access_token=${sessions[index % sessions.length]}`;
        return api.attempt({ method: 'GET', path: '/api/v1/auth/me', headers: { cookie } }, SLOTS_TIMEOUT_MS);
      });
      await delay(SLOTS_HELD_MS);
      await client.query('ROLLBACK');
      const answers = await Promise.all(asked);
      const served = answers.filter((answer) => 'status' in answer && answer.status === 200).length;
      history.write({ type: 'slots', at: history.now(), process: name, slots: SLOTS, served });
      api.close();
      if (served < SLOTS) shut.push(name);
    }
  } finally {
    await client.end();
  }
  return shut;
}

/** Writes what everything uses, and returns it. */
export async function countBefore(stack: Stack, history: History): Promise<ResourceUsageLine[]> {
  const apps = APPS.map((name) => countApp(stack, history, 'before', name));
  const lines = await Promise.all([...apps, countRedis(stack, history, 'before')]);
  for (const line of lines) history.write(line);
  return lines;
}

/** The same at the end, for which each process has some time. */
export async function countAfter(stack: Stack, history: History, before: readonly ResourceUsageLine[]): Promise<void> {
  const settle = async (name: string): Promise<ResourceUsageLine> => {
    const earlier = before.find((line) => line.process === name);
    const deadline = performance.now() + SETTLE_SECONDS_MAX * 1_000;
    for (;;) {
      const line = await countApp(stack, history, 'after', name);
      if (earlier === undefined || isBack(earlier, line) || performance.now() > deadline) return line;
      await delay(LOOK_AGAIN_MS * 4);
    }
  };
  for (const line of await Promise.all(APPS.map(settle))) history.write(line);
  history.write(await countRedis(stack, history, 'after'));
}

async function countApp(
  stack: Stack,
  history: History,
  when: ResourceUsageLine['when'],
  name: string,
): Promise<ResourceUsageLine> {
  const resourceUsage = await readResourceUsage(stack.folder, name, stack.child(name).pid);
  return { type: 'resource usage', at: history.now(), when, process: name, ...resourceUsage };
}

function countRedis(stack: Stack, history: History, when: ResourceUsageLine['when']): Promise<ResourceUsageLine> {
  return withRedis(stack, async (redis) => {
    const usedBytes = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
    return { type: 'resource usage', at: history.now(), when, process: 'redis', usedBytes };
  });
}
