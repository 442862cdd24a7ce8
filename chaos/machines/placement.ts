// Which process runs on which machine. Redis and Postgres have their primaries on different machines, so that whichever machine dies,
// one of the two ways in is left.

const PLACES = {
  'machine-0': ['api-0', 'redis-0', 'sentinel-0'],
  'machine-1': ['api-1', 'worker-0', 'redis-1', 'sentinel-1', 'postgres-1'],
  'machine-2': ['worker-1', 'sentinel-2', 'postgres-0'],
} as const;

export type MachineName = keyof typeof PLACES;

export const MACHINES = Object.keys(PLACES) as MachineName[];

export const REDISES = ['redis-0', 'redis-1'] as const;
export const SENTINELS = ['sentinel-0', 'sentinel-1', 'sentinel-2'] as const;

/** The first one is the primary whenever all is well. */
export const POSTGRESES = ['postgres-0', 'postgres-1'] as const;

export type RedisName = (typeof REDISES)[number];
export type SentinelName = (typeof SENTINELS)[number];
export type PostgresName = (typeof POSTGRESES)[number];

/** Undefined for clients and operators, who are outside. */
export function machineOf(process: string): MachineName | undefined {
  return MACHINES.find((machine) => processesOn(machine).includes(process));
}

export function processesOn(machine: MachineName): readonly string[] {
  return PLACES[machine];
}

/**
 * Where the connections of a process come from: each has an address of its own, by which a proxy knows who calls. All of 127.0.0.0/8 is
 * this computer on Linux.
 */
export function addressOf(process: string): string {
  const machine = machineOf(process);
  if (machine === undefined) return '127.0.0.1';
  return `127.1.${MACHINES.indexOf(machine)}.${processesOn(machine).indexOf(process) + 1}`;
}

const CALLERS = new Map(MACHINES.flatMap((machine) => processesOn(machine).map((name) => [addressOf(name), name])));

/** Who calls from this address. */
export function callerAt(address: string | undefined): string {
  return CALLERS.get(address ?? '') ?? 'outside';
}
