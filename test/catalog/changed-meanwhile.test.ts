// Two who change one thing: a PATCH that names what its sender has read is made of nothing else.

import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { makeCustomer, makePricedPlan, usageCharge } from '../support/billing-fixture.ts';
import { besideOther } from '../support/beside-other.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;

beforeAll(async () => {
  admin = await signUp(weir);
});

async function ask(method: string, path: string, headers: Record<string, string> = {}, body?: object) {
  const answer = await fetch(`${weir.baseUrl}/api/v1${path}`, {
    method,
    headers: {
      cookie: `access_token=${admin.session}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    text,
    body: text === '' ? undefined : JSON.parse(text),
    etag: answer.headers.get('etag') ?? '',
    headers: answer.headers,
  };
}

const made = async (path: string, body: object) => (await ask('POST', path, {}, body)).body;

/** A thing to change: its path, two changes of it, and whether its ETag stands for all that is read. */
interface Changed {
  path: string;
  changes: [object, object];
  isWhole: boolean;
  /** Whether a PATCH answers with an ETag. */
  hasTag?: boolean;
}

const THINGS: Record<string, () => Promise<Changed>> = {
  async feature() {
    const { id } = await made('/features', { name: 'A', lookup_key: `f-${randomUUID()}`, type: 'switch' });
    return { path: `/features/${id}`, changes: [{ name: 'B' }, { name: 'C' }], isWhole: true };
  },
  async meter() {
    const { id } = await admin.createMeter('SUM');
    return { path: `/meters/${id}`, changes: [{ name: 'B' }, { metadata_keys: ['model'] }], isWhole: true };
  },
  async customer() {
    const { id } = await makeCustomer(weir, admin, { name: 'A' });
    return { path: `/customers/${id}`, changes: [{ name: 'B' }, { metadata: { b: 1, a: 1.1 } }], isWhole: true };
  },
  async plan() {
    const { id } = await makePricedPlan(weir, admin);
    return { path: `/plans/${id}`, changes: [{ name: 'B' }, { trial_days: 3 }], isWhole: true, hasTag: false };
  },
  async account() {
    const { id } = await made('/service-accounts', { name: 'A', role: 'viewer' });
    return { path: `/service-accounts/${id}`, changes: [{ name: 'B' }, { role: 'biller' }], isWhole: false };
  },
  organization: async () => ({ path: '/organization', changes: [{ name: 'B' }, { name: 'C' }], isWhole: true }),
  async user() {
    const [{ id }] = (await ask('GET', '/users')).body.data;
    return { path: `/users/${id}`, changes: [{ role: 'admin' }, { role: 'admin' }], isWhole: false };
  },
  settings: async () => ({
    path: '/billing/settings',
    changes: [{ invoice_prefix: 'B' }, { seller: { legal_name: 'C' } }],
    isWhole: true,
  }),
  async subscription() {
    const { id } = await subscribed();
    return {
      path: `/subscriptions/${id}`,
      changes: [{ cancel_at_period_end: false }, { cancel_at_period_end: false }],
      isWhole: false,
    };
  },
  async endpoint() {
    const { id } = await made('/webhook-endpoints', { url: 'https://example.com/weir' });
    return {
      path: `/webhook-endpoints/${id}`,
      changes: [{ status: 'DISABLED' }, { url: 'https://example.com/other' }],
      isWhole: false,
    };
  },
  async alert() {
    const { id: meter_id } = await admin.createMeter('SUM');
    const { id } = await made('/alerts', { name: 'A', meter_id, thresholds: ['10'] });
    return { path: `/alerts/${id}`, changes: [{ name: 'B' }, { thresholds: ['20'] }], isWhole: true };
  },
  async widget() {
    const { id } = await admin.createMeter('SUM');
    return { path: '/widget/settings', changes: [{ meter_ids: [id] }, { meter_ids: null }], isWhole: true };
  },
};

async function subscribed() {
  const { id: meter } = await admin.createMeter('SUM');
  const plan = await makePricedPlan(weir, admin, [usageCharge(meter)]);
  const customer = await makeCustomer(weir, admin);
  const subscription = await made('/subscriptions', { plan_id: plan.id, customer_id: customer.id });
  await ask('POST', `/subscriptions/${subscription.id}/cancel`, {}, {});
  return subscription;
}

test.each(Object.entries(THINGS))('a %s is changed by who has seen what it is, and by nobody else', async (_, make) => {
  const { path, changes, isWhole, hasTag = true } = await make();
  const [first, second] = changes;
  const seen = await ask('GET', path);
  expect(seen.etag).toMatch(/^"[\w-]{22}"$/);
  const again = await ask('GET', path, { 'if-none-match': `"x", W/${seen.etag}` });
  expect([again.status, again.text === '', again.etag]).toEqual([isWhole ? 304 : 200, isWhole, seen.etag]);

  const other = '"0123456789012345678901"';
  for (const tag of [other, `W/${seen.etag}`]) {
    const refused = await ask('PATCH', path, { 'if-match': tag }, first);
    expectProblem(refused, 412, 'precondition_failed');
  }
  for (const tag of ['', 'x', seen.etag.slice(1), `${seen.etag} ${other}`, `*, ${other}`]) {
    const refused = await ask('PATCH', path, { 'if-match': tag }, first);
    expect([refused.status, refused.body.errors?.[0].path]).toEqual([422, 'If-Match']);
  }
  expect((await ask('GET', path)).text).toBe(seen.text);

  const changed = await ask('PATCH', path, { 'if-match': `${other} , ${seen.etag}` }, first);
  expect(changed.status).toBe(200);
  const now = await ask('GET', path);
  expect(changed.etag).toBe(hasTag ? now.etag : '');
  expect((await ask('GET', path, { 'if-none-match': seen.etag })).status).toBe(200);
  expect((await ask('PATCH', path, { 'if-match': now.etag }, second)).status).toBe(200);
  expect((await ask('PATCH', path, { 'if-match': '*' }, first)).status).toBe(200);
  expect((await ask('PATCH', path, {}, second)).status).toBe(200);
});

test('of two who change the same thing at once one does, and the other hears of it', async () => {
  for (const name of ['feature', 'meter', 'customer', 'plan', 'account', 'organization', 'settings', 'endpoint']) {
    const { path } = (await THINGS[name]?.()) ?? { path: '' };
    const { etag } = await ask('GET', path);
    const changes = [1, 2, 3].map((index) =>
      name === 'settings'
        ? { invoice_prefix: `P${index}` }
        : name === 'endpoint'
          ? { url: `https://example.com/${index}` }
          : { name: `by ${index}` },
    );
    const answers = await Promise.all(changes.map((body) => ask('PATCH', path, { 'if-match': etag }, body)));
    expect([name, answers.filter(({ status }) => status === 200).length]).toEqual([name, 1]);
    expect([name, answers.filter(({ status }) => status === 412).length]).toEqual([name, 2]);
  }
});

test('a feature is changed by who has seen the unit of its meter, also where that is changed just now', async () => {
  const { id: meter, featureId } = await admin.createMeter('SUM');
  const path = `/features/${featureId}`;
  const { etag } = await ask('GET', path);
  const other = `UPDATE meters SET unit = 'TB' WHERE organization_id = $1 AND id = '${meter}'`;
  const change = () => ask('PATCH', path, { 'if-match': etag }, { unit: 'MB' });
  const late = await besideOther(weir, admin.id, other, change, { table: 'meters', id: meter });
  expectProblem(late, 412, 'precondition_failed');
  expect((await ask('GET', path)).body.unit).toBe('TB');
});

test('new metadata keys of a meter are answered with its name, also where that is changed just now', async () => {
  const { id } = await admin.createMeter('SUM');
  const other = `UPDATE meters SET name = 'Later' WHERE organization_id = $1 AND id = '${id}'`;
  const change = () => ask('PATCH', `/meters/${id}`, {}, { metadata_keys: ['model'] });
  const changed = await besideOther(weir, admin.id, other, change, { table: 'meters', id });
  const now = await ask('GET', `/meters/${id}`);
  expect([changed.body, changed.headers.get('etag')]).toEqual([now.body, now.etag]);
  expect(now.body).toMatchObject({ name: 'Later', metadata_keys: ['model'] });
});

test('what a plan includes and costs is changed by who has seen the plan', async () => {
  const { id: meter } = await admin.createMeter('SUM');
  const { feature_id: feature } = (await ask('GET', `/meters/${meter}`)).body;
  const { id, charges } = await makePricedPlan(weir, admin, [usageCharge(meter)]);
  const path = `/plans/${id}`;
  const before = (await ask('GET', path)).etag;
  expect((await ask('POST', `${path}/features`, {}, { feature_id: feature })).status).toBe(201);
  const withFeature = (await ask('GET', path)).etag;
  for (const part of [`/charges/${charges[0]?.id}`, `/features/${feature}`]) {
    const body = part.startsWith('/charges') ? { display_name: 'Calls' } : { is_enabled: false };
    const seen = (await ask('GET', path)).etag;
    expectProblem(await ask('PATCH', path + part, { 'if-match': before }, body), 412, 'precondition_failed');
    expect((await ask('PATCH', path + part, { 'if-match': seen }, body)).status).toBe(200);
    expectProblem(await ask('PATCH', path + part, { 'if-match': seen }, body), 412, 'precondition_failed');
  }
  expectProblem(await ask('PATCH', path, { 'if-match': withFeature }, { name: 'B' }), 412, 'precondition_failed');
});

test('what changes by itself is no change, and one that is sent again gets its first answer', async () => {
  const { path } = (await THINGS['account']?.()) ?? { path: '' };
  const seen = await ask('GET', path);
  await weir.pool.query(`UPDATE service_account_tokens SET last_used_at = now()`);
  await weir.pool.query(`UPDATE users SET last_seen_at = now() - interval '3 hours'`);
  expect((await ask('GET', path)).etag).toBe(seen.etag);

  const headers = { 'if-match': seen.etag, 'idempotency-key': randomUUID() };
  const first = await ask('PATCH', path, headers, { name: 'B' });
  const again = await ask('PATCH', path, headers, { name: 'B' });
  expect([again.status, again.text, again.headers.get('idempotent-replay')]).toEqual([200, first.text, 'true']);
});

test('a change that is no PATCH does not ignore If-Match, and who may not change is told that first', async () => {
  const { path } = (await THINGS['plan']?.()) ?? { path: '' };
  const refused = await ask('DELETE', path, { 'if-match': '*' });
  expect([refused.status, refused.body.errors[0].path]).toEqual([422, 'If-Match']);
  const nobody = await ask('PATCH', path, { 'if-match': '"x"', cookie: 'access_token=x' }, { name: 'B' });
  expect(nobody.status).toBe(401);
  expect((await ask('PATCH', path, { 'if-match': '"x"' }, { name: '' })).status).toBe(422);
  expect((await ask('PATCH', `/plans/${randomUUID()}`, { 'if-match': '*' }, { name: 'B' })).status).toBe(404);
});
