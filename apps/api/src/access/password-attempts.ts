import { Refusal } from '@weir/shared/errors';
import type { FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { isHungUp } from '../http/connections.ts';
import { isPassword } from './passwords.ts';
import type { Throttle } from './throttle.ts';

/**
 * Whether a password is that of the account with this address; counted as a failed attempt unless it is. Refuses with 429 when
 * there were too many. Without a hash, there is no such account.
 */
export type AttemptPassword = (
  request: FastifyRequest,
  account: { email: string; passwordHash: string | undefined },
  password: string,
) => Promise<boolean>;

/**
 * Hashing is done one at a time anyway. Attempts wait for it before they are counted: a hundred people behind one address who
 * sign in at once would else count as a hundred failures until they are found to be right.
 */
export function buildAttemptPassword(throttle: Throttle): AttemptPassword {
  const oneAtATime = pLimit(1);
  return (request, { email, passwordHash }, password) =>
    oneAtATime(async () => {
      // What nobody waits for any more must not keep the others waiting.
      if (isHungUp(request)) throw new Refusal('request_timeout', 'The client has gone.');
      const takeBack = await throttle.count(email, request.ip);
      const isRight = await isPassword(password, passwordHash);
      if (isRight) await takeBack();
      return isRight;
    });
}
