import { createContext, useContext, useLayoutEffect } from 'react';

/** Given by a dialog to what is in it: whether nothing closes it for now. */
export const HoldOpen = createContext<(isHeld: boolean) => void>(() => {});

/** Holds the dialog around it open while a write is on its way: who closed it would not hear what became of it. */
export function useHeldOpen(isBusy: boolean): void {
  const hold = useContext(HoldOpen);
  useLayoutEffect(() => {
    if (!isBusy) return undefined;
    hold(true);
    return () => hold(false);
  }, [isBusy, hold]);
}
