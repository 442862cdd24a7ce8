import { useBlocker, useNavigate, type NavigateOptions, type UseNavigateResult } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { isSessionOfAnother } from '../../api/session.ts';
import type { Risk } from './at-risk.ts';
import { useIsThere } from './is-there.ts';

interface Place {
  pathname: string;
  search: unknown;
}

/** Without the part behind the #, which leads to a place on the page. */
const placeOf = ({ pathname, search }: Place): string => pathname + JSON.stringify(search);

/**
 * Holds back whoever leads to another page while something is at risk, until it is said whether to go. A whole page that is left or loaded
 * anew asks by the browser. Where the risk is another one meanwhile the question goes, since what is said beneath it has changed.
 */
export function useLeaving(risk: Risk | undefined, { isWholePage }: { isWholePage: boolean }) {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => risk !== undefined && placeOf(current) !== placeOf(next),
    enableBeforeUnload: () => isWholePage && risk !== undefined && !isSessionOfAnother(),
    withResolver: true,
  });
  // As it was before the render that changes it.
  const before = useRef({ risk, ...leaving });
  useEffect(() => {
    before.current = { risk, ...leaving };
  });
  // What has asked is gone, as a dialog whose form was taken. The address is where the reader wanted to go, unless something was made
  // that is shown once: that stands on this page by now.
  useEffect(() => {
    return () => (before.current.risk === 'shown once' ? before.current.reset : before.current.proceed)?.();
  }, []);
  useEffect(() => {
    if (risk === undefined) return undefined;
    return () => before.current.reset?.();
  }, [risk]);
  return leaving;
}

/** Has the browser ask before the whole page is left or loaded anew. What is kept stays over a change to another page of the console. */
export function useKept(isKept: boolean): void {
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: () => isKept && !isSessionOfAnother() });
}

/**
 * Leads on to where the success of what was sent is shown: without the question that it asks while it is sent, and nobody who has left the
 * page meanwhile.
 */
export function useOnward(): UseNavigateResult<string> {
  const navigate = useNavigate();
  const isThere = useIsThere();
  return useCallback(
    (options: NavigateOptions) => (isThere() ? navigate({ ...options, ignoreBlocker: true }) : Promise.resolve()),
    [navigate, isThere],
  ) as UseNavigateResult<string>;
}
