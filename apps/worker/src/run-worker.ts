import { runUntilStopped } from '@weir/shared/process';
import { loadSettings } from '@weir/shared/settings';
import { workerSettings } from './settings.ts';

/** Runs a worker with these settings until it is told to stop. */
export async function runWorker(env: Record<string, string | undefined>): Promise<void> {
  await runUntilStopped(async () => {
    const settings = loadSettings(workerSettings, env);
    // Not before: all the rest takes a second to load, and whoever has set something wrong need not wait for it.
    const { startWorker } = await import('./start-worker.ts');
    return await startWorker(settings);
  });
}
