import { newId } from '@weir/shared/ids';
import type pg from 'pg';

/** What the API wrote for one subscription, to be copied. */
export interface Template {
  organizationId: string;
  subscriptionId: string;
}

/**
 * Makes more customers, `customer-1` and so on, until there are so many subscriptions with that of the template, each with all that
 * the API wrote for that one: thousands are there in seconds. The template's customer is `customer-0`.
 */
export async function fillSubscriptions(client: pg.Client, template: Template, subscriptions: number): Promise<void> {
  const { organizationId, subscriptionId } = template;
  const ids = Array.from({ length: subscriptions - 1 }, () => newId());
  await client.query('BEGIN');
  await client.query(
    `CREATE TEMPORARY TABLE copies ON COMMIT DROP AS
     SELECT id, gen_random_uuid() AS customer_id, 'customer-' || n AS customer_external_id, n
     FROM unnest($1::uuid[]) WITH ORDINALITY AS copy (id, n)`,
    [ids],
  );
  await client.query(
    `INSERT INTO customers (organization_id, id, external_id, name)
     SELECT $1, customer_id, customer_external_id, 'Customer ' || n FROM copies`,
    [organizationId],
  );
  for (const [table, changes] of [
    ['subscriptions', `'id', id, 'customer_id', customer_id, 'customer_external_id', customer_external_id`],
    ['subscription_periods', `'subscription_id', id`],
    ['dues', `'subscription_id', id, 'customer_external_id', customer_external_id`],
    ['billed_meters', `'subscription_id', id, 'customer_external_id', customer_external_id`],
  ] as const) {
    const whose = table === 'subscriptions' ? 'id' : 'subscription_id';
    await client.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(original, jsonb_build_object(${changes}))).*
       FROM copies CROSS JOIN LATERAL (
         SELECT original FROM ${table} AS original WHERE organization_id = $1 AND ${whose} = $2 OFFSET 0) AS its (original)`,
      [organizationId, subscriptionId],
    );
  }
  // The feed tells of each, as if each had been made through the API.
  await client.query(
    `INSERT INTO billing_events SELECT (jsonb_populate_record(original, jsonb_build_object('sequence', last_sequence + n,
       'data', jsonb_set(original.data, '{id}', to_jsonb(copies.id::text), false)))).*
     FROM copies, billing_events AS original JOIN billing_feeds USING (organization_id)
     WHERE organization_id = $1 AND original.sequence = last_sequence`,
    [organizationId],
  );
  await client.query(`UPDATE billing_feeds SET last_sequence = last_sequence + $2 WHERE organization_id = $1`, [
    organizationId,
    ids.length,
  ]);
  await client.query('COMMIT');
}
