import { constants } from 'node:os';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Has the process end at once when it is told to stop, while nothing has to be closed in order: with this exit code, by default that of
 * a program which the signal has ended. Returns what takes this back.
 *
 * In a container the process is the first one, to which the system gives no signal that it does not listen for. It would go on until it
 * is killed.
 */
export function exitOnSignal(code?: number): () => void {
  const exit = (signal: NodeJS.Signals): void => process.exit(code ?? 128 + constants.signals[signal]);
  for (const signal of STOP_SIGNALS) process.once(signal, exit);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, exit);
  };
}
