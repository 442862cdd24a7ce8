/**
 * How every app is run; the image does the same. Most of what a request makes is garbage when it is answered; with the 16 MB that
 * Node has for young objects by default, much of it is still in use when they are full, and is copied: 64 MB take 15 % off the
 * API's time for an event. And garbage is collected by the app's own thread: helpers would need the cores that Redis and Postgres
 * work on, and the app waits for the last of them. V8 takes neither once it runs; the third option that Weir needs it does take
 * (packages/shared/src/v8-options.ts).
 */
export const NODE_OPTIONS: readonly string[] = ['--max-semi-space-size=64', '--single-threaded-gc'];
