// The first look of an alert comes once those have committed who open a period and do not see the alert. Others open theirs meanwhile.

import { OPENING_LOCK } from '@weir/db/advisory-locks';
import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { touchOpened, touchUsage } from '@weir/db/alerts/touched-usage';
import type { Database } from '@weir/db/database';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeAlert } from '../support/alerting.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { noteStatements } from '../support/note-statements.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

// A worker would look as well.
const weir = ownWeir({ withWorker: false });
let billing: Invoicing;
let openers: Database;

beforeEach(async () => {
  billing = await startInvoicing(weir);
  openers = openTestDatabase(weir);
});
afterEach(async () => {
  await openers.close();
  await billing.close();
});

const OF_SUBSCRIPTIONS = { subscription_amount: true };

/** Opens a period, and does something before it commits. */
async function whileOpening(work?: () => Promise<void>): Promise<void> {
  await openers.kysely.transaction().execute(async (transaction) => {
    await touchOpened(transaction, billing.admin.id, ['somebody']);
    await work?.();
  });
}

test('an alert that is kept off asks once in a turn, however much usage comes in', async () => {
  const watching = openTestDatabase(weir);
  const statements = noteStatements(watching);
  const count = (part: string) => statements.filter((statement) => statement.includes(part)).length;
  await whileOpening(async () => {
    await makeAlert(billing, OF_SUBSCRIPTIONS, [100]);
    const customers = Array.from({ length: 500 }, (_, index) => `customer ${index}`);
    const changed = customers.map((customerExternalId) => ({ customerExternalId, meterId: null }));
    await touchUsage(openers.kysely, billing.admin.id, changed);
    expect(await performAlerts(watching, billing.admin.id, 60_000)).toMatchObject({ hasLeft: false });
  });
  expect(count('DELETE FROM touched_usage')).toBeGreaterThan(2);
  expect(count('pg_advisory_xact_lock(')).toBe(1);
  await watching.close();
});

test('an alert that looks holds nobody off who opens a period meanwhile', async () => {
  const alert = await makeAlert(billing, OF_SUBSCRIPTIONS, [100]);
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE subscriptions IN ACCESS EXCLUSIVE MODE');
    const looking = performAlerts(billing.database, billing.admin.id, 0);
    await untilWaiting(weir);
    const { rows } = await weir.pool.query(
      `SELECT mode FROM pg_locks WHERE locktype = 'advisory' AND classid = ${OPENING_LOCK}
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    expect(rows).toEqual([]);
    await whileOpening();
    await holder.query('ROLLBACK');
    expect(await looking).toMatchObject({ hasLeft: true });
  } finally {
    holder.release(true);
  }
  const { rowCount } = await weir.pool.query('SELECT FROM alerts WHERE id = $1 AND looked_after IS NULL', [alert]);
  expect(rowCount).toBe(1);
});
