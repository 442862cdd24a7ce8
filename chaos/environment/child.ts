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
  startSecondsMax?: number;
  endSecondsMax?: number;
}

const RESTART_PAUSE_MS = 1_000;

/**
 * After so long no start is tried again. A start may fail some times while Postgres has no connection left; what fails for longer than
 * any fault lasts does not come back.
 */
const START_SECONDS_MAX = 300;

/** Of any process that is told to end. Postgres waits a minute for a standby that does not listen, and an API ends after 10 s. */
const END_SECONDS_MAX = 120;

export class Child {
  readonly name: string;
  readonly #plan: ChildPlan;
  #variant: Variant = {};
  #server: Server | undefined;
  #starting: Promise<void> = Promise.resolve();
  /** Whether it is meant to run; an end while it is not is one that was asked for. */
  #isWanted = false;
  /** Those that had to be killed. */
  readonly #hung = new WeakSet<Server>();

  constructor(plan: ChildPlan) {
    this.name = plan.name;
    this.#plan = plan;
  }

  /** 0 while it does not run. */
  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  /**
   * Starts it, and resolves when it is ready. A start that fails is written down and made again; rejects where none went well in five
   * minutes.
   */
  start(variant: Variant = {}): Promise<void> {
    this.#isWanted = true;
    this.#variant = variant;
    this.#starting = this.#startUntilReady();
    return this.#starting;
  }

  /** Ends it with a signal and waits until it is gone. One that is not gone in two minutes is killed, and its record says so. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    this.send(signal);
    const server = this.#server;
    if (server === undefined) return;
    const { name, logPath, log, endSecondsMax = END_SECONDS_MAX } = this.#plan;
    const timer = setTimeout(() => {
      log(`${name} did not end in ${endSecondsMax} s after ${signal}; its log is ${logPath}`);
      this.#hung.add(server);
      if (server.pid !== 0) process.kill(server.pid, 'SIGKILL');
    }, endSecondsMax * 1_000);
    await server.ended;
    clearTimeout(timer);
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
    const { name, logPath, launch, log, signal, startSecondsMax = START_SECONDS_MAX } = this.#plan;
    const deadline = performance.now() + startSecondsMax * 1_000;
    while (this.#isWanted) {
      signal.throwIfAborted();
      try {
        await launch(this.#variant, (server) => this.#watch(server));
        return;
      } catch (error) {
        signal.throwIfAborted();
        log(error instanceof Error ? error.message : String(error));
        if (performance.now() >= deadline)
          throw new Error(`${name} could not be started in ${startSecondsMax} s; its log is ${logPath}`, {
            cause: error,
          });
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
      ...(this.#hung.has(server) && { isHung: true }),
    };
    if (!this.#isWanted) return;
    this.#plan.log(`${this.name} ended by itself (${how}); its log is ${record.logPath}`);
    // A start that is under way begins again by itself; one that was over is made anew.
    await starting;
    if (this.#server === undefined && this.#starting === starting && this.#isWanted) await this.start(this.#variant);
  }
}
