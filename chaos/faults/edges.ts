// Faults of a connection. Each kind can befall every edge.

import type { FaultKind, Lane, Outcome, FaultContext } from './fault.ts';

const APIS = ['api-0', 'api-1'];
const APPS = [...APIS, 'worker-0', 'worker-1'];

const TARGETS: Partial<Record<Lane, string[]>> = {
  clients: APIS.map((api) => `client>${api}`),
  'redis edges': APPS.map((app) => `${app}>redis`),
  'postgres edges': APPS.map((app) => `${app}>postgres`),
};

type EdgeKind = Pick<FaultKind, 'name' | 'seconds' | 'inflict'>;

const latency: EdgeKind = {
  name: 'latency',
  seconds: [2, 6],
  async inflict({ stack, seconds, random, hold }, target) {
    const edge = stack.edge(target);
    const ms = random.int(20, 400);
    const jitterMs = random.int(0, ms);
    edge.slowDown(ms, jitterMs);
    await hold(seconds);
    await edge.heal();
    return { detail: `${ms} ms each way, and up to ${jitterMs} ms more` };
  },
};

const blackHole: EdgeKind = {
  name: 'black hole',
  // Also longer than a job's lock, which is 5 s, and than a client waits.
  seconds: [2, 8],
  async inflict({ stack, seconds, random, hold }, target) {
    const edge = stack.edge(target);
    const healing = random.pick(['deliver', 'reset'] as const);
    edge.silence(['forth', 'back']);
    await hold(seconds);
    await edge.heal(healing);
    return { detail: healing === 'deliver' ? 'what was held was delivered' : 'the connections were reset' };
  },
};

const halfOpen: EdgeKind = {
  name: 'half-open',
  seconds: [2, 8],
  inflict: (context, target) => context.random.pick([silenceOneWay, forgetConnections])(context, target),
};

/** One direction goes dead: requests arrive whose answers do not, or the other way round. */
async function silenceOneWay({ stack, seconds, random, hold }: FaultContext, target: string): Promise<Outcome> {
  const edge = stack.edge(target);
  const direction = random.pick(['forth', 'back'] as const);
  edge.silence([direction]);
  await hold(seconds);
  await edge.heal(random.pick(['deliver', 'reset'] as const));
  return { detail: direction === 'forth' ? 'requests did not arrive' : 'answers did not arrive' };
}

/** Whoever called has to notice by itself: these connections do not come back, and nobody is told. */
async function forgetConnections({ stack, seconds, random, hold }: FaultContext, target: string): Promise<Outcome> {
  const isUpstreamTold = random.chance(0.5);
  const edge = stack.edge(target);
  edge.forget(isUpstreamTold);
  await hold(seconds);
  // The clients are not under test.
  if (target.startsWith('client>')) edge.reset();
  return { detail: isUpstreamTold ? 'closed at the far end only' : 'dead for ever, and neither end was told' };
}

const reset: EdgeKind = {
  name: 'reset',
  seconds: [1, 3],
  async inflict({ stack, seconds, random, hold }, target) {
    const times = random.int(1, 4);
    for (let time = 0; time < times; time += 1) {
      stack.edge(target).reset();
      await hold(seconds / times);
    }
    return { detail: `${times} times` };
  },
};

const refuse: EdgeKind = {
  name: 'refuse',
  seconds: [1, 5],
  async inflict({ stack, seconds, hold }, target) {
    const edge = stack.edge(target);
    await edge.refuse();
    await hold(seconds);
    await edge.heal();
    return {};
  },
};

const cutAnswers: EdgeKind = {
  name: 'cut answer',
  seconds: [2, 3],
  async inflict({ stack, seconds, random, hold }, target) {
    const edge = stack.edge(target);
    const count = random.int(2, 8);
    edge.cutAnswers(count, () => random.int(0, 20));
    await hold(seconds);
    const cut = count - edge.cutsLeft;
    await edge.heal();
    return { detail: `${cut} answers were lost after their requests had arrived` };
  },
};

/** Every kind, for each lane of edges: those to the clients, to Redis and to Postgres are made at the same time. */
export const edgeFaults: FaultKind[] = Object.entries(TARGETS).flatMap(([lane, targets]) =>
  [latency, blackHole, halfOpen, reset, refuse, cutAnswers].map((kind) => ({
    ...kind,
    lane: lane as Lane,
    targets,
    isQuick: true,
  })),
);
