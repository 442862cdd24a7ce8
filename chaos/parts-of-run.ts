// How the time of a run is divided.

/** Of a run with hostile clients: so much of it without them, to compare with, and so much with them and without faults. */
export const CALM_SHARE = 0.2;
export const HOSTILE_SHARE = 0.2;

/** How long faults are made. */
export function secondsOfFaults({ seconds, isHostile }: { seconds: number; isHostile: boolean }): number {
  return isHostile ? seconds * (1 - CALM_SHARE - HOSTILE_SHARE) : seconds;
}

/** What is away for longest of all. Whoever starts meanwhile waits for it. */
export const REDIS_AWAY_SECONDS_MAX = 300;
