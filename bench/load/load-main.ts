// A process of its own, so that making the load never waits for anything else the bench does. It takes one plan after
// another over the IPC channel.

import type { LoadMessage, LoadPlan } from './plan.ts';
import { runLoad } from './run.ts';

const tell = (message: LoadMessage) => process.send?.(message);

process.on('message', (plan: LoadPlan) => {
  runLoad(plan, () => tell({ kind: 'ended' })).then(tell, (error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
process.once('disconnect', () => process.exit());
process.send?.({ url: '' });
