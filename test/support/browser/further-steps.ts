// The forms beside the journey, each as it is filled in, sent and seen to be done, for test/console/interrupted.test.ts.

import type { Hands, Step } from './journey-steps.ts';

const DAY_MS = 86_400_000;

interface Invoice {
  id: string;
  status: string;
}

interface Named {
  name: string;
}

/** The forms of an organization that bills, in an order in which one makes what the next one needs. */
export async function furtherStepsOf({ weir, organization, page, call, ...hands }: Hands): Promise<Step[]> {
  const { button, dialog, field, titled, choose } = hands;
  const meter = await organization.createMeter('SUM');
  const fee = (unit_price: string) => ({ type: 'FIXED', display_name: 'Base fee', unit_price });
  const plan = async (name: string) => {
    const fields = { name, lookup_id: name.toLowerCase(), type: 'HYBRID', billing_interval: 'day', currency: 'USD' };
    return await call('POST', '/plans', { ...fields, charges: [fee('49')] });
  };
  const [basic, extra] = [await plan('Basic'), await plan('Extra')];
  const customer = async (external_id: string) => await call('POST', '/customers', { external_id });
  const [globex, umbrella] = [await customer('globex'), await customer('umbrella')];
  const start_date = new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10);
  const subscribed = { plan_id: basic.id, customer_id: globex.id, start_date };
  const { id: subscription } = await call('POST', '/subscriptions', subscribed);
  const invoice: Invoice = (await call('GET', `/invoices?subscription_id=${subscription}`)).data.at(-1);
  const endpoint = await call('POST', '/webhook-endpoints', { url: 'https://example.com/weir' });
  const account = await call('POST', '/service-accounts', { name: 'Nightly', role: 'viewer' });
  await call('POST', `/customers/${umbrella.id}/credits`, { amount: '25', currency: 'USD' });
  const apiKey = await organization.createKey();
  for (const quantity of [1, 2]) {
    const body = { meter_token: meter.token, customer_external_id: 'hooli', quantity };
    await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
  }
  await weir.drained();

  const named = async (path: string, name: string): Promise<number> =>
    (await call('GET', path)).data.filter((each: Named) => each.name === name).length;
  const act = async (on: string, item: string): Promise<void> => {
    await button(on).click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
  };
  const own = (name: string | RegExp) => () => dialog().getByRole('button', { name, exact: typeof name === 'string' });
  const year = new Date().getUTCFullYear() + 1;
  const priceOf = (text: string) => page.getByRole('row', { name: new RegExp(`Base fee ${text}`) });
  const before = () => dialog().getByRole('textbox', { name: 'Also on invoices issued before' });
  const link = page.getByRole('region', { name: 'The invitation of grace@example.com' });
  const lost = 'nobody can show it again: make another one.';
  return [
    {
      name: 'an alert',
      async fill() {
        await page.goto('/alerts');
        await button('New alert').click();
        await field('Name').fill('Nearly');
        await choose(/^Meter/, /^Meter /);
        await field('Thresholds').fill('80 100');
      },
      button: () => button('Create the alert'),
      write: ['POST', /\/alerts$/],
      count: () => named('/alerts', 'Nearly'),
      typed: () => [field('Thresholds'), '80 100'],
      done: () => titled('Nearly'),
    },
    {
      name: 'a webhook endpoint',
      async fill() {
        await page.goto('/webhooks');
        await button('New endpoint').click();
        await field('URL').fill('https://example.com/2');
      },
      button: () => button('Create the endpoint'),
      write: ['POST', /\/webhook-endpoints$/],
      count: async () => (await call('GET', '/webhook-endpoints')).data.length,
      typed: () => [field('URL'), 'https://example.com/2'],
      done: () => dialog().locator('pre'),
      doneAgain: () => dialog().getByText(lost),
    },
    {
      name: 'a rotated secret',
      async fill() {
        await page.goto(`/webhooks/${endpoint.id}`);
        await act('More actions', 'Rotate the secret');
      },
      button: own('Rotate the secret'),
      write: ['POST', /\/rotate$/],
      async count() {
        const { data } = await call('GET', '/audit-log?limit=100');
        return data.filter(({ action }: { action: string }) => action === 'webhook_endpoint.rotate').length;
      },
      done: () => dialog().locator('pre'),
      doneAgain: () => dialog().getByText(lost),
    },
    {
      name: 'a service account',
      async fill() {
        await page.goto('/service-accounts');
        await button('New service account').click();
        await field('Name').fill('Provisioning');
      },
      button: () => button('Create the account'),
      write: ['POST', /\/service-accounts$/],
      count: () => named('/service-accounts', 'Provisioning'),
      typed: () => [field('Name'), 'Provisioning'],
      done: () => titled('Provisioning'),
    },
    {
      name: 'a token',
      async fill() {
        await page.goto(`/service-accounts/${account.id}`);
        await button('New token').click();
        await field('Name').fill('Host 1');
      },
      button: () => button('Create the token'),
      write: ['POST', /\/tokens$/],
      count: () => named(`/service-accounts/${account.id}/tokens`, 'Host 1'),
      typed: () => [field('Name'), 'Host 1'],
      done: () => dialog().locator('pre'),
      doneAgain: () => dialog().getByText('Delete this token, and make another.'),
    },
    {
      name: 'an invitation',
      async fill() {
        await page.goto('/settings?tab=people');
        await button('Invite somebody').click();
        await field(/^Email/).fill('grace@example.com');
      },
      button: () => button('Make the invitation'),
      write: ['POST', /\/invitations$/],
      count: async () => (await call('GET', '/invitations')).data.length,
      typed: () => [field(/^Email/), 'grace@example.com'],
      done: () => link.locator('pre'),
      doneAgain: () => link.getByText(lost),
    },
    {
      name: 'a change of plan now',
      async fill() {
        await page.goto(`/subscriptions/${subscription}`);
        await button('Change plan').click();
        await field(/^Now/).check();
        await choose(/^New plan/, /^Extra /);
        await dialog().getByRole('region', { name: 'Invoice of the change' }).getByRole('table').waitFor();
      },
      button: () => button('Change now'),
      write: ['POST', /\/change$/],
      count: async () => (await call('GET', `/subscriptions/${subscription}`)).cycle,
      typed: () => [field(/^New plan/), 'Extra (every day, USD)'],
      done: () => titled('Extra for globex'),
    },
    {
      name: 'a plan that is changed',
      async fill() {
        await page.goto(`/plans/${extra.id}/edit`);
        await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Extra large');
      },
      button: () => button('Save'),
      write: ['PATCH', /\/plans\/[^/]+$/],
      count: () => named('/plans?page_size=100', 'Extra large'),
      typed: () => [page.getByRole('textbox', { name: 'Name', exact: true }), 'Extra large'],
      done: () => titled('Extra large'),
    },
    {
      name: 'a price from a day on',
      async fill() {
        await page.goto(`/plans/${extra.id}/edit`);
        await act('Actions on Base fee', 'New price');
        await page.getByLabel(/^Price of a day/).fill('59');
        await page.getByRole('textbox', { name: 'From (empty: now)' }).fill(`1 Jan ${year}`);
      },
      button: () => button('Save'),
      write: ['PATCH', /\/plans\/[^/]+$/],
      count: async () => (await call('GET', `/plans/${extra.id}`)).charges.length,
      typed: () => [page.getByRole('textbox', { name: 'From (empty: now)' }), `1 Jan ${year}`],
      done: () => priceOf(`59\\.00 .* from 1 Jan ${year}`),
    },
    {
      name: 'finalizing many',
      async fill() {
        await page.goto('/invoices?status=DRAFT');
        await page.getByRole('button', { name: /^Finalize these \d+$/ }).click();
      },
      button: own(/^Finalize these \d+$/),
      write: ['POST', /\/invoices\/finalize$/],
      count: async () => Number((await call('GET', '/invoices?status=DRAFT')).data.length === 0),
      done: () => page.getByRole('dialog', { name: 'What became of the drafts' }),
    },
    {
      name: 'voiding many events',
      async fill() {
        await page.goto('/events?customer=hooli');
        await button('Void these events').click();
        await field('Reason').fill('A test run');
        await dialog().getByRole('region', { name: 'What it does' }).getByRole('table').waitFor();
      },
      button: () => button('Void 2 events'),
      write: ['POST', /\/corrections$/],
      count: async () => (await call('GET', '/events?status=voided')).data.length / 2,
      typed: () => [field('Reason'), 'A test run'],
      done: () => page.locator('.notice', { hasText: '2 events do not count any more.' }),
    },
    {
      name: 'the end of a grant',
      async fill() {
        await page.goto(`/customers/${umbrella.id}?tab=credits`);
        await act('Actions on the credit of 25.00 USD', 'Void credit');
      },
      button: own('Void credit'),
      write: ['POST', /\/credits\/[^/]+\/void$/],
      count: async () => Number((await call('GET', `/credits?customer_id=${umbrella.id}`)).data[0].status !== 'ACTIVE'),
      done: () => page.getByText(/^Balance: (?:none|0\.00 USD)$/),
    },
    {
      name: 'a payment that is taken back',
      async fill() {
        await call('POST', `/invoices/${invoice.id}/pay`);
        await page.goto(`/invoices/${invoice.id}`);
        await act('Actions on the payment of 49.00 USD', 'Take back');
        await field('Note').fill('By mistake');
      },
      button: () => button('Take back'),
      write: ['DELETE', /\/payments\/[^/]+$/],
      count: async () => Number((await call('GET', `/invoices/${invoice.id}`)).status === 'OPEN'),
      typed: () => [field('Note'), 'By mistake'],
      done: () => page.getByRole('cell', { name: /^taken back/ }),
    },
    {
      name: 'an erasure',
      async fill() {
        await page.goto(`/customers/${umbrella.id}`);
        await act('More actions', 'Erase');
        await before().fill('1 Jan 2016');
      },
      button: own('Erase'),
      write: ['POST', /\/erasures$/],
      count: async () => (await call('GET', '/erasures')).data.length,
      typed: () => [before(), '1 Jan 2016'],
      sent: { customer_id: umbrella.id, invoice_copies_issued_before: '2016-01-01' },
      done: () => titled(/^erased-/),
    },
    {
      name: 'the seller',
      async fill() {
        await page.goto('/settings');
        await page.getByLabel('Legal name').fill('Weir Works');
      },
      button: () => button('Save seller'),
      write: ['PATCH', /\/billing\/settings$/],
      count: async () => Number((await call('GET', '/billing/settings')).seller?.legal_name === 'Weir Works'),
      typed: () => [page.getByLabel('Legal name'), 'Weir Works'],
      done: () => page.locator('.notice', { hasText: 'The seller is saved.' }),
    },
  ];
}

/** The first steps of Home, for an organization that has nothing yet. Its page sees by itself when one is done. */
export function firstStepsOf({ weir, organization, page, call, button }: Hands) {
  const field = (label: string) => page.getByRole('textbox', { name: label, exact: true });
  const countOf = (path: string) => async (): Promise<number> => (await call('GET', path)).data.length;
  return {
    meter: {
      name: 'the first meter',
      async fill() {
        await page.goto('/');
        await field('Name of the meter').fill('Requests');
      },
      button: () => button('Make the meter'),
      write: ['POST', /\/features$/],
      count: countOf('/meters'),
      typed: () => [field('Name of the meter'), 'Requests'],
      done: () => page.getByText('Requests counts by COUNT.'),
    },
    key: {
      name: 'the first key',
      async fill() {
        await page.goto('/');
        await field('Name').fill('Backend');
      },
      button: () => button('Create the key'),
      write: ['POST', /\/api-keys$/],
      count: countOf('/api-keys'),
      typed: () => [field('Name'), 'Backend'],
      done: () => page.getByText('Keep it like a password'),
    },
    plan: {
      name: 'the first plan',
      async fill() {
        const { meter_token } = (await call('GET', '/meters')).data[0];
        const body = { meter_token, customer_external_id: 'acme', quantity: 1 };
        const apiKey = await organization.createKey();
        await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
        await weir.drained();
        await page.goto('/');
        await field('Price of a unit').fill('0.5');
      },
      button: () => button('Make the plan'),
      write: ['POST', /\/plans$/],
      count: countOf('/plans'),
      typed: () => [field('Price of a unit'), '0.5'],
      done: () => page.getByText(/^Customers can be subscribed to/),
    },
    subscription: {
      name: 'the first subscription',
      async fill() {
        await page.goto('/');
        await field('Customer').fill('acme-2');
      },
      button: () => button('Subscribe to Pay as you go'),
      write: ['POST', /\/subscriptions$/],
      count: countOf('/subscriptions'),
      typed: () => [field('Customer'), 'acme-2'],
      done: () => page.getByText(/^acme-2 is on Pay as you go/),
    },
  } satisfies Record<string, Step>;
}
