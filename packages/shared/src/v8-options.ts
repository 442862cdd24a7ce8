// The first import of the API and of the worker, so that it counts from their first object on, however they are started.
// Old objects may become four times as many before all of them are looked through, where V8 would wait for a third more: the
// search takes some 50 ms of the app's thread, at 6,000 events a second every three seconds then and every 40 now, which
// halves p99. Of the options that Weir is run with this is the only one that V8 takes once it runs: the size of its young
// generation is fixed by then, and one that turns off the helpers of its garbage collector ends Node 20 (decision 30).

import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--heap-growing-percent=300');
