import { hash, verify } from '@node-rs/argon2';
import { Refusal } from '@weir/shared/errors';
import { text } from '@weir/shared/text';
import pLimit from 'p-limit';

// What OWASP recommends for argon2id: 19 MiB, two passes, one thread. About 20 ms here, and no use to a graphics card.
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

// Made with the same parameters as all the others, and the hash of no password: checking against it takes as long.
const HASH_OF_NOTHING = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** A new password. The upper bound is there so that nobody sends a megabyte to be hashed. */
export const newPassword = text(12, 256).meta({ format: 'password' });

/** Hashing takes a whole core. One at a time leaves the others to tracking, and is still some 50 logins a second. */
const oneAtATime = pLimit(1);

/**
 * `isGone` says whether whoever asked has gone before it was his turn: a crowd that does not wait for its answers must not keep
 * others waiting. Throws a Refusal then, which nobody reads.
 */
export function hashPassword(password: string, isGone = () => false): Promise<string> {
  return inTurn(isGone, () => hash(password, ARGON2));
}

/**
 * Takes as long when there is no hash as when there is one: how long it takes must not tell which accounts exist. Of `isGone`
 * see {@link hashPassword}.
 */
export async function isPassword(
  password: string,
  passwordHash: string | undefined,
  isGone = () => false,
): Promise<boolean> {
  const matches = await inTurn(isGone, () => verify(passwordHash ?? HASH_OF_NOTHING, password));
  return matches && passwordHash !== undefined;
}

function inTurn<Value>(isGone: () => boolean, hashing: () => Promise<Value>): Promise<Value> {
  return oneAtATime(() => {
    if (isGone()) throw new Refusal('unavailable', 'The connection was closed before the password was looked at.');
    return hashing();
  });
}
