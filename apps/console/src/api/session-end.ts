// Whether the session has ended under an open page. The page stays, with what was typed, and the sign-in lies over it.

import { useSyncExternalStore } from 'react';

let isOver = false;
let beganAt = 0;
const listeners = new Set<() => void>();

function set(value: boolean): void {
  isOver = value;
  for (const listener of listeners) listener();
}

/** Says that the session was refused to a request of `askedAt`: one from before the last sign-in says nothing of this session. */
export function noteSessionOver(askedAt: number): void {
  if (askedAt >= beganAt) set(true);
}

/** Says that there is a session, in whichever tab it began, or that none is needed. */
export function noteSession(): void {
  beganAt = performance.now();
  set(false);
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
