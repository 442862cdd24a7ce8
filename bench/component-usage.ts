import { listPids, readProc, readStat } from '@weir/services/processes';

/** What a machine is shared among. */
export const COMPONENTS = ['API', 'worker', 'Postgres', 'Redis', 'load'] as const;
export type Component = (typeof COMPONENTS)[number];

/** What the processes of a component have used. */
export interface ComponentUse {
  cpuSeconds: number;
  /** The most that was seen at once. What its processes share is counted once. */
  memoryBytes: number;
}

interface Watched {
  component: Component;
  cpuSecondsBefore: number;
  cpuSeconds: number;
}

/**
 * What each component uses from now on: the processes that this one has started, and those that they have. CPU time depends on
 * what else the machine does far less than everything that is measured in time. Services that were given and not started
 * are left out.
 */
export class ComponentWatch {
  readonly #watched = new Map<string, Watched>();
  readonly #memoryBytes = new Map<Component, number>();

  private constructor() {}

  /** Null where the system has no /proc. */
  static open(): ComponentWatch | null {
    const watch = new ComponentWatch();
    return watch.#look(true) ? watch : null;
  }

  /** Looks at all processes. What one uses between the last look and its end is not seen. */
  look(): void {
    this.#look(false);
  }

  /** Up to the last look. */
  used(): Map<Component, ComponentUse> {
    const used = new Map<Component, ComponentUse>();
    for (const { component, cpuSeconds, cpuSecondsBefore } of this.#watched.values()) {
      const earlier = used.get(component)?.cpuSeconds ?? 0;
      used.set(component, {
        cpuSeconds: earlier + cpuSeconds - cpuSecondsBefore,
        memoryBytes: this.#memoryBytes.get(component) ?? 0,
      });
    }
    return used;
  }

  // Without waiting: reads by other threads take both cores for some milliseconds, in the middle of what is measured.
  #look(isFirst: boolean): boolean {
    const pids = listPids();
    if (pids === undefined) return false;
    const all = pids.map(readStat).filter((each) => each !== undefined);
    const own = descendantsOf(process.pid, all);
    const statuses = new Map<Component, string[]>();
    for (const { pid, name, cpuSeconds, startedAt } of own) {
      const component = componentOf(pid, name);
      if (component === null) continue;
      const key = `${pid} ${startedAt}`;
      const cpuSecondsBefore = this.#watched.get(key)?.cpuSecondsBefore ?? (isFirst ? cpuSeconds : 0);
      this.#watched.set(key, { component, cpuSeconds, cpuSecondsBefore });
      const status = readProc(pid, 'status') ?? '';
      statuses.set(component, [...(statuses.get(component) ?? []), status]);
    }
    for (const [component, texts] of statuses)
      this.#memoryBytes.set(component, Math.max(this.#memoryBytes.get(component) ?? 0, memoryOf(texts)));
    return true;
  }
}

/** What each component used, as microseconds of CPU for each event; `all` is their sum without the load. */
export function cpuPerEvent(used: ReadonlyMap<Component, ComponentUse>, events: number): Record<string, number> | null {
  if (events === 0) return null;
  const each = [...used].map(([component, { cpuSeconds }]) => [component, (cpuSeconds * 1e6) / events] as const);
  const all = each.reduce((sum, [component, microseconds]) => (component === 'load' ? sum : sum + microseconds), 0);
  return { all, ...Object.fromEntries(each) };
}

/**
 * The resident bytes of processes of one program, from their /proc/PID/status: what each has for itself, and once what they
 * share, which is the program's file, and Postgres's buffers.
 */
export function memoryOf(statuses: readonly string[]): number {
  const of = (name: string) =>
    statuses.map((status) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024);
  const own = of('RssAnon').reduce((sum, bytes) => sum + bytes, 0);
  return own + Math.max(0, ...of('RssFile')) + Math.max(0, ...of('RssShmem'));
}

/** Those of all processes that descend from one, whatever their order. */
export function descendantsOf<T extends { pid: number; parent: number }>(ancestor: number, all: readonly T[]): T[] {
  const parents = new Set([ancestor]);
  // Parents before their children, save where numbers have begun anew: those are found in another pass.
  for (let before = 0; before < parents.size;) {
    before = parents.size;
    for (const { pid, parent } of all) if (parents.has(parent)) parents.add(pid);
  }
  return all.filter(({ pid }) => pid !== ancestor && parents.has(pid));
}

function componentOf(pid: number, name: string): Component | null {
  if (name === 'postgres') return 'Postgres';
  if (/^(redis|valkey)-server/.test(name)) return 'Redis';
  return componentOfCommand(readProc(pid, 'cmdline') ?? '');
}

/** The component that a program of this repository belongs to; null for any other. */
export function componentOfCommand(command: string): Component | null {
  if (command.includes('/load-main.js')) return 'load';
  // The ceiling is a worker without a queue.
  if (/worker\/dist\/main\.js|(worker|ceiling)-main\.js/.test(command)) return 'worker';
  return /api\/dist\/main\.js|baselines\/[a-z-]+-main\.js/.test(command) ? 'API' : null;
}
