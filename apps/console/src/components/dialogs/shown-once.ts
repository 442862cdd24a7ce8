import { useState } from 'react';
import { notify } from '../outcomes/notices.tsx';
import { useIsThere } from './is-there.ts';

/**
 * What is shown once, for the component that shows it. It comes to nobody who has left by then: those are told by `lost` that it was made,
 * and what to do, since nobody can show it again.
 */
export function useShownOnce<Value>(lost: (value: Value) => string) {
  const [shown, setShown] = useState<Value>();
  const isThere = useIsThere();
  return {
    shown,
    show(value: Value): void {
      if (isThere()) setShown(value);
      else notify(lost(value), 'bad');
    },
    putAway: () => setShown(undefined),
  };
}
