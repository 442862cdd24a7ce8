import { useCallback, useEffect, useRef } from 'react';

/** Returns whether the component is there still, for what goes on once an answer has come. */
export function useIsThere(): () => boolean {
  const isThere = useRef(true);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
    };
  }, []);
  return useCallback(() => isThere.current, []);
}
