// What Weir holds of billing when a run is over: rows as they stand, and nothing that was computed from them. Numbers are texts,
// instants are in UTC to the microsecond, organizations and meters are indexes of the history.

/** A customer on a plan. */
export interface StoredSubscription {
  id: string;
  organization: number;
  timeZone: string;
  status: string;
  /** The open period, or the last one; null in a trial. */
  cycle: number | null;
  endedAt: string | null;
  /** Whether its next boundary is past. */
  isDue: boolean;
}

export interface StoredPeriod {
  subscription: string;
  cycle: number;
  plan: string;
  start: string;
  end: string;
}

/** What one charge comes to for one period. */
export interface StoredDue {
  subscription: string;
  cycle: number;
  charge: string;
  organization: number;
  /** -1 for a fixed price. */
  meter: number;
  customer: string;
  start: string;
  end: string;
  /** Null while it takes events. */
  closing: number | null;
}

export interface StoredInvoice {
  id: string;
  organization: number;
  status: string;
  subscription: string;
  cycle: number | null;
  number: string | null;
  total: string | null;
  finalizedAt: string | null;
  /** Whether it is a draft whose grace is over. */
  isDue: boolean;
}

export interface StoredLine {
  id: string;
  invoice: string;
  /** Of the due that it settles; null on a line that an admin added. */
  subscription: string | null;
  cycle: number | null;
  charge: string | null;
  quantity: string | null;
  eventCount: number | null;
  amount: string;
  closing: number | null;
}

/** An event that came after a closing of its time. */
export interface StoredLate {
  event: string;
  closing: number;
}

export interface StoredGrant {
  id: string;
  organization: number;
  amount: string;
}

export interface StoredPayment {
  id: string;
  invoice: string;
  amount: string;
  reference: string | null;
  isTakenBack: boolean;
}

export interface StoredFeedEvent {
  organization: number;
  sequence: number;
  type: string;
  createdAt: string;
  data: Record<string, unknown>;
}

/** An event of the feed for an endpoint of webhooks. */
export interface StoredDelivery {
  endpoint: string;
  sequence: number;
  attempts: number;
  /** When the first of those that were written down began, in whole seconds as its signature has it; null: there is none. */
  firstAt: number | null;
}

/** What the API says of a due that is open: in a draft, or in the period under way. */
export interface OpenReading {
  subscription: string;
  cycle: number;
  charge: string;
  quantity: string;
}

export interface StoredAlert {
  id: string;
  organization: number;
}

export interface BillingState {
  subscriptions: StoredSubscription[];
  periods: StoredPeriod[];
  dues: StoredDue[];
  invoices: StoredInvoice[];
  lines: StoredLine[];
  late: StoredLate[];
  /** Events that were voided after a closing that reaches past their time: the last closing that counts them. */
  voided: StoredLate[];
  grants: StoredGrant[];
  payments: StoredPayment[];
  feed: StoredFeedEvent[];
  alerts: StoredAlert[];
  deliveries: StoredDelivery[];
  open: OpenReading[];
}

export function emptyBillingState(): BillingState {
  return {
    subscriptions: [],
    periods: [],
    dues: [],
    invoices: [],
    lines: [],
    late: [],
    voided: [],
    grants: [],
    payments: [],
    feed: [],
    alerts: [],
    deliveries: [],
    open: [],
  };
}

/** What a due is known by. */
export function dueName({
  subscription,
  cycle,
  charge,
}: Pick<OpenReading, 'subscription' | 'cycle' | 'charge'>): string {
  return `${subscription} cycle ${cycle} charge ${charge}`;
}

/** The same of a line; undefined where it settles no due. */
export function dueOf({ subscription, cycle, charge }: StoredLine): string | undefined {
  if (subscription === null || cycle === null || charge === null) return undefined;
  return dueName({ subscription, cycle, charge });
}

/** Lists by a name. */
export function listsBy<T>(all: readonly T[], nameOf: (each: T) => string | undefined): Map<string, T[]> {
  const lists = new Map<string, T[]>();
  for (const each of all) {
    const name = nameOf(each);
    if (name === undefined) continue;
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [each]);
    else list.push(each);
  }
  return lists;
}
