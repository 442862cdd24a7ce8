import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/** Runs a script. Throws what ioredis says when Redis refuses it or does not answer. */
export type Script<Reply> = (
  redis: Redis,
  keys: readonly string[],
  values: readonly (string | number)[],
) => Promise<Reply>;

type ScriptCommand = (keyCount: number, ...args: (string | number)[]) => Promise<unknown>;

/**
 * Loads a script of the folder `scripts`. The head of its file says what it is given and what it returns. ioredis sends its
 * text once on each connection and its hash from then on.
 */
export function loadScript<Reply>(name: string): Script<Reply> {
  // The folder lies beside `src` and `dist`, so both find it.
  const lua = readFileSync(new URL(`../scripts/${name}.lua`, import.meta.url), 'utf8');
  const command = `weir:${name}`;
  return (redis, keys, values) => {
    const commands = redis as unknown as Record<string, ScriptCommand>;
    if (commands[command] === undefined) redis.defineCommand(command, { lua });
    return (commands[command] as ScriptCommand).call(redis, keys.length, ...keys, ...values) as Promise<Reply>;
  };
}
