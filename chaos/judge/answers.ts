import { Check } from './check.ts';
import { isComparedWithReplay, lostEventsOf, mayHaveLostClaim, type Facts, type Flaw } from './history-facts.ts';
import { TurnsOfReaders } from './turns-of-readers.ts';

/** Each request is answered with a status that it may get. */
export function answersAreExpected(facts: Facts): Check {
  const check = new Check(
    'statuses',
    'Every answer has a status that its request may get; no request is answered with an internal error.',
  );
  check.examine(facts.attempts.filter(({ status }) => status > 0).length);
  const lost = lostEventsOf(facts);
  const turns = new TurnsOfReaders(facts);
  for (const { at, what, status, subject = '', expect = [], held, attempt } of facts.unexpected) {
    if (status === 404 && lost.has(subject)) continue;
    if (status === 429 && attempt !== undefined && turns.mayBeRefused(attempt)) continue;
    if (status === 422 && held !== undefined && attempt !== undefined) {
      if (isComparedWithReplay(facts, { ...attempt, id: held })) continue;
    }
    // Redis may have lost that a key was revoked, and with it the promise that the key is refused at once.
    const isTakenRevoked = attempt?.operation === 'track' && isAlone(expect, 401) && (status === 201 || status === 409);
    if (!isTakenRevoked || !mayHaveLostClaim(facts, at - REVOCATION_MS, at)) check.violate(`at ${at} ms ${what}`);
  }
  return check;
}

function isAlone(expect: readonly number[], status: number): boolean {
  return expect.length === 1 && expect[0] === status;
}

/** A key that was deleted is looked up anew after this, whether Redis knows of it or not. */
const REVOCATION_MS = 15_000;

/** Each answer has the form that the interface gives it. */
export function answersAreWellFormed(facts: Facts): Check {
  const check = new Check(
    'forms',
    'Every 503 and 429 says when to come back, and every refusal has a code and a detail.',
  );
  check.examine(facts.attempts.filter(({ status }) => status >= 400).length);
  violateAll(check, facts.malformed);
  return check;
}

/** Each request that is retried has its answer in the end. */
export function requestsAreSettled(facts: Facts): Check {
  const check = new Check('settled', 'Every keyed event had a definite answer once all was healed.');
  check.examine(facts.keyHistories.size);
  violateAll(check, facts.unsettled);
  return check;
}

function violateAll(check: Check, flaws: Flaw[]): void {
  for (const { at, what } of flaws) check.violate(`at ${at} ms ${what}`);
}
