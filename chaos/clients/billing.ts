// What admins do with billing while periods end: they end subscriptions and make new ones, change plans, close, pay and waive invoices,
// and grant credits. Each asks first what there is, as a console does.

import { adminMessage, type ClientContext } from './client-context.ts';
import type { Organization } from './made-organizations.ts';
import type { Outgoing } from './sender.ts';

const DAY_MS = 86_400_000;

/** A page holds enough to pick from; drafts are computed for it. */
const PAGE = 20;

type Asked = Record<string, unknown> & { id: string };

/** Ends a subscription, now or at the end of its period, takes that back, or has it go over to another plan. */
export function changeSubscription(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    const { random } = context;
    const found = await list(context, organization, '/subscriptions?page_size=100', signal);
    const running = found.filter(({ status }) => status !== 'CANCELED');
    if (running.length === 0) return;
    const { id } = random.pick(running);
    const path = `/subscriptions/${id}`;
    const [name, method, to, body] = random.pick([
      ['cancel now', 'POST', `${path}/cancel`, { cancel_at_period_end: false, reason: 'chaos' }],
      ['cancel later', 'POST', `${path}/cancel`, {}],
      ['keep', 'PATCH', path, { cancel_at_period_end: false, pending_plan_id: null }],
      ['change', 'POST', `${path}/change`, { plan_id: random.pick(organization.plans) }],
      ['change now', 'POST', `${path}/change`, { plan_id: random.pick(organization.plans), when: 'now' }],
    ] as const);
    await change(context, organization, { name, id, method, path: to, body, expect: [200, 409] }, signal);
  });
}

/**
 * Subscribes a customer, who most often has a subscription already: from now on, from some days ago or ahead, or after a trial.
 */
export function subscribe(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    const { random } = context;
    const external_id = `subscription-${context.newName()}`;
    const now = organization.billingTime?.now() ?? 0;
    const daysFromNow = (days: number) => new Date(now + days * DAY_MS).toISOString();
    const body = {
      customer_id: random.pick(organization.customers.slice(0, -1)).id,
      plan_id: random.pick(organization.plans),
      external_id,
      billing_alignment: random.pick(['anniversary', 'calendar']),
      ...random.pick([{}, {}, { start_date: daysFromNow(random.int(-5, 5)) }, { trial_end_date: daysFromNow(30) }]),
    };
    const request = { name: 'subscribe', id: external_id, method: 'POST', path: '/subscriptions', body };
    await change(context, organization, { ...request, expect: [201, 409] }, signal);
  });
}

/** Closes a draft before its grace is over, sometimes with a line of one's own on it. */
export function finalizeDraft(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    const { random } = context;
    const drafts = await list(context, organization, `/invoices?status=DRAFT&page_size=${PAGE}`, signal);
    if (drafts.length === 0) return;
    const { id } = random.pick(drafts);
    const path = `/invoices/${id}`;
    if (random.chance(0.4)) {
      const body = { description: 'chaos', amount: random.pick(['-9.99', '-0.01', '0.5', '3']) };
      // Whoever sends it twice adds two.
      const once = { name: 'line', id, method: 'POST', path: `${path}/lines`, body, isRetried: false };
      await change(context, organization, { ...once, expect: [201, 404, 409] }, signal);
    }
    // 404: it came to no line.
    const request = { name: 'finalize', id, method: 'POST', path: `${path}/finalize`, expect: [200, 404, 409] };
    if (random.chance(0.7)) await change(context, organization, request, signal);
  });
}

/** Pays an open invoice, waives it, or gives it up. */
export function endInvoice(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    const { random } = context;
    const status = random.pick(['OPEN', 'OPEN', 'OPEN', 'UNCOLLECTIBLE']);
    const found = await list(context, organization, `/invoices?status=${status}&page_size=${PAGE}`, signal);
    if (found.length === 0) return;
    const { id } = random.pick(found);
    const name = random.pick(['pay', 'pay', 'pay', 'void', 'uncollectible']);
    const part = random.chance(0.5) ? { amount: random.pick(['0.01', '0.37', '5']) } : {};
    const body = name === 'pay' ? { reference: `payment-${context.newName()}`, ...part } : { note: 'chaos' };
    const request = { name, id, method: 'POST', path: `/invoices/${id}/${name}`, body };
    await change(context, organization, { ...request, expect: [200, 409] }, signal);
  });
}

/** Pays an open invoice of each organization that bills, so that payments are there to be judged after a short run as well. */
export async function payOneOfEach(context: ClientContext, signal: AbortSignal): Promise<void> {
  await Promise.all(
    context.billed.map(async (organization) => {
      const [open] = await list(context, organization, `/invoices?status=OPEN&page_size=${PAGE}`, signal);
      if (open === undefined) return;
      const { id } = open;
      const body = { reference: `payment-${context.newName()}` };
      const request = { name: 'pay', id, method: 'POST', path: `/invoices/${id}/pay`, body };
      await change(context, organization, { ...request, expect: [200, 409] }, signal);
    }),
  );
}

/** Takes a payment back, of an invoice that may be paid by it. */
export function takePaymentBack(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    const { random } = context;
    const status = random.pick(['OPEN', 'PAID', 'PAID']);
    const found = await list(context, organization, `/invoices?status=${status}&page_size=${PAGE}`, signal);
    const paid = found.filter(({ amount_paid }) => Number(amount_paid) > 0);
    if (paid.length === 0) return;
    const { id } = random.pick(paid);
    const payments = await list(context, organization, `/invoices/${id}`, signal, 'payments');
    if (payments.length === 0) return;
    const payment = random.pick(payments);
    const path = `/invoices/${id}/payments/${payment.id}`;
    const request = { name: 'take back', id: payment.id, method: 'DELETE', path, body: { note: 'chaos' } };
    await change(context, organization, { ...request, expect: [204, 409] }, signal);
  });
}

/** Grants a customer some money, and sometimes takes back what is left of it. */
export function grantCredit(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    const { random } = context;
    const { id } = random.pick(organization.customers);
    const external_id = `credit-${context.newName()}`;
    // A day is some seconds, and an outage may last longer than a few of them.
    const expires = new Date((organization.billingTime?.now() ?? 0) + random.int(20, 60) * DAY_MS).toISOString();
    const body = {
      amount: random.pick(['0.01', '2.50', '7', '40']),
      currency: 'USD',
      external_id,
      priority: random.int(0, 3),
      ...(random.chance(0.3) && { expires_at: expires }),
    };
    const request = { name: 'grant', id: external_id, method: 'POST', path: `/customers/${id}/credits`, body };
    const granted = await change(context, organization, { ...request, expect: [201, 409] }, signal);
    if (granted === undefined || !random.chance(0.2)) return;
    const ending = { name: 'end credit', id: granted.id, method: 'POST', path: `/credits/${granted.id}/void` };
    await change(context, organization, { ...ending, expect: [200] }, signal);
  });
}

/** Bills at once what came late for a subscription that has ended. */
export function settleEnded(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    const ended = await list(context, organization, `/subscriptions?status=CANCELED&page_size=${PAGE}`, signal);
    if (ended.length === 0) return;
    const { id } = context.random.pick(ended);
    const request = { name: 'settle', id, method: 'POST', path: `/subscriptions/${id}/settle` };
    await change(context, organization, { ...request, expect: [200, 201, 409] }, signal);
  });
}

/** Has an invoice computed again while usage comes in, from either source; another organization sees nothing of it. */
export function recomputeInvoice(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    const { random } = context;
    const status = random.pick(['OPEN', 'PAID', 'VOID']);
    const found = await list(context, organization, `/invoices?status=${status}&page_size=${PAGE}`, signal);
    if (found.length === 0) return;
    const { id } = random.pick(found);
    const body = { from: random.pick(['rollups', 'events']) };
    await context.sender.send(
      {
        organization: organization.index,
        operation: 'recompute',
        subject: id,
        expect: [200],
        message: adminMessage(organization, 'POST', `/invoices/${id}/recompute`, body),
        excerpt: ({ identical, from, stored, recomputed }) =>
          identical === true ? { identical, from } : { identical, from, stored, recomputed },
      },
      signal,
    );
    const other = context.pickOther(organization);
    await context.sender.send(
      {
        organization: other.index,
        operation: 'cross-read',
        subject: `/invoices/${id}`,
        expect: [404],
        message: adminMessage(other, 'GET', `/invoices/${id}`),
      },
      signal,
    );
  });
}

/** Reads on in the feed of an organization, where this client has read to. */
export function followFeed(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    await readOn(context, organization, signal);
  });
}

/** Reads the feed of every organization that bills until a page is empty. */
export async function readFeedsToTheEnd(context: ClientContext, signal: AbortSignal): Promise<void> {
  await Promise.all(
    context.billed.map(async (organization) => {
      while (await readOn(context, organization, signal));
    }),
  );
}

/** Reads the next page of a feed; true when there were events on it. */
async function readOn(context: ClientContext, organization: Organization, signal: AbortSignal): Promise<boolean> {
  const after = context.readTo.get(organization) ?? 0;
  const answer = await context.sender.send(
    {
      organization: organization.index,
      operation: 'feed',
      subject: String(after),
      expect: [200],
      message: adminMessage(organization, 'GET', `/billing-events?after=${after}&limit=200`),
      excerpt: ({ data }) =>
        (data as { sequence: number; type: string }[]).map(({ sequence, type }) => ({ sequence, type })),
    },
    signal,
  );
  if (answer?.status !== 200) return false;
  const { meta } = JSON.parse(answer.text) as { meta: { next_after: number } };
  context.readTo.set(organization, Math.max(after, meta.next_after));
  return meta.next_after > after;
}

async function list(
  context: ClientContext,
  organization: Organization,
  path: string,
  signal: AbortSignal,
  of = 'data',
): Promise<Asked[]> {
  const answer = await context.sender.send(
    {
      organization: organization.index,
      operation: 'billing-read',
      subject: path,
      expect: [200],
      message: adminMessage(organization, 'GET', path),
      excerpt: (body) => (body[of] as Asked[]).length,
    },
    signal,
  );
  return answer?.status === 200 ? ((JSON.parse(answer.text) as Record<string, Asked[]>)[of] ?? []) : [];
}

interface Change extends Pick<Outgoing, 'expect' | 'isRetried'> {
  /** What is done, and to what. */
  name: string;
  id: string;
  method: string;
  path: string;
  body?: object;
}

/** Asks for a change until there is a definite answer; returns what it made or changed. */
export async function change(
  context: ClientContext,
  organization: Organization,
  { name, id, method, path, body, expect, isRetried = true }: Change,
  signal: AbortSignal,
): Promise<Asked | undefined> {
  const answer = await context.sender.send(
    {
      organization: organization.index,
      operation: 'billing',
      subject: `${name} ${id}`,
      expect,
      isRetried,
      message: adminMessage(organization, method, path, body),
    },
    signal,
  );
  return answer?.status === 200 || answer?.status === 201 ? (JSON.parse(answer.text) as Asked) : undefined;
}
