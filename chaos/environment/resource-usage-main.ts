// Loaded before a program, as `resource-usage-main.js?file=…`: on SIGWINCH it collects all garbage and writes what is in use then. How
// much lies about as garbage says more about the collector than about a leak.

import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Count } from './resource-usage.ts';

const file = new URL(import.meta.url).searchParams.get('file');
if (file === null) throw new Error('resource-usage-main.js is to be loaded with the name of a file');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

// No other signal is free: the apps stop at most of them, and nobody resizes a terminal that they do not have.
process.on('SIGWINCH', () => {
  // What a finalizer lets go of is garbage only after the first time.
  collect();
  setImmediate(() => {
    collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    const count: Count = { pid: process.pid, at: Date.now(), usedBytes: heapUsed + external, residentBytes: rss };
    // Whoever reads it gets all of it.
    writeFileSync(`${file}.new`, JSON.stringify(count));
    renameSync(`${file}.new`, file);
  });
});
