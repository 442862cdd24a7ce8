// Loaded before the API (`node --import`): a flush that only finds keys held writes nothing before it asks whether a replica has all.
// From version 7.2 on Redis, and Valkey, say yes at once then, whoever wrote what was found; older ones wait all the same, so that here the
// question itself is left out. A client is told of an event that dies with the primary's machine. The judge has to find that.

import { Redis } from 'ioredis';

type Command = (this: Redis, ...args: unknown[]) => Promise<unknown>;

/** Of the last script on each connection, whether it wrote nothing. */
const wroteNothing = new WeakMap<Redis, Promise<boolean>>();

for (const name of ['evalsha', 'eval'] as const) {
  const run = Reflect.get(Redis.prototype, name) as Command;
  Reflect.set(Redis.prototype, name, function (this: Redis, ...args: unknown[]): Promise<unknown> {
    const reply = run.apply(this, args);
    // The last three values of a flush: what its claims hold, the length of each, its events. The reply has two for each that is held.
    const [claims, length] = args.slice(-3).map(String);
    const count = (claims?.length ?? 0) / Number(length);
    wroteNothing.set(
      this,
      reply.then(
        (exceptions) => Array.isArray(exceptions) && exceptions.length === 2 * count,
        () => false,
      ),
    );
    return reply;
  });
}

// EVAL, its text, how many keys, the key.
const call = Reflect.get(Redis.prototype, 'call') as Command;
Reflect.set(Redis.prototype, 'call', function (this: Redis, ...args: unknown[]): Promise<unknown> {
  return String(args[3]).endsWith(':copied') ? Promise.resolve('OK') : call.apply(this, args);
});

const wait = Reflect.get(Redis.prototype, 'wait') as Command;
Reflect.set(Redis.prototype, 'wait', async function (this: Redis, ...args: unknown[]): Promise<unknown> {
  return (await wroteNothing.get(this)) === true ? 1 : wait.apply(this, args);
});
