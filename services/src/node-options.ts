/**
 * How every app is run; the image does the same. Node has 16 MB for young objects by default. When they are full, much of what
 * a request has made is still in use, and is copied: with 64 MB an event takes 15 % less of the API's time. One thread
 * collects garbage, since helpers would need the cores that Redis and Postgres work on. V8 takes both options only when it
 * starts, and the third one that Weir needs at any time (packages/shared/src/v8-options.ts).
 */
export const NODE_OPTIONS: readonly string[] = ['--max-semi-space-size=64', '--single-threaded-gc'];
