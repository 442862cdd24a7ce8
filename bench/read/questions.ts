// What is asked: every endpoint that reads, each time about another customer and another window.

export interface Asked {
  meterIds: string[];
  usersMeterId: string;
  /** Of records; the external id of the nth is `customer-n`. */
  customerIds: string[];
  eventIds: string[];
  days: number;
  /** When the last event was, in milliseconds since 1970. */
  until: number;
}

export interface Question {
  title: string;
  /** Whether a person asks it, with a session, and not a service. */
  isForPeople?: boolean;
  /** The path of the nth request. */
  path(asked: Asked, n: number): string;
}

const DAY_MS = 86_400_000;
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata'];

/** Dates from the first whole day on; the end is now, or a few days earlier, so that windows differ. */
function windowOf({ days, until }: Asked, n: number, timezone: string): Record<string, string> {
  const start = new Date(until - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const back = n % 4;
  const end = back === 0 ? {} : { end_date: new Date(until - back * DAY_MS).toISOString().slice(0, 10) };
  return { start_date: start, ...end, timezone };
}

const query = (values: Record<string, string>): string => new URLSearchParams(values).toString();
const pick = (list: string[], n: number): string => list[(n * 7_919) % list.length] ?? '';
const customerOf = ({ customerIds }: Asked, n: number): string => `customer-${(n * 7_919) % customerIds.length}`;

function charts(whose: 'customer' | 'meter', group_by: 'day' | 'hour', ofUsers: boolean): Question[] {
  return ZONES.map((zone) => ({
    title: `${ofUsers ? 'distinct users' : 'usage'} of ${whose === 'customer' ? 'a customer' : 'a whole meter'} by ${group_by}, ${zone}`,
    path(asked, n) {
      const meter = ofUsers ? asked.usersMeterId : pick(asked.meterIds, n);
      const customer = whose === 'customer' ? { customer_external_id: customerOf(asked, n) } : {};
      return `meters/${meter}/usage?${query({ ...windowOf(asked, n, zone), group_by, ...customer })}`;
    },
  }));
}

export const QUESTIONS: readonly Question[] = [
  ...charts('customer', 'day', false),
  ...charts('customer', 'hour', false),
  ...charts('meter', 'day', false),
  ...charts('meter', 'hour', false),
  ...charts('customer', 'day', true),
  ...charts('meter', 'day', true),
  ...[false, true].map((ofUsers) => ({
    title: `customers of a meter${ofUsers ? ', by distinct users' : ''}`,
    path: (asked: Asked, n: number) =>
      `meters/${ofUsers ? asked.usersMeterId : pick(asked.meterIds, n)}/customers?${query(windowOf(asked, n, 'UTC'))}`,
  })),
  {
    title: 'customers of a meter, last 30 days until now',
    path: (asked, n) => `meters/${pick(asked.meterIds, n)}/customers`,
  },
  {
    title: 'all meters of a customer',
    path: (asked, n) => `customers/${pick(asked.customerIds, n)}/usage?${query(windowOf(asked, n, 'UTC'))}`,
  },
  { title: 'how the organization stands', isForPeople: true, path: () => 'overview' },
  { title: 'events', path: () => 'events?limit=100' },
  { title: 'events of a meter', path: (asked, n) => `events?${query({ meter_id: pick(asked.meterIds, n) })}` },
  {
    title: 'events of a customer',
    path: (asked, n) => `events?${query({ customer_external_id: customerOf(asked, n) })}`,
  },
  {
    title: 'events of a customer and meter',
    path: (asked, n) =>
      `events?${query({ meter_id: pick(asked.meterIds, n), customer_external_id: customerOf(asked, n) })}`,
  },
  { title: 'events of nobody', path: (_, n) => `events?${query({ customer_external_id: `nobody-${n}` })}` },
  { title: 'receipt of an event', path: (asked, n) => `events/${pick(asked.eventIds, n)}` },
];
