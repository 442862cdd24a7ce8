import { hash, verify } from '@node-rs/argon2';
import { Refusal } from '@weir/shared/errors';
import { charactersOf, text } from '@weir/shared/text';
import { LIMIT_TABLE, LIMITS } from '@weir/shared/limits';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';

// What OWASP recommends for argon2id: 19 MiB, two passes, one thread. About 20 ms here, and no use to a graphics card.
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

// Made with the same parameters as all the others, and the hash of no password: checking against it takes as long.
const HASH_OF_NOTHING = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

const CHARACTERS_MIN = LIMIT_TABLE.password.min;

/** A new password. The upper bound is there so that nobody sends a megabyte to be hashed. */
export const newPassword = text(CHARACTERS_MIN, LIMITS.password)
  .refine((password) => charactersOf(prepared(password)) >= CHARACTERS_MIN, {
    error: `must have ${CHARACTERS_MIN} to ${LIMITS.password} characters`,
    when: ({ issues }) => issues.length === 0,
  })
  .meta({ format: 'password' });

/**
 * Hashing takes a whole core. One password is hashed at a time, with a rest of as long after it: half of that core and all
 * others are left to tracking, also where there are as many processes as cores. It is still some 25 logins a second.
 */
const oneAtATime = pLimit(1);

/**
 * Throws a Refusal, which nobody reads, where `isGone` says that the client has gone before its turn: a crowd that does not
 * wait for its answers must not keep others waiting.
 */
export function hashPassword(password: string, isGone = () => false): Promise<string> {
  return inTurn(isGone, () => hash(prepared(password), ARGON2));
}

/**
 * Takes as long without a hash as with one: the time must not tell which accounts exist. For `isGone` see
 * {@link hashPassword}.
 */
export async function isPassword(
  password: string,
  passwordHash: string | undefined,
  isGone = () => false,
): Promise<boolean> {
  // As it was sent, too: a hash may be older than the preparation.
  let matches = false;
  for (const form of new Set([prepared(password), password]))
    matches ||= await inTurn(isGone, () => verify(passwordHash ?? HASH_OF_NOTHING, form));
  return matches && passwordHash !== undefined;
}

/**
 * One password is one text, whatever keyboard it was typed on: systems differ in how they write letters with marks, and in
 * the spaces they know. As RFC 8265, section 4.2 (OpaqueString), has it.
 */
function prepared(password: string): string {
  return password.replace(/\p{Zs}/gu, ' ').normalize('NFC');
}

function inTurn<Value>(isGone: () => boolean, hashing: () => Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    void oneAtATime(async () => {
      if (isGone()) {
        reject(new Refusal('unavailable', 'The connection was closed before the password was looked at.'));
        return;
      }
      const begun = performance.now();
      await hashing().then(resolve, reject);
      await delay(performance.now() - begun);
    });
  });
}
