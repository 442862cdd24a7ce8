import '@weir/shared/v8-options';
import { requireDescriptors } from '@weir/shared/descriptors';

requireDescriptors();
// Not before: Node opens the files of all that a module imports before it runs the first of them.
const { runUntilStopped } = await import('@weir/shared/process');
const { loadSettings } = await import('@weir/shared/settings');
const { apiSettings } = await import('./settings.ts');
await runUntilStopped(async () => {
  const settings = loadSettings(apiSettings, process.env);
  // Not before: all the rest takes a second to load, and whoever has set something wrong need not wait for it.
  const { startApi } = await import('./start-api.ts');
  return await startApi(settings);
});
