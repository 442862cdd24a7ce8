import { useBlocker } from '@tanstack/react-router';
import { isSessionOfAnother } from '../../api/session.ts';

interface Place {
  pathname: string;
  search: unknown;
}

/** Without the part behind the #, which leads to a place on the page. */
const placeOf = ({ pathname, search }: Place): string => pathname + JSON.stringify(search);

/**
 * Holds back whoever leads to another page while something is unsaved, until it is said whether to go. A whole page that is left or loaded
 * anew asks by the browser.
 */
export function useLeaving(isUnsaved: boolean, { isWholePage }: { isWholePage: boolean }) {
  return useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && placeOf(current) !== placeOf(next),
    enableBeforeUnload: () => isWholePage && isUnsaved && !isSessionOfAnother(),
    withResolver: true,
  });
}

/** Has the browser ask before the whole page is left or loaded anew. What is kept stays over a change to another page of the console. */
export function useKept(isKept: boolean): void {
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: () => isKept && !isSessionOfAnother() });
}
