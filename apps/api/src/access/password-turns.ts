import type { AccountWithPassword } from '@weir/db/users';
import { Refusal } from '@weir/shared/errors';
import type { FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { addressBlock } from '../http/connection/address-block.ts';
import { isHungUp } from '../http/connection/connections.ts';
import type { Pressure } from '../http/load/pressure.ts';
import { hashPassword, isPassword } from './passwords.ts';
import type { Throttle } from './throttle.ts';

/** How a request has a password looked at. Its turn may take seconds to come, and it holds none of the slots meanwhile. */
export interface PasswordTurns {
  /**
   * Whether a password is that of the account with this address; counted as a failed attempt unless it is, and as a sign-in else.
   * Refuses with 429 when there were too many. The account is looked for before: what is tried in vain while Postgres is away does
   * not count.
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

/**
 * Some 25 passwords are hashed in a second, and nobody waits at a form for longer than ten: as long as behind all of these. No
 * address and no account has more of them than are left free: a crowd behind one has half, and whoever comes next waits five seconds.
 * Each further crowd has half of what is left, so that it takes eight to have them all.
 */
const WAITING_MAX = 250;

/** `onShed` is told of each that is refused since too many wait. */
export function buildPasswordTurns(throttle: Throttle, pressure: Pressure, onShed: () => void): PasswordTurns {
  let waiting = 0;
  /** By address, and by account. */
  const waitingOf = new Map<string, number>();
  const countWaiting = (subject: string, change: 1 | -1) => {
    const count = (waitingOf.get(subject) ?? 0) + change;
    if (count === 0) waitingOf.delete(subject);
    else waitingOf.set(subject, count);
  };
  const inTurn = async <Value>(
    request: FastifyRequest,
    work: () => Promise<Value>,
    ...ofAccount: string[]
  ): Promise<Value> => {
    const subjects = [addressBlock(request.ip), ...ofAccount];
    if (subjects.some((each) => (waitingOf.get(each) ?? 0) >= WAITING_MAX - waiting)) {
      onShed();
      throw tooMany();
    }
    waiting += 1;
    for (const each of subjects) countWaiting(each, 1);
    try {
      return await pressure.aside(request, work);
    } finally {
      waiting -= 1;
      for (const each of subjects) countWaiting(each, -1);
    }
  };
  // Hashing is done one at a time anyway. Attempts wait for it before they are counted: a hundred people behind one address who
  // sign in at once would else count as a hundred failures until they are found to be right.
  const oneAtATime = pLimit(1);
  return {
    attempt: (request, { email, find }, password) => {
      const work = async () => {
        // Whoever is over a limit asks Postgres for nothing, and waits for no other password.
        await throttle.look(email, request.ip);
        const account = await find();
        const isRight = await oneAtATime(async () => {
          // What nobody waits for any more must not keep the others waiting.
          if (isHungUp(request)) throw new Refusal('request_timeout', 'The client has gone.');
          return await throttle.attempt(email, request.ip, () => isPassword(password, account?.password_hash));
        });
        if (isRight) await throttle.countSignIn(email, request.ip);
        return { account, isRight };
      };
      return inTurn(request, work, email);
    },
    hash: (request, password) =>
      inTurn(request, () => oneAtATime(() => hashPassword(password, () => isHungUp(request)))),
    waiting: () => waiting,
  };
}

function tooMany(): Refusal {
  const detail = 'Too many people sign in at this moment, and nothing was kept: try again in a few seconds.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 5 });
}
