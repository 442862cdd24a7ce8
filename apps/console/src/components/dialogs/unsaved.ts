import { createContext, useContext, useLayoutEffect, type Dispatch, type SetStateAction } from 'react';

/** Given to the forms in it by what asks before it goes: how many of them have something typed that would be lost. */
export const Unsaved = createContext<Dispatch<SetStateAction<number>>>(() => {});

/** Tells what is around a form whether something is typed in it that would be lost. */
export function useUnsaved(isUnsaved: boolean): void {
  const count = useContext(Unsaved);
  useLayoutEffect(() => {
    if (!isUnsaved) return undefined;
    count((before) => before + 1);
    return () => count((before) => before - 1);
  }, [isUnsaved, count]);
}
