// Loaded before the API (`node --import`): replaces the direct way.

import { replaceModule } from './replace.ts';

await replaceModule('db/record-directly', new URL('./direct-new-ids.js', import.meta.url), 'recordDirectly');
