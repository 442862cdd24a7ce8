// The lane of hostile clients, as the run sees it: started, stopped, and made to let go.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Reaper } from '../environment/reaper.ts';
import type { HostileAccount, History } from '../history.ts';
import { makeHostileAccounts } from './accounts.ts';
import type { AttackCounts } from './attack.ts';

/** What the process of the hostile clients is started with. */
export interface HostilePlan {
  seed: number;
  /** Where the APIs listen, past the proxies: faults on those are for the honest. */
  ports: number[];
  accounts: HostileAccount[];
  /** How long they will be at work. */
  seconds: number;
}

export type ToHostile = 'begin' | 'stop';

export type FromHostile =
  | { type: 'ready' | 'stopped' }
  | { type: 'turn'; kind: string; beganAt: number; forMs: number; counts: AttackCounts };

export interface HostileLane {
  begin(): void;
  /** They begin nothing new, and keep the connections that they hold. Rejects when their process broke. */
  stop(): Promise<void>;
  /** Ends them with all that they hold. */
  close(): Promise<void>;
}

export interface LaneOptions extends Omit<HostilePlan, 'accounts'> {
  history: History;
  reaper: Reaper;
}

/** Signs the hostile clients up, which takes a system that is whole, and starts their process. */
export async function openHostileLane({ history, reaper, ...options }: LaneOptions): Promise<HostileLane> {
  const [port] = options.ports;
  if (port === undefined) throw new RangeError('there is no API to be hostile to');
  const accounts = await makeHostileAccounts(port);
  for (const account of accounts) history.write({ type: 'hostile-account', at: history.now(), ...account });

  const plan: HostilePlan = { ...options, accounts };
  const child = fork(fileURLToPath(new URL('./hostile-main.js', import.meta.url)), [JSON.stringify(plan)]);
  if (child.pid !== undefined) reaper.add(child.pid);
  const listeners = new Map<string, () => void>();
  const told = (type: 'ready' | 'stopped') => new Promise<void>((resolve) => listeners.set(type, resolve));
  child.on('message', (message: FromHostile) => {
    if (message.type !== 'turn') listeners.get(message.type)?.();
    else {
      const until = history.now();
      const { kind, forMs, counts } = message;
      history.write({ type: 'hostile', at: Math.round(until - forMs), until, kind, ...counts });
    }
  });
  const ended = once(child, 'exit').then(([code, signal]: unknown[]) => {
    throw new Error(`the process of the hostile clients ended by itself with ${String(signal ?? code)}`);
  });
  // Who waits for it to stop is told.
  ended.catch(() => {});
  const tell = (message: ToHostile) => void child.send(message);
  await Promise.race([told('ready'), ended]);

  return {
    begin: () => tell('begin'),
    async stop() {
      const stopped = told('stopped');
      tell('stop');
      await Promise.race([stopped, ended]);
    },
    async close() {
      child.kill('SIGKILL');
      await ended.catch(() => {});
    },
  };
}
