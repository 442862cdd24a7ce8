// Slows down those who guess passwords, and those who sign up again and again. An attempt is counted before the password is
// checked and given back when it was right: counted afterwards, thousands of guesses sent at once would all be checked before
// the first one counted. Each process makes one attempt after the other (password-turns.ts), so that those of a crowd that
// signs in at once do not stand in for failures.

import type { QueueConnection } from '@weir/queue/connection';
import { buildLimit, isRemembered, remember, type Limit, type LimitState } from '@weir/queue/limits';
import { Refusal } from '@weir/shared/errors';
import { digest } from '@weir/shared/hash';
import { LIMITS } from '@weir/shared/limits';
import { addressBlock } from '../http/connection/address-block.ts';

const WINDOW_SECONDS = 15 * 60;
const SIGNUP_WINDOW_SECONDS = 60 * 60;

/** More mistakes than people make, and 960 guesses in a day: nothing for a password of 12 characters. */
const FAILURES_PER_ACCOUNT_AND_ADDRESS_MAX = 10;

/** Many people may share one address, behind an office's router. */
const FAILURES_PER_ADDRESS_MAX = 100;

/**
 * From all addresses together, so that many of them do not guess one account's password for ever. A stranger with that many
 * could keep its owner out by this, were it not for the addresses that the owner is known by.
 */
const FAILURES_PER_ACCOUNT_MAX = 100;

/** Each right password begins a session and is an entry of the audit log for good: more than a team does that shares an account. */
const SIGN_INS_PER_ACCOUNT_AND_ADDRESS_MAX = 120;

const LINK_WINDOW_SECONDS = 60 * 60;

/** How long an address is remembered as one from which somebody signed in to an account. */
const KNOWN_ADDRESS_SECONDS = 30 * 86_400;

export interface Throttle {
  /**
   * Counts an attempt as failed, and returns what takes that back; refuses with 429 when there were too many. An
   * account is one whether it exists or not.
   */
  count(account: string, address: string): Promise<() => Promise<void>>;
  /**
   * Counts an attempt as failed, and takes that back where `check` finds it right, which it returns; refuses with 429 when there were too
   * many. Called for one attempt at a time.
   */
  attempt(account: string, address: string, check: () => Promise<boolean>): Promise<boolean>;
  /** Refuses with 429 whom `attempt` or `countSignIn` would refuse, unless for one that is under way here; counts nothing. */
  look(account: string, address: string): Promise<void>;
  /** Counts a right password; refuses with 429 when there were too many. */
  countSignIn(account: string, address: string): Promise<void>;
  /** Counts a sign-up from an address, and returns what takes that back; refuses with 429 when there were too many. */
  countSignup(address: string): Promise<() => Promise<void>>;
  /** Counts a link that an organization makes, which may be mailed to anybody; refuses with 429 when there were too many. */
  countLink(organizationId: string): Promise<void>;
  /** Remembers that the account's owner signs in from here: what others try from elsewhere does not keep out who does. */
  know(account: string, address: string): Promise<void>;
}

/** Without Redis every process counts for itself, and knows nobody: worse than together, but not a way around it. */
export function buildThrottle(
  queue: QueueConnection,
  { signupsPerAddress, isRedisAway }: { signupsPerAddress: number; isRedisAway: () => boolean },
): Throttle {
  const { failures } = queue.keys;
  const limit = (subject: string, points: number, seconds = WINDOW_SECONDS) =>
    buildLimit(queue, { keyPrefix: `${failures}:${subject}`, points, seconds, isRedisAway });
  const pairs = limit('pair', FAILURES_PER_ACCOUNT_AND_ADDRESS_MAX);
  const addresses = limit('address', FAILURES_PER_ADDRESS_MAX);
  const accounts = limit('account', FAILURES_PER_ACCOUNT_MAX);
  const signIns = limit('sign-ins', SIGN_INS_PER_ACCOUNT_AND_ADDRESS_MAX);
  const signups = limit('signups', signupsPerAddress, SIGNUP_WINDOW_SECONDS);
  const links = limit('links', LIMITS.linksAnHour, LINK_WINDOW_SECONDS);
  const knownKey = (pair: string) => `${failures}:known:${pair}`;

  /** Whom an attempt is counted for. */
  const countersOf = async (account: string, address: string) => {
    const block = addressBlock(address);
    const accountName = nameOf(account);
    const pair = pairOf(account, block);
    const isKnown = !isRedisAway() && (await isRemembered(queue, knownKey(pair)));
    const steps: [Limit, string][] = [
      [addresses, block],
      [pairs, pair],
    ];
    if (!isKnown) steps.push([accounts, accountName]);
    return { block, accountName, pair, isKnown, steps };
  };

  /** Whom the attempt counts for that is under way here: it may be found right. */
  let underWay: string[] = [];

  const count = async (account: string, address: string) => {
    const { block, accountName, pair, isKnown, steps } = await countersOf(account, address);
    const counted: [Limit, string][] = [];
    for (const [limit, subject] of steps) {
      const state = await limit.consume(subject);
      if (state.isOver) {
        // Nothing was tried: what is refused for one account must not shut the whole address.
        await Promise.all(counted.map(([each, whose]) => each.giveBack(whose)));
        throw tooMany(state, FAILURES);
      }
      counted.push([limit, subject]);
    }
    return async () => {
      await Promise.all([addresses.giveBack(block), pairs.reset(pair), isKnown || accounts.giveBack(accountName)]);
    };
  };

  return {
    count,
    async attempt(account, address, check) {
      const block = addressBlock(address);
      // Before it is counted: whoever sees it counted in Redis has to know of it.
      underWay = [block, pairOf(account, block), nameOf(account)];
      try {
        const takeBack = await count(account, address);
        const isRight = await check();
        if (isRight) await takeBack();
        return isRight;
      } finally {
        underWay = [];
      }
    },
    async look(account, address) {
      const { pair, steps } = await countersOf(account, address);
      const [signedIn, ...failed] = await Promise.all([
        signIns.look(pair),
        ...steps.map(([limit, subject]) => limit.look(subject, underWay.includes(subject) ? 1 : 0)),
      ]);
      const over = failed.find(({ isOver }) => isOver);
      if (over !== undefined) throw tooMany(over, FAILURES);
      if (signedIn.isOver) throw tooMany(signedIn, SIGN_INS);
    },
    async countSignIn(account, address) {
      const state = await signIns.consume(pairOf(account, addressBlock(address)));
      if (state.isOver) throw tooMany(state, SIGN_INS);
    },
    async countSignup(address) {
      if (signupsPerAddress === 0) return async () => {};
      const block = addressBlock(address);
      const state = await signups.consume(block);
      if (state.isOver) throw tooMany(state, 'sign-ups from this address');
      return () => signups.giveBack(block);
    },
    async countLink(organizationId) {
      const state = await links.consume(organizationId);
      if (state.isOver) throw tooMany(state, 'invitations and links for new passwords');
    },
    async know(account, address) {
      if (isRedisAway()) return;
      await remember(queue, knownKey(pairOf(account, addressBlock(address))), KNOWN_ADDRESS_SECONDS);
    },
  };
}

/** Redis holds no list of email addresses. */
function nameOf(account: string): string {
  return digest(account);
}

function pairOf(account: string, block: string): string {
  return nameOf(`${account} ${block}`);
}

const FAILURES = 'failed attempts';
const SIGN_INS = 'sign-ins to this account from this address';

function tooMany({ msToReset }: LimitState, what: string): Refusal {
  const retryAfterSeconds = Math.max(1, Math.ceil(msToReset / 1_000));
  const detail = `There were too many ${what}: try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`;
  return new Refusal('rate_limited', detail, { retryAfterSeconds });
}
