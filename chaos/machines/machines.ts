// Three machines, and what can become of one: it dies with its disks, freezes, or is cut off; and it comes back with nothing.

import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Child, Variant } from '../environment/child.ts';
import type { Healing } from '../environment/edge.ts';
import { makeHome } from '@weir/services/home';
import type { Network, Side } from './network.ts';
import type { PostgresOperator } from './postgres-operator.ts';
import type { PostgresPair } from './postgres-pair.ts';
import { machineOf, processesOn, POSTGRESES, REDISES, SENTINELS, type MachineName } from './placement.ts';
import { killTree, signalTree } from './process-tree.ts';
import type { RedisPair } from './redis-pair.ts';

type Until = (isSo: () => Promise<boolean>, what: string, seconds: number) => Promise<void>;

/** A copy of all that Postgres has is made, sent and caught up with, on a machine that does all else meanwhile. */
const WHOLE_SECONDS_MAX = 120;

const LOOK_MS = 100;

export interface MachinesDeps {
  network: Network;
  redis: RedisPair;
  postgres: PostgresPair;
  operator: PostgresOperator;
  folderOf(machine: MachineName): string;
  child(name: string): Child;
  variantOf(name: string): Variant;
}

export class Machines {
  readonly #deps: MachinesDeps;
  readonly postgres: PostgresPair;
  readonly redis: RedisPair;
  readonly operator: PostgresOperator;
  readonly network: Network;
  #isClosed = false;
  #watching: Promise<void> = Promise.resolve();

  constructor(deps: MachinesDeps) {
    this.#deps = deps;
    ({ postgres: this.postgres, redis: this.redis, operator: this.operator, network: this.network } = deps);
  }

  /** From now on the address of Postgres leads to whoever is the primary, and it is known who that is of Redis. */
  begin(): void {
    this.operator.begin();
    this.#watching = this.#watchRedis();
  }

  /** Every process of a machine dies at once, what is on its way is lost, and so are its disks. */
  async destroy(machine: MachineName): Promise<void> {
    this.network.cut(machine, ['in', 'out']);
    await Promise.all(this.#childrenOn(machine).map(killTree));
    this.network.heal(machine, 'reset');
    // What a main process left behind writes for a moment.
    await rm(this.#deps.folderOf(machine), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** A machine of the same name comes up, with empty disks: what was there is left to others, and it follows them. */
  async bringBack(machine: MachineName, until: Until): Promise<void> {
    await until(
      async () => machineOf(await this.redis.look()) !== machine && machineOf(this.postgres.primary.name) !== machine,
      `others have taken the place of ${machine}`,
      60,
    );
    await makeHome(this.#deps.folderOf(machine));
    const here = processesOn(machine);
    await Promise.all([
      ...REDISES.filter((name) => here.includes(name)).map((name) => this.redis.make(name, this.redis.primary)),
      ...SENTINELS.filter((name) => here.includes(name)).map((name) => this.redis.makeSentinel(name)),
      ...here
        .filter((name) => /^(api|worker)/.test(name))
        .map((name) => this.#deps.child(name).start(this.#deps.variantOf(name))),
    ]);
  }

  /** Nothing there goes on, and nobody is told. */
  freeze(machine: MachineName): void {
    for (const { pid } of this.#childrenOn(machine)) if (pid !== 0) signalTree(pid, 'SIGSTOP');
  }

  thaw(machine: MachineName): void {
    for (const { pid } of this.#childrenOn(machine)) if (pid !== 0) signalTree(pid, 'SIGCONT');
  }

  cut(machine: MachineName, sides: readonly Side[]): void {
    this.network.cut(machine, sides);
  }

  heal(machine: MachineName, healing: Healing): void {
    this.network.heal(machine, healing);
  }

  /** No machine fails from now on, and nobody is promoted because a busy computer has kept another one from answering. */
  async rest(): Promise<void> {
    await Promise.all([this.operator.close(), this.redis.rest()]);
  }

  /** All is as in the beginning: two copies of everything, and the primaries apart. */
  async untilWhole(until: Until): Promise<void> {
    await until(() => this.#hasStandby(), 'Postgres waits for its standby', WHOLE_SECONDS_MAX);
    await until(() => this.redis.isWhole(), 'Redis has its replica and its Sentinels', WHOLE_SECONDS_MAX);
    const [preferred] = POSTGRESES;
    if (this.postgres.primary.name === preferred) return;
    await this.#switchPostgres();
    await until(() => this.#hasStandby(), 'Postgres waits for its standby', WHOLE_SECONDS_MAX);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.operator.close();
    await this.#watching;
    this.redis.close();
    await this.network.close();
  }

  /** As operators bring a primary back to where it belongs: it ends in order, so that the other one has all. */
  async #switchPostgres(): Promise<void> {
    await this.operator.whilePaused(async () => {
      await this.postgres.primary.child.end('SIGINT');
      await this.operator.promote();
      await this.postgres.makeStandby();
    });
  }

  async #hasStandby(): Promise<boolean> {
    if (this.operator.isSync) return true;
    if (!(await this.postgres.hasStandby())) await this.postgres.makeStandby();
    return false;
  }

  async #watchRedis(): Promise<void> {
    while (!this.#isClosed) {
      await this.redis.look();
      await delay(LOOK_MS);
    }
  }

  #childrenOn(machine: MachineName): Child[] {
    return processesOn(machine).map((name) => this.#deps.child(name));
  }
}
