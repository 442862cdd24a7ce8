import type { Page } from 'playwright-core';

/** Holds requests of a page back until they are let go by what is returned. */
export async function holdBack(page: Page, address: string | RegExp | ((url: URL) => boolean)): Promise<() => void> {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  await page.route(address, async (route) => {
    await opened;
    await route.continue();
  });
  return open;
}
