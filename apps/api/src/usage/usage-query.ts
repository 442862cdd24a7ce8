// Reads a query of usage, and finds the window of time that it means.

import type { Database, Queries } from '@weir/db/database';
import { findCustomer } from '@weir/db/customers';
import { findMetersByToken } from '@weir/db/events';
import { findMeter, type Meter } from '@weir/db/meters';
import { findMoveInTheWay } from '@weir/db/moves/usage-moves';
import { Refusal } from '@weir/shared/errors';
import { text } from '@weir/shared/text';
import { DEFAULT_DAYS, GROUPINGS, planningWindow, type Window, type WindowQuery } from '@weir/shared/window';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { oneOf } from '../http/fields.ts';
import { found, invalidFields } from '../http/problem.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import { groupQuery } from './group-query.ts';

const DATES = 'ISO 8601 with an offset (write + as %2B), or a bare date in the time zone.';

export const windowQuery = {
  start_date: z
    .string()
    .optional()
    .meta({
      description: `Usage counts from this instant on. ${DATES} Default: the midnight ${DEFAULT_DAYS} days before the end.`,
    }),
  end_date: z
    .string()
    .optional()
    .meta({
      description: `Usage counts until before this instant; a bare date includes that day. ${DATES} Default: now; events of a clock that is ahead are in it once that is past.`,
    }),
  timezone: z.string().default('UTC').meta({ description: 'A time zone of the IANA database, such as Europe/Berlin.' }),
};

/** A window that is divided into calendar periods. */
export const chartQuery = {
  ...windowQuery,
  group_by: oneOf(GROUPINGS).default('day').meta({ description: 'Weeks are those of ISO 8601: they begin on Monday.' }),
};

export const usageQuery = z.strictObject({
  ...chartQuery,
  ...groupQuery,
  customer_id: z
    .guid('must be the id of a customer record')
    .toLowerCase()
    .optional()
    .meta({ description: 'The id of the record.' }),
  customer_external_id: text(1, LIMITS.key)
    .optional()
    .meta({ description: 'Your own identifier; no record is needed.' }),
});

/**
 * The window that a query means, planned between the turns of others and charged to the caller; throws a Refusal for a query
 * that means none.
 */
export async function windowOf(turns: Turns, request: FastifyRequest, query: WindowQuery): Promise<Window> {
  const window = await inTurns(turns, planningWindow(query, Date.now()));
  if ('problem' in window) throw invalidFields([window.problem]);
  request.pay(window.periods.length);
  return window;
}

export async function getMeter(database: Database, organizationId: string, id: string): Promise<Meter> {
  return found(await findMeter(database.kysely, organizationId, id));
}

export async function getMeterByToken(database: Database, organizationId: string, token: string): Promise<Meter> {
  const known = (await findMetersByToken(database, [token])).get(token);
  const meter =
    known?.organizationId === organizationId ? await findMeter(database.kysely, organizationId, known.id) : undefined;
  if (meter === undefined) throw noSuchMeterToken();
  return meter;
}

export function noSuchMeterToken(): Refusal {
  return new Refusal('meter_not_found', 'Your organization has no meter with this meter_token: check the token.');
}

/** The customer that a query asks for, by the identifier that usage is recorded under; undefined for all customers. */
export async function externalIdOf(
  database: Database,
  organizationId: string,
  query: { customer_id?: string | undefined; customer_external_id?: string | undefined },
): Promise<string | undefined> {
  const { customer_id: id, customer_external_id: externalId } = query;
  if (id === undefined) {
    if (externalId !== undefined) await refuseMoving(database.kysely, organizationId, externalId);
    return externalId;
  }
  if (externalId !== undefined) {
    throw invalidFields([
      { path: 'customer_id', message: 'must not be sent together with customer_external_id: send one of them' },
    ]);
  }
  const customer = await findCustomer(database.kysely, organizationId, id);
  if (customer === undefined) {
    throw new Refusal(
      'not_found',
      'Your organization has no customer with this customer_id: check the id, or send customer_external_id.',
    );
  }
  await refuseMoving(database.kysely, organizationId, customer.external_id);
  return customer.external_id;
}

/** Detail of the refusal to read half of some usage. */
export const USAGE_MOVING =
  'This usage is just being moved to another external_id: try again when the erasure or the move, whose id is here, is DONE.';

/** Refuses to read the usage of a customer while a part of it is somewhere else. */
export async function refuseMoving(db: Queries, organizationId: string, externalId: string): Promise<void> {
  const id = await findMoveInTheWay(db, organizationId, externalId);
  if (id !== undefined) throw new Refusal('usage_moving', USAGE_MOVING, { id });
}
