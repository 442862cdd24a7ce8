import type { AccountWithPassword } from '@weir/db/users';
import { Refusal } from '@weir/shared/errors';
import type { FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { isHungUp } from '../http/connection/connections.ts';
import type { Pressure } from '../http/load/pressure.ts';
import { hashPassword, isPassword } from './passwords.ts';
import type { Throttle } from './throttle.ts';

/** How a request has a password looked at. Its turn may take seconds to come, and it holds none of the slots meanwhile. */
export interface PasswordTurns {
  /**
   * Whether a password is that of the account with this address; counted as a failed attempt unless it is. Refuses with 429 when
   * there were too many. The account is looked for first: what is tried in vain while Postgres is away does not count.
   */
  attempt(
    request: FastifyRequest,
    account: { email: string; find: () => Promise<AccountWithPassword | undefined> },
    password: string,
  ): Promise<{ account: AccountWithPassword | undefined; isRight: boolean }>;
  /** The hash of a new password. */
  hash(request: FastifyRequest, password: string): Promise<string>;
  /** Requests that wait for their turn, or have it. */
  waiting(): number;
}

/** Some 25 passwords are hashed in a second, and nobody waits at a form for longer than five. */
const WAITING_MAX = 125;

/** `onShed` is told of each that is refused since too many wait. */
export function buildPasswordTurns(throttle: Throttle, pressure: Pressure, onShed: () => void): PasswordTurns {
  let waiting = 0;
  const inTurn = async <Value>(request: FastifyRequest, work: () => Promise<Value>): Promise<Value> => {
    if (waiting >= WAITING_MAX) {
      onShed();
      throw tooMany();
    }
    waiting += 1;
    try {
      return await pressure.aside(request, work);
    } finally {
      waiting -= 1;
    }
  };
  // Hashing is done one at a time anyway. Attempts wait for it before they are counted: a hundred people behind one address who
  // sign in at once would else count as a hundred failures until they are found to be right.
  const oneAtATime = pLimit(1);
  return {
    attempt: (request, { email, find }, password) =>
      inTurn(request, async () => {
        const account = await find();
        const isRight = await oneAtATime(async () => {
          // What nobody waits for any more must not keep the others waiting.
          if (isHungUp(request)) throw new Refusal('request_timeout', 'The client has gone.');
          const takeBack = await throttle.count(email, request.ip);
          const isRight = await isPassword(password, account?.password_hash);
          if (isRight) await takeBack();
          return isRight;
        });
        return { account, isRight };
      }),
    hash: (request, password) =>
      inTurn(request, () => oneAtATime(() => hashPassword(password, () => isHungUp(request)))),
    waiting: () => waiting,
  };
}

function tooMany(): Refusal {
  const detail = 'Too many people sign in at this moment, and nothing was kept: try again in a few seconds.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 5 });
}
