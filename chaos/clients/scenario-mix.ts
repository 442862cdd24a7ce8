import type { Random } from '../random.ts';
import { comeAndGoOfCustomer, liveAndDieOfKey } from './administration.ts';
import { Cast } from './client-context.ts';
import type { Organization } from './organizations.ts';
import { listEvents, readAcross, readReceipt, readUsage, replayRejected } from './reading.ts';
import { trackRefused } from './refusals.ts';
import type { Sender } from './sender.ts';
import {
  trackAgain,
  trackBatch,
  trackContested,
  trackKeyed,
  trackKeyless,
  trackTwiceAtOnce,
  trackUnderTakenKey,
} from './tracking.ts';

type Scene = (cast: Cast, signal: AbortSignal) => Promise<void>;

/** How many of a thousand scenes are of which kind. */
const SCENES: [Scene, number][] = [
  [trackKeyed, 650],
  [trackKeyless, 80],
  [trackTwiceAtOnce, 50],
  [trackContested, 15],
  [trackAgain, 50],
  [trackUnderTakenKey, 20],
  [trackBatch, 15],
  [trackRefused, 55],
  [readReceipt, 25],
  [readUsage, 6],
  [listEvents, 4],
  [readAcross, 15],
  [replayRejected, 10],
  [liveAndDieOfKey, 3],
  [comeAndGoOfCustomer, 2],
];

const DECK = SCENES.flatMap(([scene, count]) => Array.from({ length: count }, () => scene));

/** Plays one scene after another, of every kind in its share. */
export class Mix {
  readonly #cast: Cast;

  constructor(sender: Sender, organizations: readonly Organization[], random: Random) {
    this.#cast = new Cast(sender, organizations, random);
  }

  /** Begins the next scene; resolves when each of its requests is settled. */
  next(signal: AbortSignal): Promise<void> {
    return this.#cast.random.pick(DECK)(this.#cast, signal);
  }
}
