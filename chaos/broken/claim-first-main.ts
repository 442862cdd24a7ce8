// Loaded before the API (`node --import`): replaces the step that admits events. No file of the API knows of it.

import { register } from 'node:module';

register('./replace-admit.js', import.meta.url);

// What is imported here under its own name is what the API will get. If it is Weir's own, nothing was replaced, and a run
// that finds nothing would prove nothing.
const admit = new URL('../../../packages/queue/dist/admit.js', import.meta.url).href;
const broken = new URL('./claim-first.js', import.meta.url).href;
const [replaced, replacement] = await Promise.all([import(admit), import(broken)]);
if ((replaced as { admit: unknown }).admit !== (replacement as { admit: unknown }).admit) {
  throw new Error('the broken build could not take the place of the step that admits events');
}
