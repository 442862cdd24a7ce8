import { runUntilStopped } from '@weir/shared/process';
import { loadSettings } from '@weir/shared/settings';
import { apiSettings } from './settings.ts';

/** Runs the API with these settings until it is told to stop. */
export async function runApi(env: Record<string, string | undefined>): Promise<void> {
  await runUntilStopped(async () => {
    const settings = loadSettings(apiSettings, env);
    // Not before: all the rest takes a second to load, and whoever has set something wrong need not wait for it.
    const { startApi } = await import('./start-api.ts');
    return await startApi(settings);
  });
}
