import { makeAlert } from './alerting.ts';
import type { Random } from '../random.ts';
import { comeAndGoOfCustomer, liveAndDieOfKey } from './administration.ts';
import {
  changeSubscription,
  endInvoice,
  takePaymentBack,
  finalizeDraft,
  followFeed,
  grantCredit,
  payOneOfEach,
  readFeedsToTheEnd,
  recomputeInvoice,
  settleEnded,
  subscribe,
} from './billing.ts';
import { ClientContext } from './client-context.ts';
import { correctEvent } from './correcting.ts';
import type { Organization } from './made-organizations.ts';
import { listEvents, readAcross, readReceipt, readUsage, replayRejected } from './reading.ts';
import { trackRefused } from './refusals.ts';
import type { Sender } from './sender.ts';
import {
  trackAgain,
  trackBatch,
  trackContested,
  trackInTurn,
  trackKeyed,
  trackKeyless,
  trackTwiceAtOnce,
  trackUnderTakenKey,
} from './tracking.ts';

type Scenario = (context: ClientContext, signal: AbortSignal) => Promise<void>;

/** How many of a thousand scenarios are of which kind. */
const SCENARIOS: [Scenario, number][] = [
  [trackKeyed, 613],
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
  [correctEvent, 15],
  [liveAndDieOfKey, 3],
  [comeAndGoOfCustomer, 2],
  [changeSubscription, 2],
  [subscribe, 4],
  [finalizeDraft, 3],
  [endInvoice, 4],
  [takePaymentBack, 1],
  [grantCredit, 2],
  [makeAlert, 1],
  [settleEnded, 1],
  [recomputeInvoice, 2],
  [followFeed, 2],
];

const SCENARIOS_BY_SHARE = SCENARIOS.flatMap(([scenario, count]) => Array.from({ length: count }, () => scenario));

const TRACKING: ReadonlySet<Scenario> = new Set([
  trackKeyed,
  trackKeyless,
  trackTwiceAtOnce,
  trackContested,
  trackAgain,
  trackUnderTakenKey,
  trackBatch,
  trackRefused,
]);

/**
 * Up to so many scenarios a second all grow in their shares, and beyond it tracking alone. Ten times the usage is not ten times the
 * admins, and four organizations are four callers: they would ask for more at once than a caller may, and be refused.
 */
const OTHERS_GROW_UNTIL = 150;

/** One of the scenarios, by their shares. */
export function pickScenario(random: Random, perSecond: number): Scenario {
  const scenario = random.pick(SCENARIOS_BY_SHARE);
  if (perSecond <= OTHERS_GROW_UNTIL || TRACKING.has(scenario)) return scenario;
  return random.chance(OTHERS_GROW_UNTIL / perSecond) ? scenario : trackKeyed;
}

/** Begins one scenario after another, of every kind in its share. */
export class Mix {
  readonly #context: ClientContext;
  readonly #perSecond: number;

  /** `perSecond`: how many scenarios begin. */
  constructor(sender: Sender, organizations: readonly Organization[], random: Random, perSecond: number) {
    this.#context = new ClientContext(sender, organizations, random);
    this.#perSecond = perSecond;
  }

  /** Begins the next scenario; resolves when each of its requests is settled. */
  next(signal: AbortSignal): Promise<void> {
    return pickScenario(this.#context.random, this.#perSecond)(this.#context, signal);
  }

  /** Sends some events to this API, and a moment later to the others. */
  race(api: number, signal: AbortSignal): Promise<void> {
    return trackInTurn(this.#context, signal, api);
  }

  /**
   * Does once what is so rare that a short run may have drawn none of it, and reads the feeds to their end, as a client does that has
   * nothing else to do.
   */
  async finish(signal: AbortSignal): Promise<void> {
    await Promise.all([payOneOfEach(this.#context, signal), readUsage(this.#context, signal)]);
    await readFeedsToTheEnd(this.#context, signal);
  }
}
