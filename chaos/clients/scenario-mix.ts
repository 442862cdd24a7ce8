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

/** Begins one scenario after another, of every kind in its share. */
export class Mix {
  readonly #context: ClientContext;

  constructor(sender: Sender, organizations: readonly Organization[], random: Random) {
    this.#context = new ClientContext(sender, organizations, random);
  }

  /** Begins the next scenario; resolves when each of its requests is settled. */
  next(signal: AbortSignal): Promise<void> {
    return this.#context.random.pick(SCENARIOS_BY_SHARE)(this.#context, signal);
  }

  /** Sends some events to this API, and a moment later to the others. */
  race(api: number, signal: AbortSignal): Promise<void> {
    return trackInTurn(this.#context, signal, api);
  }

  /** Reads what is there to be read to the end, as a client does that has nothing else to do. */
  readToTheEnd(signal: AbortSignal): Promise<void> {
    return readFeedsToTheEnd(this.#context, signal);
  }
}
