// A process of its own, so that making the load never waits for anything else the bench does. It takes one plan after
// another over the IPC channel.

import { takePlans } from './take-plans.ts';
import { runLoad } from './make-load.ts';

takePlans(runLoad);
process.once('disconnect', () => process.exit());
process.send?.({ url: '' });
