// What a worker does of alerts: takes what has changed, reads what it has come to, and writes down which thresholds are reached. All of
// that is one transaction, so whoever dies leaves what he took to whoever comes next; and a unique key keeps each crossing one, so it
// does not matter how many look, or how often. The feed is told in the same transaction. What is too much for one is noted again in it.
//
// What is read is read after it was taken. So it has all that was committed before, and what is committed later has rows of its own.

import { compare, parseExact } from '@weir/rating/exact';
import { newId } from '@weir/shared/ids';
import { sql } from 'kysely';
import { appendFeed } from '../billing/feed.ts';
import { isLockTimeout, isTimedOut, type Database, type Queries } from '../database.ts';
import type { MonthTakenOut } from '../months-taken-out.ts';
import { BEFORE_ALL } from '../moves/usage-moves.ts';
import { findCustomers } from './alerts.ts';
import { deleteCrossings, lookOn } from './look-on.ts';
import {
  findLooks,
  readLooks,
  type ActiveAlert,
  type Look,
  type Reading,
  type Threshold,
  type Untold,
} from './looks.ts';
import { SlowUsage } from './slow-usage.ts';
import { asOne, joinTouched, takeTouched, touchAgain, type TakenUsage, type Taking } from './touched-usage.ts';

/** What a turn of an organization came to. */
export interface AlertsTurn {
  crossings: number;
  /** Why some of what has changed could not be told, once for each month. It is told when that usage changes again. */
  untold: MonthTakenOut[];
  /** Of how many customers usage was left out, since it alone takes too long to be read. It is tried again. */
  tooLong: number;
  /** Whether there is more to do. */
  hasLeft: boolean;
}

/**
 * Goes on with all that waits of an organization until the time is over; one step of each kind at least. Changes are looked for from one
 * on (find-alert-work.ts). What takes too long to be read is learnt, and holds up nothing else. Throws what Postgres says.
 */
export async function performAlerts(
  database: Database,
  organizationId: string,
  milliseconds: number,
  from = '0',
  slow = new SlowUsage(),
): Promise<AlertsTurn> {
  const until = performance.now() + milliseconds;
  let crossings = 0;
  let tooLong = 0;
  const untold = new Map<string, MonthTakenOut>();
  // Whoever opens a period stands behind a look that waits. So one that was kept off is tried again in the next turn only.
  let mayLook = true;
  const take = async (taking: Omit<Taking, 'from'>): Promise<Took> => {
    const took = await crossTaken(database, organizationId, { ...taking, from }, slow);
    crossings += took.crossings;
    for (const why of took.untold) untold.set(why.month, why);
    if (took.tooLong !== undefined) tooLong += 1;
    return took;
  };
  for (let limit = TAKEN_MIN; ; limit *= 4) {
    const most = Math.min(limit, slow.changesMax(organizationId));
    const taken = await take({ limit: most, without: slow.customersOf(organizationId) });
    mayLook &&= await lookOn(database, organizationId);
    const hasDeleted = await deleteCrossings(database.kysely, organizationId);
    const hasLeft = taken.rows > 0 || mayLook || hasDeleted;
    if (hasLeft && performance.now() <= until) continue;
    // One in a turn, which may take as long as a statement may, behind what others wait for.
    const customer = slow.nextDue(organizationId);
    if (customer !== undefined) {
      const took = await take({ limit: TAKEN_MAX, only: customer });
      if (took.tooLong !== undefined) await joinTouched(database.kysely, organizationId, { from, customer });
      else if (took.isInOtherHands !== true) slow.wasRead(organizationId, customer);
    }
    return { crossings, untold: [...untold.values()], tooLong, hasLeft };
  }
}

/**
 * So many changes are taken at once, and four times as many after each time: a worker that was killed while it had many in hand begins with few
 * that it gets done, however slow the machine is and however often workers die. Those of one customer and meter are one look.
 */
const TAKEN_MIN = 50;
const TAKEN_MAX = 500;

/** So many looks are read at once, and of one subscription at least: a customer may have any number of subscriptions. */
const LOOKS_MAX = 2_000;

/**
 * So many crossings are written down at once, with the feed, and of one subscription at least. Each change may reach every threshold that
 * there is, and of amounts those of every subscription.
 */
const REACHED_MAX = 10_000;

async function limitOf(db: Queries, organizationId: string, limit: number): Promise<number> {
  const { rows } = await sql<{ thresholds: number | null }>`
    SELECT sum(cardinality(thresholds))::int AS thresholds FROM alerts
    WHERE organization_id = ${organizationId}::uuid AND status = 'ACTIVE'`.execute(db);
  const fitting = Math.ceil(REACHED_MAX / (rows[0]?.thresholds ?? 1));
  return Math.min(limit, TAKEN_MAX, Math.max(TAKEN_MIN, fitting));
}

/** What has come of changes that were taken. */
interface Took {
  rows: number;
  crossings: number;
  untold: MonthTakenOut[];
  /** The customer whose usage alone took too long. */
  tooLong?: string | undefined;
  /** Another worker tries the one customer that was to be taken: nothing is known of it by that. */
  isInOtherHands?: true;
}

/** Usage of what was taken takes longer to be read than a statement may. */
class TookTooLong extends Error {
  readonly taken: TakenUsage;

  constructor(taken: TakenUsage) {
    super('usage took too long to be read');
    this.taken = taken;
  }
}

/** What took too long is there again, as if it had not been taken. */
async function crossTaken(database: Database, organizationId: string, taking: Taking, slow: SlowUsage): Promise<Took> {
  try {
    return await crossAll(database, organizationId, taking);
  } catch (error) {
    if (taking.only !== undefined && isLockTimeout(error))
      return { rows: 0, crossings: 0, untold: [], isInOtherHands: true };
    if (!(error instanceof TookTooLong)) throw error;
    const tooLong = slow.tookTooLong(organizationId, error.taken);
    return { rows: error.taken.rows, crossings: 0, untold: [], tooLong };
  }
}

/** What does not fit into the transaction is noted again in it, so it is as safe as what was taken. */
async function crossAll({ kysely }: Database, organizationId: string, taking: Taking): Promise<Took> {
  return await kysely.transaction().execute(async (transaction) => {
    const limit = await limitOf(transaction, organizationId, taking.limit);
    const taken = await takeTouched(transaction, organizationId, { ...taking, limit });
    if (taken.rows === 0) return { rows: 0, crossings: 0, untold: [] };
    const { looks, readings } = await readTaken(transaction, organizationId, taken);
    const { reached, done } = reachedOf(readings);
    await touchAgain(transaction, organizationId, leftOf(taken, looks, done));
    const untold = readings.slice(0, done).flatMap((reading) => ('why' in reading ? [reading.why] : []));
    return { rows: taken.rows, crossings: await cross(transaction, organizationId, reached), untold };
  });
}

/** What there is to look at, and what the first of it has come to. Waiting for others, as for the feed, is no part of it. */
async function readTaken(transaction: Queries, organizationId: string, taken: TakenUsage) {
  try {
    const looks = await findLooks(transaction, organizationId, taken);
    return { looks, readings: await readLooks(transaction, organizationId, firstOf(looks, LOOKS_MAX)) };
  } catch (error) {
    throw isTimedOut(error) ? new TookTooLong(taken) : error;
  }
}

/** The first of them, with all of the last subscription. */
function firstOf(looks: readonly Look[], count: number): Look[] {
  let end = count;
  while (end < looks.length && isOfOne(looks[end - 1], looks[end])) end += 1;
  return looks.slice(0, end);
}

function isOfOne(one: Look | undefined, other: Look | undefined): boolean {
  return one?.customer === other?.customer && one?.period.subscription_id === other?.period.subscription_id;
}

/** A threshold that is reached. */
interface Reached extends Reading {
  id: string;
  alert: ActiveAlert;
  threshold: string;
}

/** Which thresholds are reached, and how many of the readings they are of: as many as fit, and all of the last subscription. */
function reachedOf(readings: readonly (Reading | Untold)[]): { reached: Reached[]; done: number } {
  const reached: Reached[] = [];
  for (let done = 0; done < readings.length;) {
    let end = done + 1;
    while (end < readings.length && isOfOne(readings[done]?.look, readings[end]?.look)) end += 1;
    const more = readings.slice(done, end).flatMap(reachedBy);
    if (reached.length > 0 && reached.length + more.length > REACHED_MAX) return { reached, done };
    for (const each of more) reached.push(each);
    done = end;
  }
  return { reached, done: readings.length };
}

/** Alerts and their thresholds are in order, so that what is not reached costs nothing. */
function reachedBy(reading: Reading | Untold): Reached[] {
  if ('why' in reading) return [];
  const value = parseExact(reading.exact);
  const isReached = (threshold: Threshold | undefined) =>
    threshold !== undefined && compare(value, threshold.exact) >= 0;
  const reached: Reached[] = [];
  for (const alert of reading.look.alerts) {
    if (!isReached(alert.thresholds[0])) break;
    for (const threshold of alert.thresholds) {
      if (!isReached(threshold)) break;
      reached.push({ ...reading, id: newId(), alert, threshold: threshold.text });
    }
  }
  return reached;
}

/** What was taken and is not looked at yet. */
function leftOf({ customers }: TakenUsage, looks: readonly Look[], done: number) {
  const last = looks[done - 1];
  return [...new Set(looks.slice(done).map(({ customer }) => customer))].flatMap((customer) => {
    const rows = customers.get(customer)?.rows ?? [];
    return customer === last?.customer ? asOne(rows, last.period.subscription_id ?? BEFORE_ALL) : rows;
  });
}

/** Writes down what is reached and was not before, and tells the feed. Returns how many thresholds. */
async function cross(transaction: Queries, organizationId: string, reached: readonly Reached[]): Promise<number> {
  if (reached.length === 0) return 0;
  const customers = await findCustomers(transaction, organizationId, new Set(reached.map(({ look }) => look.customer)));
  const idOf = (customer: string) => customers.get(customer)?.id ?? null;
  const isNew = await insertCrossings(transaction, organizationId, reached, idOf);
  const crossed = reached.filter(({ id }) => isNew.has(id));
  await appendFeed(
    transaction,
    organizationId,
    crossed.map(({ id, alert, look: { customer, period }, threshold, value }) => ({
      type: 'usage.threshold_reached',
      actor: 'weir',
      data: {
        id,
        alert_id: alert.id,
        name: alert.name,
        customer_id: customers.get(customer)?.id ?? null,
        customer_external_id: customer,
        meter_id: alert.meter_id,
        subscription_id: period.subscription_id,
        currency: alert.meter_id === null ? period.currency : null,
        period_start: period.period_start,
        period_end: period.period_end,
        threshold,
        value,
      },
    })),
  );
  return crossed.length;
}

/**
 * Returns the ids of those that were not there. Months that begin within two days are one, by clocks of different time zones; and so they
 * are of one record, whatever external id its usage is under. Alerts are held as they are until the transaction ends: once it was answered
 * that one is turned off, changed or deleted, nothing crosses it as it was. A period that was over when somebody asked for an alert is not
 * told of.
 */
async function insertCrossings(
  transaction: Queries,
  organizationId: string,
  reached: readonly Reached[],
  idOf: (customer: string) => string | null,
): Promise<Set<string>> {
  const column = (of: (each: Reached) => string | null) => reached.map(of);
  const isMonthOf = sql`known.organization_id = ${organizationId}::uuid AND known.alert_id = asked.alert_id
    AND known.threshold = asked.threshold AND known.subscription_id IS NULL
    AND known.period_start BETWEEN asked.period_start - interval '2 days' AND asked.period_start + interval '2 days'`;
  const { rows } = await sql<{ id: string }>`
    WITH held AS MATERIALIZED (
      SELECT id, thresholds, told_from FROM alerts
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (${[...new Set(column(({ alert }) => alert.id))]}::uuid[])
        AND status = 'ACTIVE'
      ORDER BY id FOR SHARE
    )
    INSERT INTO alert_crossings (organization_id, id, alert_id, customer_external_id, customer_id, subscription_id, currency,
      period_start, period_end, threshold, value, time_zone)
    SELECT ${organizationId}::uuid, asked.*
    FROM unnest(${column(({ id }) => id)}::uuid[], ${column(({ alert }) => alert.id)}::uuid[],
      ${column(({ look }) => look.customer)}::text[], ${column(({ look }) => idOf(look.customer))}::uuid[],
      ${column(({ look }) => look.period.subscription_id)}::uuid[],
      ${column(({ alert, look }) => (alert.meter_id === null ? look.period.currency : null))}::text[],
      ${column(({ look }) => look.period.period_start)}::timestamptz[], ${column(({ look }) => look.period.period_end)}::timestamptz[],
      ${column(({ threshold }) => threshold)}::numeric[], ${column(({ value }) => value)}::numeric[],
      ${column(({ look }) => look.period.time_zone)}::text[])
      AS asked (id, alert_id, customer, customer_id, subscription_id, currency, period_start, period_end, threshold, value, time_zone)
    JOIN held ON held.id = asked.alert_id AND asked.threshold = ANY (held.thresholds) AND asked.period_end >= held.told_from
    WHERE asked.subscription_id IS NOT NULL OR (
      NOT EXISTS (SELECT FROM alert_crossings AS known
        WHERE ${isMonthOf} AND known.currency IS NULL AND known.customer_external_id = asked.customer)
      AND NOT EXISTS (SELECT FROM alert_crossings AS known WHERE ${isMonthOf} AND known.customer_id = asked.customer_id))
    ORDER BY asked.alert_id, asked.customer, asked.subscription_id, asked.period_start, asked.threshold
    ON CONFLICT DO NOTHING RETURNING id`.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}
