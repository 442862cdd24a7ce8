// Loaded before the API (`node --import`): replaces the step that admits events.

import { replaceModule } from './replace.ts';

await replaceModule('queue/admit', new URL('./claim-first.js', import.meta.url), 'admit');
