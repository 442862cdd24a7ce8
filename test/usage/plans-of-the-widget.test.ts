// What a widget costs where its organization has many meters: of a few it is asked whether they are shown, and no others are read.

import { readUsageOfCustomer } from '@weir/db/usage/read-usage';
import { listShownMeters } from '@weir/db/widget-settings';
import { toEnd } from '@weir/shared/to-end';
import { planningWindow } from '@weir/shared/window';
import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const MANY = 3_000;
const FEW = 30;

const weir = ownWeir({ withWorker: false, unobserved: true });
let admin: Organization;
beforeAll(async () => {
  admin = await signUp(weir);
  await weir.pool.query(
    `WITH made AS (
       INSERT INTO features (organization_id, id, name, lookup_key, type)
       SELECT $1, gen_random_uuid(), 'Many', 'many-' || n, 'meter' FROM generate_series(1, ${MANY}) AS n RETURNING id)
     INSERT INTO meters (organization_id, id, feature_id, meter_token, name, aggregation_type)
     SELECT $1, gen_random_uuid(), id, 'mtr_' || id, 'Many', 'SUM' FROM made`,
    [admin.id],
  );
});

// Postgres knows nothing of what came, and then it does.
test.each(['before', 'after'])(
  'a few meters are found by themselves %s Postgres has counted its rows',
  async (when) => {
    if (when === 'after') await weir.pool.query('ANALYZE features, meters, organizations');
    const [first, second] = [await admin.createMeter('SUM'), await admin.createMeter('MAX')];
    const { rows: features } = await weir.pool.query<{ lookup_key: string }>(
      'SELECT lookup_key FROM features WHERE id = ANY ($1)',
      [[first.featureId, second.featureId]],
    );
    const ids = [first.id, second.id];
    for (const wanted of [{ ids: [...ids, first.id] }, { features: features.map(({ lookup_key }) => lookup_key) }]) {
      const rows = await rowsReadBy(weir, async ({ kysely }) => {
        const shown = await listShownMeters(kysely, admin.id, wanted);
        expect(shown.map(({ id }) => id)).toEqual(ids.toSorted().toReversed());
      });
      expect(rows, JSON.stringify(wanted)).toBeLessThan(FEW);
    }
  },
);

test('the usage of a customer is read on the meters that are shown, and on no others', async () => {
  const meterIds = [(await admin.createMeter('SUM')).id, (await admin.createMeter('UNIQUE_COUNT')).id];
  const window = toEnd(planningWindow({ timezone: 'UTC' }, Date.now()));
  if ('problem' in window) throw new Error(window.problem.message);
  const of = { organizationId: admin.id, customerExternalId: 'acme', window };
  const rows = await rowsReadBy(weir, async ({ pool }) => {
    const read = await readUsageOfCustomer(pool, { ...of, meterIds });
    expect(read.map(({ meter_id: id }) => id)).toEqual(meterIds.toSorted().toReversed());
  });
  expect(rows).toBeLessThan(FEW);
  expect(await readUsageOfCustomer(weir.pool, { ...of, meterIds: [] })).toEqual([]);
});
