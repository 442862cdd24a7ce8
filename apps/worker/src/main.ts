import '@weir/shared/v8-options';
import { requireDescriptors } from '@weir/shared/descriptors';

requireDescriptors();
// Not before: Node opens the files of all that a module imports before it runs the first of them.
const { runUntilStopped } = await import('@weir/shared/process');
const { loadSettings } = await import('@weir/shared/settings');
const { workerSettings } = await import('./settings.ts');
await runUntilStopped(async () => {
  const settings = loadSettings(workerSettings, process.env);
  // Not before: all the rest takes a second to load, and whoever has set something wrong need not wait for it.
  const { startWorker } = await import('./start-worker.ts');
  return await startWorker(settings);
});
