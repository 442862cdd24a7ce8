// What exists while requests are made up, so that they can be about it: ids, tokens and credentials.

import { fixedCharge, usageCharge } from '../billing-fixture.ts';
import { signUp, type Answer, type Organization, type RequestOptions, type Weir } from '../harness.ts';
import type { Operation } from '../openapi-document.ts';
import { join, tokenIn, type Member } from '../people.ts';
import { makeServiceAccount } from '../service-accounts.ts';
import type { Call, Credential } from './calls.ts';
import { textOf, jsonOf, type Value } from './values.ts';

/** Things of one kind that a call may be about. */
const RECENT = 6;

export interface World {
  /** Puts things that exist into a call, where it only has marks for them. */
  fill(call: Call): Promise<Call>;
  /** Sends a call that was filled, and keeps in mind what came to be or went by it. */
  send(operation: Operation, call: Call): Promise<Answer>;
}

export async function makeWorld(weir: Weir): Promise<World> {
  const admin = await signUp(weir);
  const keys = { write: await admin.createKey('usage.write'), read: await admin.createKey('usage.read') };
  const widget = { apiKey: keys.write, body: { customer_external_id: 'acme' } };
  const widgetToken: string = (await weir.request('POST', '/api/v1/widget/token', widget)).body.token;
  const service = await makeServiceAccount(weir, admin, 'admin');
  const pools = new Map<string, string[]>([
    ['email', [admin.email]],
    ['password', [admin.password]],
  ]);
  const poolOf = (kind: string): string[] => pools.get(kind) ?? pools.set(kind, []).get(kind) ?? [];
  const { create, changer } = makers(weir, admin, keys.write, poolOf);

  async function credentialOf(credential: Credential, operation: Operation): Promise<RequestOptions> {
    switch (credential) {
      case 'none':
        return {};
      case 'service':
        return service.credential;
      case 'write':
      case 'read':
        return { apiKey: keys[credential] };
      case 'widget':
        return { headers: { authorization: `Bearer ${widgetToken}` } };
      case 'session':
        if (operation.path.endsWith('/auth/password')) return { session: changer() };
        // Signing in, up or out ends the session that it is sent with, and the next request needs one.
        return { session: ENDS_SESSION.test(operation.path) ? await anotherSession(weir, admin) : admin.session };
    }
  }

  return {
    async fill(call) {
      const text = JSON.stringify(call);
      for (const [, kind = ''] of text.matchAll(MARK)) if (poolOf(kind).length === 0) await create(kind);
      const filled = text.replace(MARK, (_, kind: string, at: string) => {
        const recent = poolOf(kind).slice(-RECENT);
        return recent[Number(at) % recent.length] ?? '';
      });
      return JSON.parse(filled) as Call;
    },
    async send(operation, call) {
      const { path, query, header, body, credential } = call;
      const url = urlOf(operation, path, query);
      const opener = await credentialOf(credential, operation);
      const sent = Object.fromEntries(Object.entries(header).map(([name, value]) => [name, textOf(value)]));
      const answer = await weir.request(operation.method, url, {
        ...opener,
        headers: { ...sent, ...opener.headers },
        ...(body !== undefined && { raw: jsonOf(body) }),
      });
      remember(operation, call, answer, poolOf);
      return answer;
    },
  };
}

const ENDS_SESSION = /\/auth\/(signup|login|logout|invitation\/accept|password-reset)$/;

const MARK = /<([a-z_-]+)#(\d+)>/g;

function urlOf({ path }: Operation, parameters: Record<string, Value>, query: Record<string, Value>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const part = encoded(parameters[name] ?? '');
    // These are no ids but ways through the path, which a client goes before it sends.
    return ['', '.', '..'].includes(part) ? 'x' : part;
  });
  const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`;
}

function encoded(value: Value): string {
  return encodeURIComponent(textOf(value));
}

type PoolOf = (kind: string) => string[];

/** Invoices in a state in which something can be done to them, each kind with that of their lines. */
const INVOICED = [
  ['draft-invoice'],
  ['open-invoice'],
  ['paid-invoice', 'payment'],
  ['lined-invoice', 'line'],
  ['adjusted-invoice', 'adjustment'],
];

/** What was made can be asked for, and what was deleted cannot. */
function remember({ method, path }: Operation, call: Call, { status, body }: Answer, poolOf: PoolOf): void {
  const [, kind = ''] = /^\/api\/v1\/(?:sdk\/)?([a-z-]+)/.exec(path) ?? [];
  if (path.endsWith('/auth/password')) poolOf('current-password').length = 0;
  else if (path.endsWith('/auth/password-reset')) poolOf('reset-token').length = 0;
  else if (path.endsWith('/auth/invitation/accept')) poolOf('invitation-token').length = 0;
  else if (path.includes('/auth/sessions')) poolOf('sessions').length = 0;
  else if (path.endsWith('/replay')) poolOf('rejected-event').length = 0;
  else if (/\/(?:corrections|events\/\{id\}\/(?:void|amend))$/.test(path)) poolOf('counted-event').length = 0;
  else if (path.includes('/features/{feature_id}')) {
    // Whether it was there or its plan was gone, it is not there any more.
    if (method === 'DELETE' || status === 404)
      for (const planned of ['planned-plan', 'planned-feature']) poolOf(planned).length = 0;
  } else if (path.includes('/tokens/{token_id}')) {
    for (const tokened of ['tokened-account', 'account-token']) poolOf(tokened).length = 0;
  } else if (path.includes('/charges/{charge_id}') && status === 404) {
    for (const priced of ['priced-plan', 'priced-charge']) poolOf(priced).length = 0;
  } else if (path.includes('/invoices/{id}/')) {
    // Whatever it was, it may be something else now.
    if (method !== 'GET' || status === 404)
      for (const [invoices = '', ...lines] of INVOICED) {
        const at = poolOf(invoices).indexOf(textOf(call.path['id'] ?? ''));
        if (at >= 0) for (const kind of [invoices, ...lines]) poolOf(kind).splice(at, 1);
      }
  } else if (method === 'DELETE' && status === 204) {
    // What was sent to an endpoint goes with it.
    if (kind === 'webhook-endpoints') poolOf('deliveries').length = 0;
    for (const pool of [poolOf(kind), ...(kind === 'features' ? [poolOf('metered-feature')] : [])]) {
      const at = pool.indexOf(textOf(call.path['id'] ?? ''));
      if (at >= 0) pool.splice(at, 1);
    }
  }
  if (method !== 'POST' || status !== 201 || typeof body.id !== 'string' || path.includes('{')) return;
  poolOf(kind === 'track' ? 'events' : kind).push(body.id);
  if (typeof body.meter_token !== 'string') return;
  poolOf('meters').push(body.meter_id);
  poolOf('meter_token').push(body.meter_token);
}

/** Makes a thing of a kind that there is none of. */
function makers(weir: Weir, admin: Organization, writeKey: string, poolOf: PoolOf) {
  const postFor = async (path: string, body?: object) =>
    (
      await weir.request('POST', `/api/v1/${path}`, {
        session: admin.session,
        apiKey: writeKey,
        ...(body !== undefined && { body }),
      })
    ).body;
  const post = async (path: string, body?: object): Promise<string> => (await postFor(path, body)).id;
  const get = async (path: string) => (await weir.request('GET', `/api/v1/${path}`, { session: admin.session })).body;
  let made = 0;
  /** Who changes a password: nobody else needs the session, or the password. */
  let changer = admin.session;
  /** Who sets a new password by links, again and again. */
  let forgetful: Member | undefined;
  /** A plan that is paid in advance. */
  let planInAdvance: string | undefined;
  async function create(kind: string): Promise<void> {
    made += 1;
    if (PERSONAL.includes(kind)) await createPersonal(kind);
    else if (kind === 'plans') {
      const plan = {
        name: 'Plan',
        lookup_id: `plan-${made}`,
        type: 'HYBRID',
        billing_interval: 'month',
        currency: 'EUR',
      };
      poolOf(kind).push(await post('plans', plan));
    } else if (kind === 'customers' || kind === 'spare-customer') poolOf(kind).push(await post('customers', {}));
    else if (kind === 'erasures') poolOf(kind).push(await post(kind, { customer_external_id: `gone-${made}` }));
    else if (kind === 'usage-moves')
      poolOf(kind).push(await post(kind, { from_external_id: `wrong-${made}`, to_external_id: 'right' }));
    else if (kind === 'api-keys') poolOf(kind).push(await post('api-keys', { name: 'x', scopes: ['usage.read'] }));
    else if (kind === 'service-accounts') poolOf(kind).push((await makeServiceAccount(weir, admin, 'viewer')).id);
    else if (kind === 'tokened-account' || kind === 'account-token') {
      const { id, tokenId } = await makeServiceAccount(weir, admin, 'viewer');
      poolOf('tokened-account').push(id);
      poolOf('account-token').push(tokenId);
    } else if (kind === 'events' || kind === 'rejected-event') poolOf(kind).push(await eventOfUser());
    else if (kind === 'counted-event') poolOf(kind).push(await eventOfUser({ user_id: 'ada' }));
    else if (kind === 'subscriptions') await createSubscription();
    else if (kind === 'ended-subscription') await createEnded();
    else if (kind.startsWith('changing')) await createChanging();
    else if (kind === 'invoices' || INVOICED.flat().includes(kind)) await createInvoiced(kind);
    else if (kind.startsWith('shown-')) await createShown();
    else if (kind.startsWith('planned-')) await createPlanned();
    else if (kind.startsWith('priced-')) await createPriced();
    else if (kind === 'alerts') {
      const { id: meter_id } = await admin.createMeter('SUM');
      poolOf(kind).push(await post(kind, { name: 'Alert', meter_id, thresholds: [1000] }));
    } else if (kind === 'webhook-endpoints' || kind === 'deliveries') await createEndpoint();
    else if (kind === 'credits') {
      await create('customers');
      const credit = { amount: '5', currency: 'EUR' };
      poolOf(kind).push(await post(`customers/${poolOf('customers').at(-1)}/credits`, credit));
    } else {
      const meter = await admin.createMeter('SUM', undefined, ['model']);
      for (const pool of ['features', 'metered-feature']) poolOf(pool).push(meter.featureId);
      poolOf('meters').push(meter.id);
      poolOf('meter_token').push(meter.token);
      const path = `/api/v1/features/${meter.featureId}`;
      poolOf('lookup_key').push((await weir.request('GET', path, { session: admin.session })).body.lookup_key);
      // A customer's widget shows only what that customer has used.
      await post('sdk/track', { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 });
      await weir.drained();
    }
  }
  /** With a delivery; nothing is sent. */
  async function createEndpoint(): Promise<void> {
    const id = await post('webhook-endpoints', { url: 'https://example.com/weir' });
    poolOf('webhook-endpoints').push(id);
    poolOf('deliveries').push(await post(`webhook-endpoints/${id}/test`));
  }
  async function createPersonal(kind: string): Promise<void> {
    if (kind === 'sessions') {
      await anotherSession(weir, admin);
      const { data } = await get('auth/sessions');
      poolOf(kind).push(
        ...data.filter((each: { is_current: boolean }) => !each.is_current).map(({ id }: { id: string }) => id),
      );
      return;
    }
    await forgetFailures(weir);
    if (kind === 'invitations' || kind === 'invitation-token') {
      const { id, link } = await postFor('invitations', { email: `invited-${made}@example.com`, role: 'viewer' });
      poolOf(kind).push(kind === 'invitations' ? id : tokenIn(link));
      return;
    }
    if (kind === 'reset-token') {
      forgetful ??= await join(weir, admin, 'viewer');
      poolOf(kind).push(tokenIn((await postFor(`users/${forgetful.id}/password-reset`)).link));
      return;
    }
    const member = await join(weir, admin, 'viewer');
    poolOf(kind).push(kind === 'users' ? member.id : member.password);
    if (kind === 'current-password') changer = member.session;
  }
  /** A feature in a plan. */
  async function createPlanned(): Promise<void> {
    await create('plans');
    const plan = poolOf('plans').at(-1) ?? '';
    const { featureId } = await admin.createMeter('SUM');
    await post(`plans/${plan}/features`, { feature_id: featureId });
    poolOf('planned-plan').push(plan);
    poolOf('planned-feature').push(featureId);
  }
  /** A customer on a plan, which then has a price. */
  async function createSubscription(): Promise<void> {
    await createPriced();
    await create('customers');
    const [plan_id, customer_id] = [poolOf('priced-plan').at(-1), poolOf('customers').at(-1)];
    poolOf('subscriptions').push(await post('subscriptions', { customer_id, plan_id }));
  }
  /** A subscription that has ended, whose final invoice is no draft any more. */
  async function createEnded(): Promise<void> {
    const { subscription, invoice } = await makeDraft();
    await post(`subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    await post(`invoices/${invoice}/finalize`);
    const { data } = await get(`subscriptions/${subscription}/invoices?status=DRAFT`);
    for (const { id } of data) await post(`invoices/${id}/finalize`);
    poolOf('ended-subscription').push(subscription);
  }
  /** A finalized invoice of the customer of the widget token, of whom no other call is about. */
  async function createShown(): Promise<void> {
    const { invoice } = await makeDraft(await post('customers', { external_id: 'acme' }));
    await post(`invoices/${invoice}/finalize`);
    poolOf('shown-invoice').push(invoice);
    poolOf('shown-line').push((await get(`invoices/${invoice}`)).lines[0].id);
  }
  /** A subscription, and a plan that it may change to now: its own. */
  async function createChanging(): Promise<void> {
    const { subscription } = await makeDraft();
    poolOf('changing-subscription').push(subscription);
    poolOf('changing-plan').push(planInAdvance ?? '');
  }
  async function createInvoiced(kind: string): Promise<void> {
    const { invoice } = await makeDraft();
    if (kind === 'invoices' || kind === 'draft-invoice') poolOf(kind).push(invoice);
    else if (kind.startsWith('adjust')) {
      poolOf('adjusted-invoice').push(invoice);
      poolOf('adjustment').push(await post(`invoices/${invoice}/lines`, { description: 'x', amount: 1 }));
    } else if (kind === 'open-invoice') {
      await post(`invoices/${invoice}/finalize`);
      poolOf(kind).push(invoice);
    } else if (kind === 'paid-invoice' || kind === 'payment') {
      await post(`invoices/${invoice}/finalize`);
      await post(`invoices/${invoice}/pay`, { amount: 1 });
      poolOf('paid-invoice').push(invoice);
      poolOf('payment').push((await get(`invoices/${invoice}`)).payments[0].id);
    } else {
      poolOf('lined-invoice').push(invoice);
      poolOf('line').push((await get(`invoices/${invoice}`)).lines[0].id);
    }
  }
  /** A subscription that begins now, and the draft of what it pays in advance. */
  async function makeDraft(customer?: string): Promise<{ subscription: string; invoice: string }> {
    if (planInAdvance === undefined) {
      await create('plans');
      // No call is about this one: it stays as it is.
      planInAdvance = poolOf('plans').pop() ?? '';
      await post(`plans/${planInAdvance}/charges`, fixedCharge('10'));
    }
    if (customer === undefined) await create('customers');
    const subscription = await post('subscriptions', {
      customer_id: customer ?? poolOf('customers').at(-1),
      plan_id: planInAdvance,
    });
    return { subscription, invoice: (await get(`subscriptions/${subscription}/invoices`)).data[0].id };
  }
  /** A charge of a plan. */
  async function createPriced(): Promise<void> {
    await create('plans');
    await create('meters');
    const [plan = '', meter = ''] = [poolOf('plans').at(-1), poolOf('meters').at(-1)];
    poolOf('priced-charge').push(await post(`plans/${plan}/charges`, usageCharge(meter)));
    poolOf('priced-plan').push(plan);
  }
  /** An event that can be corrected; without metadata, one that can be replayed. */
  async function eventOfUser(metadata: object = {}): Promise<string> {
    const { token } = await admin.createMeter('UNIQUE_COUNT');
    const id = await post('sdk/track', { meter_token: token, customer_external_id: 'acme', quantity: 1, metadata });
    await weir.drained();
    return id;
  }
  return { create, changer: () => changer };
}

/** What belongs to people. */
const PERSONAL = ['users', 'sessions', 'invitations', 'invitation-token', 'reset-token', 'current-password'];

/** Addresses that were tried before this may have been too many, and links that were made. */
async function forgetFailures(weir: Weir): Promise<void> {
  const failures = await weir.redis.keys(`${weir.keys.failures}*`);
  if (failures.length > 0) await weir.redis.unlink(...failures);
}

async function anotherSession(weir: Weir, { email, password }: Organization): Promise<string> {
  await forgetFailures(weir);
  const { headers } = await weir.request('POST', '/api/v1/auth/login', { body: { email, password } });
  return /access_token=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';
}
