import '@weir/shared/v8-options';
import { requireDescriptors } from '@weir/shared/descriptors';

requireDescriptors();
// Not before: Node opens the files of all that a module imports before it runs the first of them.
const { runApi } = await import('./run-api.ts');
await runApi(process.env);
