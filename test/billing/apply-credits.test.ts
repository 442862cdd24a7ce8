// What invoices draw of credits, and the ledger behind it: granted = drawn − returned + expired + voided + remaining, for each
// grant at any time, whatever is finalized at once.

import { applyCredits } from '@weir/db/billing/credits/apply-credits';
import { returnCredits } from '@weir/db/billing/credits/return-credits';
import type { Database } from '@weir/db/database';
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { insertSubscriptionRow } from '../support/billing-fixture.ts';
import { insertDraftRow } from '../support/billing-rows.ts';
import { setBillingTime, shiftBillingTime } from '../support/billing-time.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let database: Database;
let planId: string;

beforeAll(async () => {
  admin = await signUp(weir);
  database = openTestDatabase(weir, 20);
  const plan = { name: 'Plan', lookup_id: 'plan', type: 'FIXED', billing_interval: 'month', currency: 'USD' };
  planId = await post('/plans', plan);
});
afterAll(() => database.close());

const post = async (path: string, body?: object): Promise<string> => (await admin.call('POST', path, body)).id;

/** A customer with a subscription. */
interface Customer {
  id: string;
  grant(amount: string, fields?: object): Promise<string>;
  draft(): Promise<string>;
  /** Finalizes one invoice for each amount, in one transaction, as far as credits go; returns what was drawn for each. */
  pay(...amountsDue: bigint[]): Promise<bigint[]>;
  giveBack(invoiceId: string): Promise<void>;
  /** What is left of the grants, in the order in which they were granted. */
  remaining(): Promise<string[]>;
}

async function newCustomer(currency = 'USD'): Promise<Customer> {
  const id = await post('/customers', {});
  const subscriptionId = await insertSubscriptionRow(weir.pool, admin.id, {
    planId,
    customer: { id, external_id: id },
    currency,
  });
  const draft = () => insertDraftRow(weir.pool, { organizationId: admin.id, subscriptionId, customerId: id, currency });
  return {
    id,
    grant: (amount, fields) => post(`/customers/${id}/credits`, { amount, currency, ...fields }),
    draft,
    async pay(...amountsDue) {
      const ids: string[] = [];
      for (const _ of amountsDue) ids.push(await draft());
      const invoices = amountsDue.map((amountDue, index) => ({
        id: ids[index] ?? '',
        customerId: id,
        currency,
        amountDue,
      }));
      const { applied } = await inTransaction((transaction) => applyCredits(transaction, admin.id, invoices));
      return ids.map((invoice) => applied.get(invoice) ?? -1n);
    },
    giveBack: (invoiceId) =>
      inTransaction(async (transaction) => void (await returnCredits(transaction, admin.id, invoiceId))),
    async remaining() {
      const path = `/api/v1/customers/${id}/credits`;
      const { body } = await weir.request('GET', path, { session: admin.session });
      return (body.grants as { remaining: string }[]).map(({ remaining }) => remaining).toReversed();
    },
  };
}

const inTransaction: ReturnType<Database['kysely']['transaction']>['execute'] = (work) =>
  database.kysely.transaction().execute(work);

/** The grants for which the ledger does not add up: none, ever. */
async function unbalanced(): Promise<unknown[]> {
  const { rows } = await weir.pool.query(`
    SELECT grants.id, amount, remaining, drawn, returned, voided FROM credit_grants AS grants
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount) FILTER (WHERE kind = 'DRAW'), 0) AS drawn,
        coalesce(sum(amount) FILTER (WHERE kind = 'RETURN'), 0) AS returned,
        coalesce(sum(amount) FILTER (WHERE kind = 'VOID'), 0) AS voided
      FROM credit_entries AS entries
      WHERE entries.organization_id = grants.organization_id AND entries.grant_id = grants.id
    ) AS ledger
    WHERE remaining < 0 OR grants.amount <> drawn - returned + voided + remaining`);
  return rows;
}

const entriesOf = async (column: 'invoice_id' | 'grant_id', id: string) =>
  (
    await weir.pool.query(
      `SELECT grant_id, kind, amount FROM credit_entries WHERE ${column} = $1 ORDER BY created_at, id`,
      [id],
    )
  ).rows as { grant_id: string; kind: string; amount: string }[];

test('smaller priority is drawn first, then what expires earlier, none last, then what is older', async () => {
  const customer = await newCustomer();
  const late = await customer.grant('1.00', { priority: 5, expires_at: '2099-01-01T00:00:00Z' });
  const older = await customer.grant('1.00');
  const newer = await customer.grant('1.00');
  const soon = await customer.grant('1.00', { expires_at: '2098-01-01T00:00:00Z' });
  const later = await customer.grant('1.00', { expires_at: '2098-01-01T00:00:00.000001Z' });
  const order: (string | undefined)[] = [];
  for (let drawn = 0; drawn < 5; drawn += 1) {
    const invoice = await customer.draft();
    await inTransaction((transaction) =>
      applyCredits(transaction, admin.id, [{ id: invoice, customerId: customer.id, currency: 'USD', amountDue: 100n }]),
    );
    order.push(...(await entriesOf('invoice_id', invoice)).map(({ grant_id }) => grant_id));
  }
  expect(order).toEqual([soon, later, older, newer, late]);
});

test('as much as is due is drawn, or all that there is', async () => {
  const customer = await newCustomer();
  await customer.grant('3.00');
  await customer.grant('2.50');
  expect(await customer.pay(400n)).toEqual([400n]);
  expect(await customer.remaining()).toEqual(['0.00', '1.50']);
  expect(await customer.pay(400n)).toEqual([150n]);
  expect(await customer.pay(400n)).toEqual([0n]);
});

test('several invoices that are finalized together draw in their order, and none twice', async () => {
  const customer = await newCustomer();
  await customer.grant('3.00');
  await customer.grant('2.00');
  expect(await customer.pay(200n, 200n, 200n, 200n)).toEqual([200n, 200n, 100n, 0n]);
  expect(await customer.remaining()).toEqual(['0.00', '0.00']);
});

test('nothing is drawn for an amount of zero or below, and one below gives', async () => {
  const customer = await newCustomer();
  await customer.grant('3.00');
  expect(await customer.pay(0n, -100n)).toEqual([0n, 0n]);
  expect(await customer.remaining()).toEqual(['3.00', '1.00']);
});

test('grants of another currency, of another customer and of another organization are not drawn', async () => {
  const [customer, other] = [await newCustomer(), await newCustomer()];
  await customer.grant('500', { currency: 'JPY' });
  await other.grant('5.00');
  expect(await customer.pay(100n)).toEqual([0n]);
  expect(await other.remaining()).toEqual(['5.00']);
  await customer.grant('5.00');
  const stranger = await signUp(weir);
  const invoice = await customer.draft();
  const { applied } = await inTransaction((transaction) =>
    applyCredits(transaction, stranger.id, [
      { id: invoice, customerId: customer.id, currency: 'USD', amountDue: 100n },
    ]),
  );
  expect(applied.get(invoice)).toBe(0n);
});

test('each customer of a chunk pays from its own grants, in its own currency', async () => {
  const [dollars, yen] = [await newCustomer(), await newCustomer('JPY')];
  await dollars.grant('1.00');
  await yen.grant('700');
  const [first, second] = [await dollars.draft(), await yen.draft()];
  const { applied } = await inTransaction((transaction) =>
    applyCredits(transaction, admin.id, [
      { id: first, customerId: dollars.id, currency: 'USD', amountDue: 5_000n },
      { id: second, customerId: yen.id, currency: 'JPY', amountDue: 500n },
    ]),
  );
  expect([applied.get(first), applied.get(second)]).toEqual([100n, 500n]);
  expect([await dollars.remaining(), await yen.remaining()]).toEqual([['0.00'], ['200']]);
});

test('a grant is drawn up to its expires_at, exclusive', async () => {
  const customer = await newCustomer();
  await customer.grant('5.00', { expires_at: '2100-01-01T00:00:00Z' });
  try {
    await setBillingTime(weir.pool, '2100-01-01T00:00:00Z');
    expect(await customer.pay(100n)).toEqual([0n]);
    await setBillingTime(weir.pool, '2099-12-31T23:59:59.999999Z');
    expect(await customer.pay(100n)).toEqual([100n]);
  } finally {
    await shiftBillingTime(weir.pool);
  }
});

test('a void grant is not drawn', async () => {
  const customer = await newCustomer();
  await post(`/credits/${await customer.grant('5.00')}/void`);
  expect(await customer.pay(100n)).toEqual([0n]);
});

test('what a transaction drew that is rolled back was never drawn', async () => {
  const customer = await newCustomer();
  const grant = await customer.grant('5.00');
  const invoice = await customer.draft();
  const failing = inTransaction(async (transaction) => {
    await applyCredits(transaction, admin.id, [
      { id: invoice, customerId: customer.id, currency: 'USD', amountDue: 100n },
    ]);
    throw new Error('the chunk fails');
  });
  await expect(failing).rejects.toThrow('the chunk fails');
  expect(await customer.remaining()).toEqual(['5.00']);
  expect(await entriesOf('grant_id', grant)).toEqual([]);
});

test('draws of a void invoice go back to their grants, once', async () => {
  const customer = await newCustomer();
  await customer.grant('3.00');
  const second = await customer.grant('2.00');
  const invoice = await customer.draft();
  await inTransaction((transaction) =>
    applyCredits(transaction, admin.id, [{ id: invoice, customerId: customer.id, currency: 'USD', amountDue: 400n }]),
  );
  await customer.giveBack(invoice);
  await customer.giveBack(invoice);
  expect(await customer.remaining()).toEqual(['3.00', '2.00']);
  expect(await entriesOf('grant_id', second)).toEqual([
    { grant_id: second, kind: 'DRAW', amount: '1.00' },
    { grant_id: second, kind: 'RETURN', amount: '1.00' },
  ]);
  expect(await customer.pay(500n)).toEqual([500n]);
});

test('a draw that comes back to a grant past its expires_at expires at once', async () => {
  const customer = await newCustomer();
  await customer.grant('3.00', { expires_at: '2100-01-01T00:00:00Z' });
  const invoice = await customer.draft();
  await inTransaction((transaction) =>
    applyCredits(transaction, admin.id, [{ id: invoice, customerId: customer.id, currency: 'USD', amountDue: 300n }]),
  );
  try {
    await setBillingTime(weir.pool, '2100-01-01T00:00:00Z');
    await customer.giveBack(invoice);
    expect(await customer.remaining()).toEqual(['0.00']);
    expect(await customer.pay(100n)).toEqual([0n]);
  } finally {
    await shiftBillingTime(weir.pool);
  }
  expect(await unbalanced()).toEqual([]);
});

test('a draw that comes back to a void grant is void at once', async () => {
  const customer = await newCustomer();
  const grant = await customer.grant('3.00');
  const invoice = await customer.draft();
  await inTransaction((transaction) =>
    applyCredits(transaction, admin.id, [{ id: invoice, customerId: customer.id, currency: 'USD', amountDue: 100n }]),
  );
  await post(`/credits/${grant}/void`);
  await customer.giveBack(invoice);
  expect(await customer.remaining()).toEqual(['0.00']);
  expect(await customer.pay(100n)).toEqual([0n]);
  const kinds = (await entriesOf('grant_id', grant)).map(({ kind, amount }) => `${kind} ${amount}`);
  expect(kinds).toEqual(['DRAW 1.00', 'VOID 2.00', 'RETURN 1.00', 'VOID 1.00']);
  expect(await unbalanced()).toEqual([]);
});

test('a total below zero becomes a grant of as much, which the next invoice draws', async () => {
  const customer = await newCustomer();
  const invoice = await customer.draft();
  const { granted } = await inTransaction((transaction) =>
    applyCredits(transaction, admin.id, [{ id: invoice, customerId: customer.id, currency: 'USD', amountDue: -123n }]),
  );
  expect(granted.get(invoice)).toEqual({
    credit_id: expect.any(String),
    customer_id: customer.id,
    currency: 'USD',
    amount: '1.23',
    invoice_id: invoice,
  });
  expect(await customer.remaining()).toEqual(['1.23']);
  expect(await customer.pay(200n)).toEqual([123n]);
});

test('a total below zero pays what was open before it, and only the rest of it pays what comes after', async () => {
  const customer = await newCustomer();
  const [open, first, below, last] = [
    await customer.draft(),
    await customer.draft(),
    await customer.draft(),
    await customer.draft(),
  ];
  const owing = (id: string, amountDue: bigint) => ({ id, customerId: customer.id, currency: 'USD', amountDue });
  const { applied, lowered } = await inTransaction((transaction) =>
    applyCredits(
      transaction,
      admin.id,
      [owing(first, 50n), owing(below, -200n), owing(last, 500n)],
      [owing(open, 30n), { ...owing(open, 900n), currency: 'EUR' }],
    ),
  );
  expect([applied.get(first), applied.get(below), applied.get(last)]).toEqual([50n, 0n, 120n]);
  expect([...lowered]).toEqual([[open, 30n]]);
  expect(await customer.remaining()).toEqual(['0.00']);
  expect(await unbalanced()).toEqual([]);
});

test('who finds a grant held by another waits, and draws what that one left', async () => {
  const customer = await newCustomer();
  await customer.grant('3.00');
  const [first, second] = [await customer.draft(), await customer.draft()];
  const payable = (id: string) => [{ id, customerId: customer.id, currency: 'USD', amountDue: 200n }];
  let commit = (): void => {};
  const committing = new Promise<void>((resolve) => (commit = resolve));
  let hasDrawn = (): void => {};
  const drawn = new Promise<void>((resolve) => (hasDrawn = resolve));
  const earlier = inTransaction(async (transaction) => {
    const { applied: result } = await applyCredits(transaction, admin.id, payable(first));
    hasDrawn();
    await committing;
    return result.get(first);
  });
  await drawn;
  const later = inTransaction((transaction) => applyCredits(transaction, admin.id, payable(second)));
  await until(async () => {
    const { rows } = await weir.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND query LIKE '%credit_grants%'`,
    );
    return rows.length === 1;
  }, 'the second one waits for the first');
  commit();
  expect([await earlier, (await later).applied.get(second)]).toEqual([200n, 100n]);
});

test('many at once leave no grant below zero and draw nothing twice', async () => {
  const customers = [await newCustomer(), await newCustomer(), await newCustomer()];
  const grants: string[] = [];
  for (let n = 0; n < 24; n += 1) {
    const fields = { priority: randomInt(3), external_id: `stress ${n}` };
    grants.push(await pick(customers).grant(`${1 + randomInt(9)}.${randomInt(10)}5`, fields));
  }
  const WORKERS = 14;
  const EACH = 25;
  /** What was said to be drawn for each invoice. */
  const told = new Map<string, bigint>();
  const returned = new Set<string>();
  const wrong: unknown[] = [];
  const work = async (worker: number): Promise<void> => {
    for (let n = 0; n < EACH; n += 1) {
      const dice = randomInt(10);
      if (dice === 0) await pick(customers).grant('2.00');
      else if (dice === 1 && randomInt(3) === 0) await post(`/credits/${pick(grants)}/void`);
      else if (dice < 4 && told.size > 0) {
        const invoice = pick([...told.keys()]);
        returned.add(invoice);
        await customers[0]?.giveBack(invoice);
      } else {
        // A chunk has invoices of several customers, and in no order of theirs.
        const chunk: { id: string; customerId: string; currency: string; amountDue: bigint }[] = [];
        for (let size = 1 + randomInt(4); size > 0; size -= 1) {
          const customer = pick(customers);
          const amountDue = BigInt(randomInt(150));
          chunk.push({ id: await customer.draft(), customerId: customer.id, currency: 'USD', amountDue });
        }
        const fails = (worker + n) % 7 === 0;
        const drawn = await inTransaction(async (transaction) => {
          const { applied: result } = await applyCredits(transaction, admin.id, chunk);
          if (fails) throw new Error('rolled back');
          return result;
        }).catch((error: unknown) => {
          if (fails && error instanceof Error && error.message === 'rolled back') return new Map<string, bigint>();
          throw error;
        });
        for (const [id, amount] of drawn) told.set(id, amount);
        wrong.push(...chunk.filter(({ id, amountDue }) => (told.get(id) ?? 0n) > amountDue));
      }
      // At any time, and not just in the end.
      if (n % 5 === 0) wrong.push(...(await unbalanced()));
    }
  };
  const seen = await weir.pool.query('SELECT * FROM credit_entries');
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  expect([wrong, await unbalanced()]).toEqual([[], []]);
  const { rows } = await weir.pool.query<{ invoice_id: string; drawn: string; returned: string }>(
    `SELECT entries.invoice_id, (sum(entries.amount) FILTER (WHERE kind = 'DRAW') * 100)::bigint::text AS drawn,
       (coalesce(sum(entries.amount) FILTER (WHERE kind = 'RETURN'), 0) * 100)::bigint::text AS returned
     FROM credit_entries AS entries JOIN credit_grants AS grants ON grants.id = grant_id
     WHERE entries.invoice_id IS NOT NULL AND grants.customer_id = ANY ($1) GROUP BY entries.invoice_id`,
    [customers.map(({ id }) => id)],
  );
  const drawn = new Map(rows.map((row) => [row.invoice_id, BigInt(row.drawn)]));
  for (const [id, amount] of told) expect(drawn.get(id) ?? 0n).toBe(amount);
  for (const id of drawn.keys()) expect(told.has(id)).toBe(true);
  for (const row of rows) expect(row.returned).toBe(returned.has(row.invoice_id) ? row.drawn : '0');
  expect([...told.values()].filter((amount) => amount > 0n).length).toBeGreaterThan(10);
  // The ledger is only added to.
  const kept = await weir.pool.query('SELECT * FROM credit_entries WHERE id = ANY ($1)', [
    seen.rows.map(({ id }: { id: string }) => id),
  ]);
  expect(kept.rows).toEqual(expect.arrayContaining(seen.rows));
});

function pick<Item>(items: readonly Item[]): Item {
  const item = items[randomInt(items.length)];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}
