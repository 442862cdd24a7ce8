import closeWithGrace from 'close-with-grace';
import { describeError, type Logger } from './log.ts';
import { SettingsError } from './settings.ts';
import { exitOnSignal } from './stop-signals.ts';

/** Something that runs until the process is told to stop. */
export interface Running {
  log: Logger;
  /** Where it listens; told to the parent process, if there is an IPC channel, once it does. */
  url: string;
  /** Milliseconds after which a stop is no longer waited for: the process exits with code 1. */
  drainTimeoutMs: number;
  /** Told of the error that nobody caught, where it ends for that. */
  close(uncaught?: Error): Promise<void>;
}

/**
 * Runs a process: starts it, and closes it on SIGTERM, SIGINT, an error nobody caught, or the end of the parent that
 * started it with an IPC channel. Told to stop before it has started, it ends at once: it has taken nothing yet. Bad settings end it with
 * one line on standard error and exit code 1.
 */
export async function runUntilStopped(start: () => Promise<Running>): Promise<void> {
  // A launcher that was killed leaves no orphan behind that holds its port, also not one that is still starting.
  let stop: () => void = () => process.exit(1);
  process.once('disconnect', () => stop());
  const hasStarted = exitOnSignal(0);
  let running: Running;
  try {
    running = await start();
  } catch (error) {
    console.error(error instanceof SettingsError ? error.message : describeError(error));
    process.exit(1);
  }
  const { log } = running;
  const grace = closeWithGrace({ delay: running.drainTimeoutMs, logger: log }, async ({ signal, err }) => {
    if (err) log.fatal({ err }, 'an error that nobody caught');
    else log.info({ signal }, 'stopping');
    await running.close(err);
    log.info('stopped');
  });
  hasStarted();
  stop = () => grace.close();
  process.send?.({ url: running.url });
}
