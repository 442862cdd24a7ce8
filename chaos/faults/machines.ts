// Faults of machines, of runs with `--machines`: one at a time, each on a system that is whole, as it is promised that any one may die.

import type { Machines } from '../machines/machines.ts';
import type { Side } from '../machines/network.ts';
import { machineOf, MACHINES, POSTGRESES, processesOn, REDISES, type MachineName } from '../machines/placement.ts';
import { APIS, type Stack } from '../environment/stack.ts';
import { REDIS_AWAY_SECONDS_MAX } from '../parts-of-run.ts';
import type { FaultContext, FaultKind, Outcome } from './fault.ts';
import { redisFull } from './limits.ts';

/** A machine with all that is on it. Whoever calls Redis or Postgres may find another primary, or one that waits for its other half. */
const targetOf = (machine: MachineName) => [machine, ...processesOn(machine), 'redis', 'postgres'].join(',');
const MACHINE_TARGETS = MACHINES.map(targetOf);
const REDIS_TARGETS = [['redis', ...REDISES].join(',')];
const POSTGRES_TARGETS = [['postgres', ...POSTGRESES].join(',')];

interface MachineContext extends FaultContext {
  machines: Machines;
}

interface MachineKind {
  name: string;
  targets: readonly string[];
  seconds: readonly [number, number];
  isQuick?: boolean;
  shareOfRun?: number;
  make(context: MachineContext, target: string): Promise<Outcome | void>;
}

function kindOf({ make, isQuick = true, ...kind }: MachineKind): FaultKind {
  return {
    ...kind,
    isQuick,
    lane: 'machines',
    isExclusive: true,
    async inflict(context, target) {
      const machines = machinesOf(context.stack);
      const outcome = await make({ ...context, machines }, target);
      await machines.untilWhole(context.until);
      // What is taken directly, or was not on the replica yet, leaves no claim in Redis.
      return { losesClaims: true, keepsCounts: true, ...outcome };
    },
  };
}

function machinesOf({ machines }: Stack): Machines {
  if (machines === undefined) throw new Error('this fault is made on machines');
  return machines;
}

function machineIn(target: string): MachineName {
  const machine = MACHINES.find((each) => target.startsWith(`${each},`));
  if (machine === undefined) throw new RangeError(`there is no machine in ${target}`);
  return machine;
}

const lost = kindOf({
  name: 'machine lost',
  targets: MACHINE_TARGETS,
  seconds: [3, 8],
  async make({ machines, seconds, hold, until }, target) {
    const machine = machineIn(target);
    await machines.destroy(machine);
    await hold(seconds);
    await machines.bringBack(machine, until);
  },
});

/**
 * The machine with the primary of Redis, while its replica gets nothing for a moment, and clients send what its API has just taken to the
 * other one as well. What was answered without the replica is gone, also where it was answered by the other API.
 */
const redisLost = kindOf({
  name: 'primary of Redis lost',
  targets: REDIS_TARGETS,
  seconds: [3, 8],
  async make({ machines, seconds, random, hold, until, race }) {
    const { primary, replica } = machines.redis;
    const machine = machineOf(primary) as MachineName;
    machines.network.hold(replica, primary);
    race(APIS.findIndex((api) => machineOf(api) === machine));
    // Less than an API waits for the replica.
    await hold(random.int(100, 250) / 1_000);
    await machines.destroy(machine);
    machines.network.endHold(replica, primary);
    await hold(seconds);
    await machines.bringBack(machine, until);
    return { target: targetOf(machine) };
  },
});

/** Everything waits, and nobody is told. */
const frozen = kindOf({
  name: 'machine frozen',
  targets: MACHINE_TARGETS,
  seconds: [5, 9],
  async make({ machines, seconds, hold }, target) {
    machines.freeze(machineIn(target));
    await hold(seconds);
    machines.thaw(machineIn(target));
  },
});

const cutOff = kindOf({
  name: 'machine cut off',
  targets: MACHINE_TARGETS,
  seconds: [4, 8],
  make: (context, target) => cut(context, target, ['in', 'out']),
});

const cutOneWay = kindOf({
  name: 'machine cut off one way',
  targets: MACHINE_TARGETS,
  seconds: [4, 8],
  make: (context, target) => cut(context, target, [context.random.pick(['in', 'out'] as const)]),
});

async function cut(
  { machines, seconds, random, hold }: MachineContext,
  target: string,
  sides: Side[],
): Promise<Outcome> {
  const healing = random.pick(['deliver', 'reset'] as const);
  machines.cut(machineIn(target), sides);
  await hold(seconds);
  machines.heal(machineIn(target), healing);
  const way = sides.length === 2 ? '' : `nothing ${sides[0] === 'in' ? 'arrived there' : 'left it'}; `;
  return { detail: `${way}${healing === 'deliver' ? 'what was held was delivered' : 'the connections were reset'}` };
}

const replicaKilled = kindOf({
  name: 'replica killed',
  targets: REDIS_TARGETS,
  seconds: [1, 4],
  async make({ machines, seconds, hold }) {
    const child = machines.redis.child(machines.redis.replica);
    await child.end('SIGKILL');
    await hold(seconds);
    await child.start();
    return { detail: child.name };
  },
});

/** The replica has nothing any more, and gets all of it while events come in. */
const resync = kindOf({
  name: 'resync',
  targets: REDIS_TARGETS,
  seconds: [0, 1],
  async make({ machines, seconds, hold }) {
    const { replica, primary } = machines.redis;
    await machines.redis.destroy(replica);
    await hold(seconds);
    await machines.redis.make(replica, primary);
    return { detail: replica };
  },
});

const postgresLost = kindOf({
  name: 'primary lost',
  targets: POSTGRES_TARGETS,
  seconds: [1, 4],
  async make({ machines, seconds, hold, until }) {
    const { name } = machines.postgres.primary;
    await machines.postgres.destroy(name);
    await hold(seconds);
    await until(async () => machines.postgres.primary.name !== name, 'the standby is the primary', 30);
    return { detail: name };
  },
});

/**
 * The primary starts anew before anybody has noticed, while its standby gets nothing; and then it is lost. What it had written without its
 * standby it found again, and it would be gone if anybody had been told so.
 */
const postgresLostUnseen = kindOf({
  name: 'primary started anew, then lost',
  targets: POSTGRES_TARGETS,
  seconds: [2, 3],
  async make({ machines, seconds, hold }) {
    const { primary, standby } = machines.postgres;
    await machines.operator.whilePaused(async () => {
      machines.network.hold(standby.name, primary.name);
      try {
        await hold(1);
        await primary.child.end('SIGQUIT');
        await primary.child.start();
        await hold(seconds);
        await machines.postgres.destroy(primary.name);
      } finally {
        machines.network.endHold(standby.name, primary.name);
      }
      await machines.operator.promote();
    });
    return { detail: primary.name };
  },
});

/** Up to a minute, which is a tenth of a run of ten: whoever waits for it waits for nobody then. */
const standbyAway = kindOf({
  name: 'standby away',
  targets: POSTGRES_TARGETS,
  seconds: [3, 60],
  shareOfRun: 0.1,
  async make({ machines, seconds, hold }) {
    const { child } = machines.postgres.standby;
    await child.end('SIGINT');
    await hold(seconds);
    await child.start();
    return { detail: child.name };
  },
});

/** Both of them: a fifth of the run, so that one of ten minutes has room for the other kinds, and five minutes of one of 25. */
const redisAway = kindOf({
  name: 'Redis away',
  targets: REDIS_TARGETS,
  seconds: [3, REDIS_AWAY_SECONDS_MAX],
  shareOfRun: 0.2,
  async make({ machines, seconds, hold }) {
    const children = REDISES.map((name) => machines.redis.child(name));
    await Promise.all(children.map((child) => child.end('SIGKILL')));
    await hold(seconds);
    await Promise.all(children.map((child) => child.start()));
  },
});

const full = kindOf({
  name: 'memory full',
  targets: REDIS_TARGETS,
  seconds: [3, 8],
  make: (context, target) => redisFull.inflict(context, target),
});

export const machineFaults: FaultKind[] = [
  lost,
  redisLost,
  frozen,
  cutOff,
  cutOneWay,
  replicaKilled,
  resync,
  postgresLost,
  postgresLostUnseen,
  standbyAway,
  redisAway,
  full,
];
