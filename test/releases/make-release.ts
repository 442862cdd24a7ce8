// Writes what is kept of a release: see docs/releases.md. What it makes is billed for two months and a half, with everything that
// may become of an event and of an invoice.

import { MIGRATIONS } from '@weir/db/migrations';
import { stagedText } from '@weir/queue/staged';
import { newId } from '@weir/shared/ids';
import { AGGREGATION_TYPES, type AggregationType } from '@weir/shared/meter';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { CHARGE_MODELS } from '@weir/rating/charge-terms';
import { chargeOfKind } from '../support/charge-kinds.ts';
import { startInvoicing, type PricedMeter } from '../support/invoicing.ts';
import { dumpRows, hashOfFile, newReleaseFolder, type Kept } from '../support/release.ts';
import { ownWeir } from '../support/use-weir.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(await readFile(`${root}/package.json`, 'utf8')) as { version: string };
const folder = newReleaseFolder(version);
const weir = ownWeir();

test('the dump of this version is written', async () => {
  const billing = await startInvoicing(weir);
  const { admin, get, post } = billing;

  const meters = new Map<AggregationType, PricedMeter>();
  for (const aggregation of AGGREGATION_TYPES) {
    const keys = aggregation === 'SUM' || aggregation === 'UNIQUE_COUNT' ? ['region', 'plan'] : undefined;
    meters.set(aggregation, await admin.createMeter(aggregation, 'unit', keys));
  }
  const meter = (aggregation: AggregationType) => meters.get(aggregation) as PricedMeter;

  await billing.moveTo('2025-01-01T00:10:00Z');
  const priced: AggregationType[] = ['COUNT', 'SUM', 'MAX', 'AVG', 'UNIQUE_COUNT'];
  const plan = await billing.plan([
    chargeOfKind('FIXED', ''),
    chargeOfKind('FIXED', '', { unit_price: '3.33', timing: 'in_arrears' }),
    ...CHARGE_MODELS.map((model, index) => chargeOfKind(model, meter(priced[index] ?? 'SUM').id)),
  ]);
  const customers = [
    await billing.customer({ name: 'Acme', billing_address_city: 'Oslo', metadata: { tier: 1.5 } }),
    await billing.customer({ name: 'Beta', email: 'beta@example.com' }),
    await billing.customer({ name: 'Gamma' }),
  ];
  const subscriptions: string[] = [];
  for (const { id } of customers)
    subscriptions.push((await billing.subscribe(plan.id, id, { start_date: '2025-01-01T00:00:00Z' })).id);
  await post(`/customers/${customers[1]?.id}/credits`, { amount: '5.00', currency: 'USD', note: 'Welcome.' }, 201);

  let sent = 0;
  const use = async (month: string, days: number) => {
    const events = [];
    for (const { external_id: customer } of customers)
      for (const aggregation of AGGREGATION_TYPES)
        for (let day = 1; day <= days; day += 1) {
          sent += 1;
          const quantity = Number((((sent * 7_919) % 1_000) / 7 + 0.25).toFixed(3));
          const at = `${month}-${String(day * 3).padStart(2, '0')}T${String(sent % 24).padStart(2, '0')}:17:03.123456Z`;
          const metadata = {
            user_id: `u-${sent % 4}`,
            region: sent % 3 === 0 ? 'eu' : 'us',
            plan: sent % 5,
            cost: 1.5,
          };
          events.push({ meter: meter(aggregation), customer, quantity, at, metadata });
        }
    await billing.track(events);
  };
  await use('2025-01', 3);
  await billing.moveTo('2025-02-01T02:00:00Z', ...subscriptions);
  const firsts = [];
  for (const subscription of subscriptions) firsts.push(...(await billing.finalizeAll(subscription)));
  await use('2025-02', 2);
  // Late, by a closing.
  await use('2025-01', 1);
  // Rejected by the worker, and a key that comes twice.
  const apiKey = await admin.createKey('usage.write');
  const keyed = {
    customer_external_id: 'nobody',
    quantity: 2,
    idempotency_key: 'once',
    timestamp: '2025-02-03T00:00:00Z',
  };
  const bodies = [
    { ...keyed, meter_token: meter('SUM').token },
    { meter_token: meter('UNIQUE_COUNT').token, customer_external_id: 'nobody', quantity: 1 },
  ];
  for (const body of bodies) await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
  await weir.drained();
  await weir.redis.del(await weir.claim(admin.id, 'once'));
  await weir.request('POST', '/api/v1/sdk/track', { apiKey, body: bodies[0] });
  await weir.drained();
  const open = firsts.filter(({ status }) => status === 'OPEN');
  await post(`/invoices/${open[0].id}/pay`, { reference: 'ch_4711' });
  await post(`/invoices/${open[1].id}/void`, { note: 'Wrong address.' });
  await billing.moveTo('2025-03-01T02:00:00Z', ...subscriptions);
  for (const subscription of subscriptions) await billing.finalizeAll(subscription);
  const at = '2025-03-20T10:00:00Z';
  await billing.moveTo(at, ...subscriptions);
  await use('2025-03', 2);
  await post(`/subscriptions/${subscriptions[2]}/cancel`, { cancel_at_period_end: false });

  const answers: Kept['answers'] = {};
  const ask = async (path: string) => (answers[path] = await get(path));
  const window = 'start_date=2025-01-01&end_date=2025-04-01';
  for (const { id } of meters.values()) {
    await ask(`/meters/${id}/usage?${window}&group_by=month`);
    await ask(`/meters/${id}/usage?${window}&group_by=week&customer_external_id=${customers[0]?.external_id}`);
  }
  for (const name of ['SUM', 'UNIQUE_COUNT'] as const)
    await ask(`/meters/${meter(name).id}/usage?${window}&group_by=month&group_by_metadata=region`);
  const { data } = (await ask('/invoices?page_size=100')) as { data: { id: string }[] };
  for (const { id } of data) await ask(`/invoices/${id}`);
  for (const { id } of customers) await ask(`/customers/${id}/credits`);
  await ask('/events?status=rejected');
  const { body: openApi } = await weir.request('GET', '/openapi.json');
  await billing.close();

  const event = {
    organization_id: admin.id,
    meter_id: meter('SUM').id,
    aggregation: 'SUM' as const,
    customer_external_id: 'of the queue',
    quantity: '1.50',
    timestamp: '2025-03-19T00:00:00.123456Z',
  };
  const staged = [
    { ...event, id: newId() },
    { ...event, id: newId(), idempotency_key: 'in the queue', metadata: '{"region":"eu","cost":1.50}' },
    { ...event, id: newId(), replayed: true as const },
  ].map(stagedText);
  const kept: Kept = { at, email: admin.email, password: admin.password, answers, staged };

  await mkdir(folder);
  await writeFile(`${folder}/rows.sql.gz`, await dumpRows(weir.pool));
  await writeFile(`${folder}/answers.json.gz`, gzipSync(JSON.stringify(kept), { level: 9 }));
  await writeFile(`${folder}/openapi.json.gz`, gzipSync(JSON.stringify(openApi), { level: 9 }));
  const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
  const hashes: Record<string, string> = {};
  for (const name of files) hashes[name] = await hashOfFile(`${MIGRATIONS}/${name}`);
  await writeFile(`${folder}/migrations.json`, `${JSON.stringify(hashes, null, 2)}\n`);
  await copyFile(`${MIGRATIONS}/unread.txt`, `${folder}/unread.txt`).catch(() => writeFile(`${folder}/unread.txt`, ''));
  expect(sent).toBeGreaterThan(100);
});
