/**
 * How every app is run. Most of what a request makes is garbage when it is answered; with the 16 MB that Node has for young
 * objects by default, much of it is still in use when they are full, and is copied: 64 MB take 15 % off the API's time for an
 * event. The old objects may become four times as many before they are all looked through, where Node would wait for a third
 * more. That takes some 50 ms of the app's thread, at 6,000 events a second every three seconds then and every 40 now, and
 * halves p99. And garbage is collected by the app's own thread: helpers would need the cores that Redis and Postgres work on, and
 * the app waits for the last of them.
 */
export const NODE_OPTIONS: readonly string[] = [
  '--max-semi-space-size=64',
  '--heap-growing-percent=300',
  '--single-threaded-gc',
];
