import { ApiError } from './problem.ts';

/** Longer nobody waits to hear why something did not open. */
const ANSWER_MS_MAX = 10_000;

/**
 * Loads a part of the console. Where that cannot be done, it throws an ApiError that says why: `weir_updated`, since a newer version
 * has other files, or `part_not_loaded`. Some browsers do not ask again for a file that failed once: a reload always does.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    const code = (await isUpdated()) ? 'weir_updated' : 'part_not_loaded';
    // By a message of the browser's the router would know it, and reload the page unasked.
    throw new ApiError({ code, detail: `A part of the console could not be loaded: ${String(error)}` });
  }
}

/** Whether Weir serves another console by now than the one that is open. */
async function isUpdated(): Promise<boolean> {
  const entry = document.querySelector('script[type="module"]')?.getAttribute('src') ?? '';
  try {
    const page = await fetch('/', { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return page.ok && !(await page.text()).includes(entry);
  } catch {
    return false;
  }
}

/** Whether it goes by a reload of the page alone. */
export const isToReload = (code: string): boolean => code === 'weir_updated' || code === 'part_not_loaded';
