// The processes of a run, by their names: how each is started, and what is written down of each start.

import type { Server } from '@weir/services/server';
import { Closer } from '@weir/shared/closer';
import { join } from 'node:path';
import { Child, type ChildPlan, type Variant } from './child.ts';
import { launchApp, type AppPlan } from './launch-app.ts';
import type { Reaper } from './reaper.ts';
import { resourceUsageModule } from './resource-usage.ts';
import type { ProcessRecord } from './system.ts';

/** Options of the processes of one build. */
export type Variants = Record<AppPlan['app'], Variant>;

export interface FamilyOptions {
  folder: string;
  /** What every start of an API or worker has that is not Weir's own. */
  variants: Variants;
  /** Whether the processes can be asked what they use; see resource-usage.ts. */
  measuresResources?: boolean;
  reaper: Reaper;
  log: (line: string) => void;
  signal: AbortSignal;
}

export class Family {
  readonly records: ProcessRecord[] = [];
  readonly children = new Map<string, Child>();
  /** Ends them in the reverse order. */
  readonly closer = new Closer();
  readonly #options: FamilyOptions;

  constructor(options: FamilyOptions) {
    this.#options = options;
  }

  logPathOf(name: string): string {
    return join(this.#options.folder, 'log', `${name}.log`);
  }

  add(name: string, launch: ChildPlan['launch']): Child {
    const { log, signal } = this.#options;
    const child = new Child({ name, logPath: this.logPathOf(name), launch, records: this.records, log, signal });
    this.children.set(name, child);
    this.closer.add(name, () => child.stop());
    return child;
  }

  /** Adds a program that is not Weir's. */
  addServer(name: string, start: () => Promise<Server>): Child {
    return this.add(name, async (_variant, onLaunch) => {
      const server = await start();
      onLaunch(server);
      return server;
    });
  }

  /** Starts a process of Weir, with modules that are loaded before it beside those of its variant. */
  async startApp(
    app: AppPlan['app'],
    name: string,
    env: Record<string, string>,
    imports: readonly string[] = [],
  ): Promise<void> {
    const { folder, variants, measuresResources, reaper, log, signal } = this.#options;
    const plan: AppPlan = {
      name,
      app,
      env,
      imports: [...imports, ...(measuresResources === true ? [resourceUsageModule(folder, name)] : [])],
      logPath: this.logPathOf(name),
      log,
      signal,
    };
    const launch: ChildPlan['launch'] = (variant, onLaunch) =>
      launchApp(plan, variant, (server) => {
        reaper.add(server.pid);
        onLaunch(server);
      });
    await this.add(name, launch).start(variants[app]);
  }
}
