import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { SecondCopy } from './second-copy.ts';

/** A script of Redis. */
export interface Script<Reply> {
  /** Runs it. Throws what ioredis says when Redis refuses it or does not answer. */
  (redis: Redis, keys: readonly string[], values: readonly (string | number)[]): Promise<Reply>;
  /** Runs it, and returns its reply once a replica has all that it wrote and found. Throws a NotCopied too. */
  copied(copy: SecondCopy, keys: readonly string[], values: readonly (string | number)[]): Promise<Reply>;
  /** Runs it by its text, whatever this Redis knows: it is done in its place among what is sent. */
  whole(redis: Redis, keys: readonly string[], values: readonly (string | number)[]): Promise<Reply>;
}

type ScriptCommand = (keyCount: number, ...args: (string | number)[]) => Promise<unknown>;

/**
 * Loads a script of the folder `scripts`. The head of its file says what it is given and what it returns. ioredis sends its
 * text once on each connection and its hash from then on.
 */
export function loadScript<Reply>(name: string): Script<Reply> {
  // The folder lies beside `src` and `dist`, so both find it.
  const lua = readFileSync(new URL(`../scripts/${name}.lua`, import.meta.url), 'utf8');
  const command = `weir:${name}`;
  const run = (redis: Redis, keys: readonly string[], values: readonly (string | number)[]) => {
    const commands = redis as unknown as Record<string, ScriptCommand>;
    if (commands[command] === undefined) redis.defineCommand(command, { lua });
    return (commands[command] as ScriptCommand).call(redis, keys.length, ...keys, ...values) as Promise<Reply>;
  };
  const digest = createHash('sha1').update(lua).digest('hex');
  // Of a script that Redis does not know, ioredis sends the text later, and then behind the question whether a replica has it.
  const copied = async (copy: SecondCopy, keys: readonly string[], values: readonly (string | number)[]) => {
    const args = [keys.length, ...keys, ...values] as const;
    try {
      return (await copy.written((redis) => redis.evalsha(digest, ...args))) as Reply;
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      const [, reply] = await copy.written((redis) =>
        Promise.all([redis.script('LOAD', lua), redis.evalsha(digest, ...args)]),
      );
      return reply as Reply;
    }
  };
  const whole = (connection: Redis, keys: readonly string[], values: readonly (string | number)[]) =>
    connection.call('EVAL', lua, keys.length, ...keys, ...values) as Promise<Reply>;
  return Object.assign(run, { copied, whole });
}
