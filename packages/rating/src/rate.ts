// Computes what a charge comes to, exactly. `POST /charges/evaluate`, drafts, finalization and recompute all ask here, so that they
// cannot differ. Next: settle.ts makes the amount of a line of it.

import type {
  ChargeTerms,
  FixedTerms,
  GraduatedTerms,
  PackageTerms,
  Tier,
  UsageTerms,
  VolumeTerms,
} from './charge-terms.ts';
import { average } from '@weir/shared/decimal';
import {
  add,
  ceiling,
  compare,
  divide,
  type Exact,
  formatExact,
  max,
  min,
  multiply,
  parseExact,
  subtract,
  whole,
  ZERO,
} from './exact.ts';

/** The rules that new lines are rated by. A rule that changes gets a new version; lines keep theirs. */
export const RATING_VERSION = 3;

/** For how many local dates of its period a due is in force: `22/31`. */
export interface Days {
  inForce: number;
  inPeriod: number;
}

export interface UsageOfDue {
  /** What the meter reads, as a decimal; `0` where it reads nothing. An average is rounded, to be shown. */
  quantity: string;
  /** The same before it was rounded: a decimal, or `n/d`. Missing where nothing was. */
  exact?: string | undefined;
  eventCount: bigint;
}

export interface Rated {
  exact: Exact;
  /** How the amount came about, before minimum and maximum. */
  detail: RatedDetail | null;
}

/** Of graduated and volume the tiers that hold a part of the quantity, of package how many there are; else null. */
export type RatedDetail = TierDetail[] | { packages: string };

export interface TierDetail {
  up_to: string | null;
  quantity: string;
  exact_amount: string;
}

/**
 * Rates one due: its terms and its usage, and `days` where it is in force for only a part of its period. A version that is
 * given is that of a line from before. Throws on a version that there is not, and on terms and days that make no sense.
 */
export function rate(terms: ChargeTerms, usage: UsageOfDue, days: Days | null, version = RATING_VERSION): Rated {
  const rule = RULES.get(version);
  if (rule === undefined) throw new Error(`unknown rating version: ${version}`);
  return rule(terms, usage, days);
}

type Rule = (terms: ChargeTerms, usage: UsageOfDue, days: Days | null) => Rated;

// A version stays as long as there are lines of it, which is for ever.
const RULES = new Map<number, Rule>([
  // An average was rounded to 12 digits before it was priced.
  [1, (terms, usage, days) => rateDue(terms, { ...usage, exact: usage.quantity }, shareOf(days), shareOf(days))],
  // Of a plan by the day that was changed the maximum was 0, and so was all usage of the date before the change.
  [2, (terms, usage, days) => rateDue(terms, usage, shareOf(days), shareOf(days))],
  [3, (terms, usage, days) => rateDue(terms, usage, shareOf(days), shareOf(isOfOneDate(days) ? null : days))],
]);

/** Only a plan by the day has such periods. Which plan the date counts for is a question of what is billed by dates; usage has a time. */
const isOfOneDate = (days: Days | null): boolean => days?.inPeriod === 1;

function rateDue(terms: ChargeTerms, usage: UsageOfDue, share: Exact, shareOfMaximum: Exact): Rated {
  return terms.type === 'FIXED' ? rateFixed(terms, share) : rateUsage(terms, usage, share, shareOfMaximum);
}

function shareOf(days: Days | null): Exact {
  if (days === null) return whole(1n);
  const { inForce, inPeriod } = days;
  if (!(inForce >= 0 && inForce <= inPeriod && inPeriod > 0)) throw new Error(`not a share: ${inForce}/${inPeriod}`);
  return divide(whole(BigInt(inForce)), whole(BigInt(inPeriod)));
}

function rateFixed({ unit_price }: FixedTerms, share: Exact): Rated {
  return { exact: multiply(parseExact(unit_price), share), detail: null };
}

/** Usage is cut at the instant, so the shares are taken of its bounds alone. */
function rateUsage(terms: UsageTerms, usage: UsageOfDue, share: Exact, shareOfMaximum: Exact): Rated {
  const rated = rateByModel(terms, parseExact(usage.exact ?? usage.quantity), usage.eventCount);
  const { minimum_amount, maximum_amount } = terms;
  let { exact } = rated;
  if (minimum_amount !== null) exact = max(exact, multiply(parseExact(minimum_amount), share));
  if (maximum_amount !== null) exact = min(exact, multiply(parseExact(maximum_amount), shareOfMaximum));
  return { exact, detail: rated.detail };
}

function rateByModel(terms: UsageTerms, quantity: Exact, eventCount: bigint): Rated {
  switch (terms.model) {
    case 'per_unit':
      return {
        exact: multiply(beyond(quantity, terms.included_units), parseExact(terms.unit_price)),
        detail: null,
      };
    case 'graduated':
      return rateGraduated(terms, quantity);
    case 'volume':
      return rateVolume(terms, quantity);
    case 'package':
      return ratePackages(terms, quantity);
    case 'percentage': {
      const percent = multiply(beyond(quantity, terms.included_units), parseExact(terms.rate));
      const fixed = multiply(whole(eventCount), parseExact(terms.fixed_amount ?? '0'));
      return { exact: add(divide(percent, whole(100n)), fixed), detail: null };
    }
  }
}

/** The part of a quantity that is not included in the price. */
function beyond(quantity: Exact, includedUnits: string | null): Exact {
  return max(ZERO, subtract(quantity, parseExact(includedUnits ?? '0')));
}

function rateGraduated({ tiers }: GraduatedTerms, quantity: Exact): Rated {
  const detail: TierDetail[] = [];
  let [exact, from] = [ZERO, ZERO];
  for (const tier of tiers) {
    if (compare(quantity, from) <= 0) return { exact, detail };
    const to = tier.up_to === null ? quantity : min(quantity, parseExact(tier.up_to));
    const part = priceTier(tier, subtract(to, from));
    exact = add(exact, part.exact);
    detail.push(part.detail);
    from = to;
  }
  if (compare(quantity, from) > 0) throw new Error('the last tier has an end');
  return { exact, detail };
}

function rateVolume({ tiers }: VolumeTerms, quantity: Exact): Rated {
  if (compare(quantity, ZERO) <= 0) return { exact: ZERO, detail: [] };
  const tier = tiers.find(({ up_to }) => up_to === null || compare(quantity, parseExact(up_to)) <= 0);
  if (tier === undefined) throw new Error('the last tier has an end');
  const { exact, detail } = priceTier(tier, quantity);
  return { exact, detail: [detail] };
}

function priceTier(tier: Tier, quantity: Exact): { exact: Exact; detail: TierDetail } {
  const exact = add(multiply(quantity, parseExact(tier.unit_price)), parseExact(tier.flat_fee));
  return {
    exact,
    detail: { up_to: tier.up_to, quantity: shownQuantity(quantity), exact_amount: formatExact(exact) },
  };
}

/** A part of an average may have no end: it is rounded as the average is shown, and priced as it is. */
function shownQuantity(quantity: Exact): string {
  const text = formatExact(quantity);
  return text.includes('/') ? average(String(quantity.n), quantity.d) : text;
}

function ratePackages({ unit_price, package_size, included_units }: PackageTerms, quantity: Exact): Rated {
  const packages = ceiling(divide(beyond(quantity, included_units), parseExact(package_size)));
  return { exact: multiply(whole(packages), parseExact(unit_price)), detail: { packages: String(packages) } };
}
