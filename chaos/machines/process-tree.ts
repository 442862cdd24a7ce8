// Processes with all that they have started: each of Postgres's is a session of its own, so that no signal reaches them together.

import { isCode, listPids, readStat } from '@weir/services/processes';
import type { Child } from '../environment/child.ts';

/** Sends a signal to a process first and then to what it has started, so that it does not start anything in between. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  signalAll(treeOf(pid), signal);
}

/** Ends a child with all that it has started. Does nothing where it does not run. */
export async function killTree(child: Child): Promise<void> {
  if (child.pid === 0) return;
  const tree = treeOf(child.pid);
  const ended = child.end('SIGKILL');
  signalAll(tree.slice(1), 'SIGKILL');
  await ended;
}

function treeOf(pid: number): number[] {
  const stats = (listPids() ?? []).flatMap((each) => readStat(each) ?? []);
  const tree = [pid];
  for (const member of tree) for (const stat of stats) if (stat.parent === member) tree.push(stat.pid);
  return tree;
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!isCode(error, 'ESRCH')) throw error;
    }
  }
}
