import { expect, test } from 'vitest';
import { drainSeconds } from './apps.ts';

test.each([
  [{}, 20],
  [{ DRAIN_DELAY_MS: '0' }, 15],
  [{ DRAIN_DELAY_MS: '0', DRAIN_TIMEOUT_MS: '60000' }, 65],
  [{ DRAIN_DELAY_MS: '7000', DRAIN_TIMEOUT_MS: '' }, 22],
])('an app with %j may take %i s to stop: longer than it gives itself', (env, seconds) => {
  expect(drainSeconds(env)).toBe(seconds);
});
