// Whether the session has ended under an open page. The page stays, with what was typed, and the sign-in lies over it.

import { useSyncExternalStore } from 'react';

let isOver = false;
const listeners = new Set<() => void>();

/** Says that an answer refused the session, or that there is a new one. */
export function setSessionOver(value: boolean): void {
  isOver = value;
  for (const listener of listeners) listener();
}

export function useSessionOver(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOver,
  );
}
