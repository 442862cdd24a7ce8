import { expect, test } from 'vitest';
import { decide, type Decision, type Look } from './postgres-operator.ts';

const followed: Look = { isThere: true, isFollowed: true };
const alone: Look = { isThere: true, isFollowed: false };
const refuses: Look = { isThere: false, isSilent: false };
const silent: Look = { isThere: false, isSilent: true };

/** As seen for so many milliseconds. */
function seen(look: Look, ms: number) {
  return { look, since: { away: ms, unfollowed: ms } };
}

test.for<[string, ReturnType<typeof seen>, ReturnType<typeof seen>, boolean, Decision]>([
  ['all is well', seen(followed, 0), seen(alone, 9_000), true, undefined],
  ['a primary that refuses for a moment', seen(refuses, 50), seen(alone, 9_000), true, undefined],
  ['a primary that refuses', seen(refuses, 200), seen(alone, 9_000), true, 'promote'],
  ['a primary that is silent for a moment', seen(silent, 400), seen(alone, 9_000), true, undefined],
  ['a primary that is silent', seen(silent, 800), seen(alone, 9_000), true, 'promote'],
  ['a standby that may lack what was acknowledged', seen(refuses, 9_000), seen(alone, 9_000), false, undefined],
  ['both away', seen(refuses, 9_000), seen(refuses, 9_000), true, undefined],
  ['a standby that is gone', seen(alone, 200), seen(refuses, 200), true, 'wait for nobody'],
  ['a standby that is silent', seen(followed, 0), seen(silent, 800), true, 'wait for nobody'],
  ['a standby that gets nothing', seen(alone, 800), seen(alone, 9_000), true, 'wait for nobody'],
  ['a standby that is back', seen(followed, 0), seen(alone, 9_000), false, 'wait for the standby'],
  ['a standby that is not back', seen(alone, 9_000), seen(refuses, 9_000), false, undefined],
])('the operator of Postgres, on %s', ([, primary, standby, isSync, decision]) => {
  expect(decide(primary, standby, isSync)).toBe(decision);
});
