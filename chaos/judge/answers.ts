import { Tally, type Check } from './check.ts';
import { lostEventsOf, mayHaveLostClaim, type Facts, type Flaw } from './history-facts.ts';

/** Each request is answered with a status that it may get. */
export function answersAreExpected(facts: Facts): Check {
  const tally = new Tally(
    'statuses',
    'Every answer has a status that its request may get; no request is answered with an internal error.',
  );
  tally.examine(facts.attempts.filter(({ status }) => status > 0).length);
  const lost = lostEventsOf(facts);
  for (const { at, what, status, subject = '' } of facts.unexpected) {
    if (status === 404 && lost.has(subject)) continue;
    // Redis may have lost the tombstone of a key, and with it the promise that the key is refused at once.
    const isRevokedKey = what.includes('(track') && mayHaveLostClaim(facts, at - TOMBSTONE_MS, at);
    if (!isRevokedKey) tally.violate(`at ${at} ms ${what}`);
  }
  return tally.check;
}

/** A key that was deleted is looked up anew after this, whether Redis knows of it or not. */
const TOMBSTONE_MS = 15_000;

/** Each answer has the form that the interface gives it. */
export function answersAreWellFormed(facts: Facts): Check {
  const tally = new Tally('forms', 'Every 503 says when to come back, and every refusal has a code and a detail.');
  tally.examine(facts.attempts.filter(({ status }) => status >= 400).length);
  violateAll(tally, facts.malformed);
  return tally.check;
}

/** Each request that is retried has its answer in the end. */
export function requestsAreSettled(facts: Facts): Check {
  const tally = new Tally('settled', 'Every keyed event had a definite answer once all was healed.');
  tally.examine(facts.stories.size);
  violateAll(tally, facts.unsettled);
  return tally.check;
}

function violateAll(tally: Tally, flaws: Flaw[]): void {
  for (const { at, what } of flaws) tally.violate(`at ${at} ms ${what}`);
}
