// Makes events of every kind: quantities that no float holds, times that are late, left out or in another zone.

import { countsValues } from '@weir/shared/meter';
import type { SentEvent } from '../history.ts';
import type { Random } from '../random.ts';
import { CUSTOMER_IDS, type Organization } from './made-organizations.ts';
import { isGrouped, REGIONS } from './regions.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Most events are of the last hours; the rollups of these are where all workers meet. */
const RECENT_MS = 3 * HOUR_MS;
const LATE_MS = 40 * DAY_MS;

/** As late as events of a run that bills may be, by its time: for periods that are closed, in which they are billed as late. */
const BILLED_RECENT_MS = 12 * HOUR_MS;
const BILLED_LATE_MS = 6 * DAY_MS;

const USERS = 300;

/** An event of some meter of the organization; one of a UNIQUE_COUNT meter may lack what that counts. */
export function makeEvent(
  random: Random,
  organization: Organization,
  identity: { key: string } | { mark: string },
): SentEvent {
  const meter = random.int(0, organization.meters.length - 1);
  return { ...identity, ...makeEventOf(random, organization, meter) };
}

/** The same of a meter by its index, with nothing that it is known by. */
export function makeEventOf(random: Random, organization: Organization, meter: number): SentEvent {
  const { aggregation = 'SUM' } = organization.meters[meter] ?? {};
  const hasValue = countsValues(aggregation);
  const { billingTime } = organization;
  const timestamp = billingTime === undefined ? makeTimestamp(random) : makeBilledTimestamp(random, billingTime.now());
  const userId = hasValue && !random.chance(0.06) ? makeUserId(random) : undefined;
  const region = isGrouped(aggregation) && random.chance(0.8) ? random.pick(REGIONS) : undefined;
  return {
    meter,
    customer: random.pick(CUSTOMER_IDS),
    quantity: hasValue ? '1' : makeQuantity(random),
    ...(timestamp !== undefined && { timestamp }),
    ...(userId !== undefined && { userId }),
    ...(region !== undefined && { region }),
  };
}

/** Another payload for the key of an event. */
export function changePayload(random: Random, event: SentEvent): SentEvent {
  if (random.chance(0.5)) return { ...event, quantity: `${event.quantity === '7' ? 8 : 7}` };
  return { ...event, customer: `${event.customer}-other` };
}

/** The metadata of an event, where it has some. */
export function metadataOf({ mark, userId, region }: SentEvent): object | undefined {
  const isEmpty = mark === undefined && userId === undefined && region === undefined;
  return isEmpty ? undefined : { mark, user_id: userId, region };
}

/** The event as the body of a request; `token` is its meter's. */
export function bodyOf(event: SentEvent, token: string): string {
  const fields = JSON.stringify({
    meter_token: token,
    customer_external_id: event.customer,
    timestamp: event.timestamp,
    idempotency_key: event.key,
    metadata: metadataOf(event),
  });
  // By hand, so that the digits reach the service as they were made.
  return `${fields.slice(0, -1)},"quantity":${event.quantity}}`;
}

export function tokenOf(organization: Organization, event: SentEvent): string {
  return organization.meters[event.meter]?.token ?? 'a-token-of-no-meter';
}

function makeUserId(random: Random): string | number {
  const user = random.int(1, USERS);
  return random.chance(0.2) ? user : String(user);
}

function makeQuantity(random: Random): string {
  switch (random.int(0, 5)) {
    case 0:
      return '0.1';
    case 1:
      return '12.345678';
    case 2:
      return `${random.int(1, 9)}.${random.int(0, 9)}e${random.int(-9, 3)}`;
    case 3:
      return `${random.int(0, 999)}.${String(random.int(1, 999_999)).padStart(6, '0')}`;
    default:
      return String(random.int(1, 1_000));
  }
}

/** Most are of the day, some of a period that is closed, some of one that nobody has opened yet, and never left out. */
function makeBilledTimestamp(random: Random, now: number): string {
  const kind = random.int(0, 19);
  const isLate = kind % 5 === 0;
  const isAhead = kind === 1;
  // The smaller of two: periods that are just being closed get more of them than those that have been for long.
  const lateMs = () => Math.min(random.int(0, BILLED_LATE_MS), random.int(0, BILLED_LATE_MS));
  const age = isLate ? lateMs() : random.int(isAhead ? -DAY_MS : 0, BILLED_RECENT_MS);
  return writeTimestamp(kind, random, now - age);
}

function makeTimestamp(random: Random): string | undefined {
  const kind = random.int(0, 19);
  if (kind < 4) return undefined;
  const age = kind === 4 ? random.int(0, LATE_MS / 1_000) * 1_000 : random.int(-5 * MINUTE_MS, RECENT_MS);
  return writeTimestamp(kind, random, Date.now() - age);
}

/** In the form of its `kind`, from 0 to 19: most are in the usual one. */
function writeTimestamp(kind: number, random: Random, epochMs: number): string {
  const iso = new Date(epochMs).toISOString();
  if (kind < 8) return `${iso.slice(0, -1)}${String(random.int(0, 999)).padStart(3, '0')}Z`;
  // One digit more than is kept; it must be cut and not rounded.
  if (kind === 8) return `${iso.slice(0, -1)}9999Z`;
  if (kind === 9) return `${new Date(epochMs + 2 * HOUR_MS).toISOString().slice(0, -1)}+02:00`;
  return iso;
}
