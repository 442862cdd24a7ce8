// An organization with very many rows in each table that a list is read from: behind the back of the API, within a second.

import { createHash } from 'node:crypto';

/** An organization, and how many rows of each table it has. */
export interface Filled {
  organization: string;
  rows: number;
}

/** So many of them are what few are: of another kind, or about the same thing. */
export const FEW_OF_A_KIND = 5;

/** When the first was made; the others follow, one a minute. */
export const FIRST_AT = '2025-01-01T00:00:00Z';

/** The id of a thing of the organization, by a name or by a name and a number. */
export function idOf({ organization }: Filled, thing: string): string {
  const hex = createHash('md5').update(`${organization} ${thing}`).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** SQL that inserts the rows of an organization. What they refer to is there once all of them are. */
export function fillLists({ organization, rows }: Filled): string {
  const own = (thing: string) => `md5('${organization} ' || ${thing})::uuid`;
  const at = `(timestamptz '${FIRST_AT}' + make_interval(mins => n))`;
  const few = (place: number, theirs: string, others: string) =>
    `CASE WHEN n % ${rows / FEW_OF_A_KIND} = ${place} THEN ${theirs} ELSE ${others} END`;
  const group = (thing: string) => own(`'${thing} ' || (n - 1) / ${FEW_OF_A_KIND}`);
  const insert = (table: string, columns: Record<string, string>, count = rows) =>
    `INSERT INTO ${table} (organization_id, ${Object.keys(columns).join()})
     SELECT '${organization}', ${Object.values(columns).join()} FROM generate_series(1, ${count}) AS n`;
  return [
    'SET session_replication_role = replica',
    insert('customers', {
      id: own(`'customer ' || n`),
      external_id: `'customer ' || n`,
      name: `CASE WHEN n % 10 > 0 THEN 'Name ' || n % 500 END`,
    }),
    insert('plans', {
      id: own(`'plan ' || n`),
      name: `'Plan ' || n % 500`,
      lookup_id: `'plan-' || n`,
      type: `'FIXED'`,
      billing_interval: `'month'`,
      currency: `'USD'`,
    }),
    insert('charges', {
      id: own(`'charge ' || n`),
      plan_id: group('plan'),
      display_name: `'Base'`,
      type: `'FIXED'`,
      terms: `'{}'`,
      effective_from: at,
    }),
    insert(
      'subscriptions',
      {
        id: own(`'subscription ' || n`),
        customer_id: own(`'customer ' || n`),
        customer_external_id: `'customer ' || n`,
        plan_id: own(`'plan ' || n`),
        status: `'CANCELED'`,
        time_zone: `'UTC'`,
        currency: `'USD'`,
        billing_interval: `'month'`,
        billing_alignment: `'anniversary'`,
        start_at: at,
        anchor: `date '2025-01-01'`,
        anchor_at: at,
        cycle: '1',
        current_period_start: at,
        current_period_end: at,
      },
      rows / FEW_OF_A_KIND,
    ),
    insert(
      'dues',
      {
        subscription_id: own(`'subscription ' || n`),
        cycle: '1',
        charge_id: own(`'charge ' || n`),
        display_name: `'Base'`,
        customer_external_id: `'customer ' || n`,
        terms: `'{}'`,
        period_start: at,
        period_end: at,
        days_in_force: '1',
        days_in_period: '1',
      },
      rows / FEW_OF_A_KIND,
    ),
    insert('subscription_periods', {
      subscription_id: own(`'subscription ' || 1 + (n - 1) / ${FEW_OF_A_KIND}`),
      cycle: 'n',
      plan_id: group('plan'),
      period_start: at,
      period_end: `${at} + interval '1 minute'`,
    }),
    insert('invoices', {
      id: own(`'invoice ' || n`),
      kind: `'SUBSCRIPTION'`,
      status: `'OPEN'`,
      subscription_id: own(`'subscription ' || 1 + (n - 1) / ${FEW_OF_A_KIND}`),
      customer_id: group('customer'),
      cycle: 'n',
      currency: `'USD'`,
      period_start: at,
      period_end: at,
      invoice_number: `'INV-' || n`,
      issue_date: `date '2025-01-01'`,
      total: '1',
      credits_applied: '0',
      amount_paid: '0',
    }),
    insert('payments', { id: own(`'payment ' || n`), invoice_id: group('invoice'), amount: '1', paid_at: at }),
    insert('credit_grants', {
      id: own(`'grant ' || n`),
      customer_id: group('customer'),
      currency: `'USD'`,
      amount: '1',
      remaining: '1',
      created_at: at,
    }),
    insert('credit_entries', { grant_id: own(`'grant ' || n`), id: own(`'entry ' || n`), kind: `'DRAW'`, amount: '1' }),
    insert('audit_entries', {
      id: `first_event_id(${at})`,
      action: few(0, `'plan.create'`, `'customer.update'`),
      resource_type: `'customer'`,
      actor_id: few(1, own(`'few user'`), own(`'user'`)),
      resource_id: few(2, own(`'few resource'`), own(`'resource ' || n`)),
      actor_type: `'user'`,
      is_done: 'true',
    }),
    insert('corrections', {
      event_id: own(`'event ' || n`),
      id: `first_event_id(${at})`,
      reason: `'wrong'`,
      amended_by: `CASE WHEN n % 2 = 0 THEN ${own(`'amend ' || n`)} END`,
      closing: '1',
      actor: `'weir'`,
    }),
    insert('billing_events', {
      sequence: 'n',
      type: `'invoice.created'`,
      created_at: at,
      actor: `'weir'`,
      data: `'{}'`,
    }),
    ...['endpoint', 'few endpoint'].map((thing) =>
      insert(
        'webhook_endpoints',
        { id: own(`'${thing}'`), url: `''`, secret: `''`, last_sequence: '0', held_by: own(`'turn'`) },
        1,
      ),
    ),
    // Many are made in one transaction.
    insert('webhook_deliveries', {
      id: own(`'delivery ' || n`),
      endpoint_id: few(2, own(`'few endpoint'`), own(`'endpoint'`)),
      sequence: 'n',
      status: few(0, `'FAILED'`, few(1, `'PENDING'`, `'DELIVERED'`)),
      next_attempt_at: at,
      created_at: `timestamptz '${FIRST_AT}' + make_interval(mins => n / 100)`,
    }),
    ...['alert', 'few alert'].map((thing) =>
      insert('alerts', { id: own(`'${thing}'`), name: `''`, thresholds: `'{1}'` }, 1),
    ),
    insert('alert_crossings', {
      id: own(`'crossing ' || n`),
      alert_id: few(0, own(`'few alert'`), own(`'alert'`)),
      customer_external_id: `'customer ' || n`,
      period_start: at,
      period_end: at,
      threshold: '1',
      value: '1',
    }),
    insert('usage_moves', {
      id: own(`'move ' || n`),
      kind: few(0, `'MOVE'`, `'ERASE'`),
      from_external_id: few(0, `'former'`, 'NULL'),
      to_external_id: `'customer ' || n`,
      finished_at: at,
    }),
    'RESET session_replication_role',
  ].join(';\n');
}
