import type { Locator, Page } from 'playwright-core';
import { until } from '../harness.ts';

/** As long as the console waits before the second attempt of a read. */
const STEP_MS = 1_000;

/**
 * Resolves once something is shown on a page whose clock is installed, or is not any more. Meanwhile that clock is ahead of the real one:
 * what the console waits for between the attempts of a read, and before it goes on without an answer, nobody waits for.
 */
export async function untilLater(page: Page, shown: Locator, state: 'visible' | 'hidden' = 'visible'): Promise<void> {
  await until(
    async () => {
      if ((await shown.first().isVisible()) === (state === 'visible')) return true;
      await page.clock.runFor(STEP_MS);
      return false;
    },
    `${String(shown)} is ${state}`,
  );
}
