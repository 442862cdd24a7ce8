// A process of the system under test: it is killed, stopped and paused on purpose, and whatever else ends it is written
// down. One that ends by itself is started again after a moment, as whoever runs Weir would have it.

import type { Server } from '@weir/services/server';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessRecord } from './system.ts';

/** Options of one start. */
export interface Variant {
  /** Modules that are loaded before the program. */
  imports?: string[];
  env?: Record<string, string>;
}

export interface ChildPlan {
  name: string;
  logPath: string;
  /** Launches it and resolves when it is ready; `onLaunch` is called at once. */
  launch(variant: Variant, onLaunch: (server: Server) => void): Promise<Server>;
  records: ProcessRecord[];
  log: (line: string) => void;
  signal: AbortSignal;
}

const RESTART_PAUSE_MS = 1_000;

export class Child {
  readonly name: string;
  readonly #plan: ChildPlan;
  #variant: Variant = {};
  #server: Server | undefined;
  #starting: Promise<void> = Promise.resolve();
  /** Whether it is meant to run; an end while it is not is one that was asked for. */
  #isWanted = false;

  constructor(plan: ChildPlan) {
    this.name = plan.name;
    this.#plan = plan;
  }

  /** 0 while it does not run. */
  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  /** Starts it, and resolves when it is ready. A start that fails is written down and made again. */
  start(variant: Variant = {}): Promise<void> {
    this.#isWanted = true;
    this.#variant = variant;
    this.#starting = this.#startUntilReady();
    return this.#starting;
  }

  /** Ends it with a signal and waits until it is gone. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    this.send(signal);
    await this.#server?.ended;
  }

  send(signal: NodeJS.Signals): void {
    const pid = this.#server?.pid ?? 0;
    if (pid === 0) throw new Error(`${this.name} does not run, so it cannot be sent ${signal}`);
    process.kill(pid, signal);
  }

  /** Ends it in order, by force when it does not, and does not start it again. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    if (this.#server === undefined) return;
    // One that is paused cannot hear that it has to end.
    if (this.#server.pid !== 0) process.kill(this.#server.pid, 'SIGCONT');
    await this.#server.stop();
    await this.#starting.catch(() => {});
  }

  async #startUntilReady(): Promise<void> {
    const { launch, log, signal } = this.#plan;
    while (this.#isWanted) {
      signal.throwIfAborted();
      try {
        await launch(this.#variant, (server) => this.#watch(server));
        return;
      } catch (error) {
        signal.throwIfAborted();
        log(error instanceof Error ? error.message : String(error));
      }
      await delay(RESTART_PAUSE_MS, undefined, { signal });
    }
  }

  #watch(server: Server): void {
    this.#server = server;
    const { name, logPath, records } = this.#plan;
    const record: ProcessRecord = { name, logPath };
    records.push(record);
    // It rejects when the whole run was ended, and then nothing is to be started.
    this.#follow(server, record).catch(() => {});
  }

  async #follow(server: Server, record: ProcessRecord): Promise<void> {
    const starting = this.#starting;
    const how = await server.ended;
    if (this.#server === server) this.#server = undefined;
    const code = /^exit code (\d+)$/.exec(how)?.[1];
    record.ended = {
      code: code === undefined ? null : Number(code),
      signal: code === undefined ? how : null,
      expected: !this.#isWanted,
    };
    if (!this.#isWanted) return;
    this.#plan.log(`${this.name} ended by itself (${how}); its log is ${record.logPath}`);
    // A start that is under way begins again by itself; one that was over is made anew.
    await starting;
    if (this.#server === undefined && this.#starting === starting && this.#isWanted) await this.start(this.#variant);
  }
}
