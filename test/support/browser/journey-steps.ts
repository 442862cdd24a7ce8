// The forms of the journey, each as it is filled in, sent and seen to be done, for test/console/interrupted.test.ts.

import type { Locator, Page } from 'playwright-core';
import type { Organization, Weir } from '../harness.ts';

const DAY_MS = 86_400_000;
const dateOf = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);

/** What the steps are taken with. */
export interface Hands {
  weir: Weir;
  organization: Organization;
  page: Page;
  /** Asks the API past the page. */
  // oxlint-disable-next-line typescript/no-explicit-any
  call: (method: string, path: string, body?: object) => Promise<any>;
  button: (name: string) => Locator;
  dialog: () => Locator;
  /** A field of the dialog. */
  field: (label: string | RegExp) => Locator;
  /** The title of a page. */
  titled: (name: string | RegExp) => Locator;
  /** Opens a list of choices, and takes one. */
  choose: (label: string | RegExp, option: string | RegExp) => Promise<void>;
}

export function handsOn(weir: Weir, organization: Organization, page: Page): Hands {
  const dialog = () => page.getByRole('dialog');
  const field = (label: string | RegExp) => dialog().getByLabel(label).and(page.locator('input, textarea'));
  return {
    weir,
    organization,
    page,
    call: organization.call,
    dialog,
    field,
    button: (name) => page.getByRole('button', { name, exact: true }),
    titled: (name) => page.getByRole('heading', { level: 1, name }),
    async choose(label, option) {
      await field(label).click();
      await page.getByRole('option', { name: option }).first().click();
    },
  };
}

/** One form of the journey. */
export interface Step {
  name: string;
  /** Goes to the form and fills it in. */
  fill: () => Promise<void>;
  /** The button that sends it. */
  button: () => Locator;
  /** What is sent. */
  write: [method: string, path: RegExp];
  /** And what it says, where that is not seen of what it makes. */
  sent?: object;
  /** How many of what it makes there are. */
  count: () => Promise<number>;
  /** What is shown when it is done, and not before. */
  done: () => Locator;
  /** A field, and what was typed there. */
  typed?: () => [field: Locator, text: string];
  /** What is shown instead of `done`, where the answer could not be repeated whole. */
  doneAgain?: () => Locator;
}

/** What the steps before have made. */
interface Made {
  name: string;
  featureId: string;
  planId: string;
  customerId: string;
  subscriptionId: string;
  invoices: { id: string; status: string }[];
  eventId: string;
}

const countOf = (list: { data: unknown[] }): number => list.data.length;

/** The forms in the order of the journey, for a feature, a plan and a customer of one name. */
export function stepsOf(
  { weir, organization, page, call, button, dialog, field, titled, choose }: Hands,
  name: string,
): Step[] {
  const made: Made = {
    name,
    featureId: '',
    planId: '',
    customerId: '',
    subscriptionId: '',
    invoices: [],
    eventId: '',
  };
  const statusOf = async (id = ''): Promise<string> => (await call('GET', `/invoices/${id}`)).status;
  const find = async (path: string): Promise<string> => (await call('GET', path)).data[0]?.id ?? '';
  /** An event of a meter of users, which does not take one without a user. Returns its id. */
  const trackEvent = async (metadata: object): Promise<string> => {
    const { meter_token } = await call('GET', `/features/${made.featureId}`);
    const event = { meter_token, customer_external_id: slug, quantity: 1, metadata };
    const apiKey = await organization.createKey();
    const { body } = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body: event });
    await weir.drained();
    return body.id;
  };
  const slug = name.toLowerCase();
  const rowsOf = async (from: string, of: string | undefined): Promise<number> =>
    (await weir.pool.query(`SELECT FROM ${from}`, [of])).rowCount ?? 0;
  const fact = (text: string) => page.locator('.facts').getByText(text, { exact: true }).first();
  return [
    {
      name: 'a feature',
      async fill() {
        await page.goto('/features');
        await button('New feature').click();
        await field(/^Name/).fill(name);
        await choose('Aggregation', /^UNIQUE_COUNT/);
      },
      button: () => button('Create feature'),
      write: ['POST', /\/features$/],
      count: async () => countOf(await call('GET', `/features?search=${slug}`)),
      typed: () => [field(/^Name/), name],
      done: () => page.getByRole('link', { name, exact: true }),
    },
    {
      name: 'a plan',
      async fill() {
        made.featureId = await find(`/features?search=${slug}`);
        await page.goto('/plans');
        await page.getByRole('link', { name: 'New plan' }).click();
        await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
        await page.getByRole('combobox', { name: 'Billed every' }).click();
        await page.getByRole('option', { name: 'day' }).click();
      },
      button: () => button('Create plan'),
      write: ['POST', /\/plans$/],
      count: async () =>
        (await call('GET', '/plans?page_size=100')).data.filter((plan: Made) => plan.name === name).length,
      typed: () => [page.getByRole('textbox', { name: 'Name', exact: true }), name],
      done: () => titled(name),
    },
    {
      name: 'a charge',
      async fill() {
        const plans: { id: string; name: string }[] = (await call('GET', '/plans?page_size=100')).data;
        made.planId = plans.find((plan) => plan.name === name)?.id ?? '';
        await page.goto(`/plans/${made.planId}/edit`);
        await page.getByRole('group', { name: 'Add a charge' }).getByRole('button', { name: 'Fixed fee' }).click();
        await page.getByRole('region', { name: 'Charges' }).getByLabel('Name').fill('Base fee');
        await page.getByLabel(/^Price of a day/).fill('49');
      },
      button: () => button('Save'),
      write: ['PATCH', /\/plans\/[^/]+$/],
      count: async () => (await call('GET', `/plans/${made.planId}`)).charges.length,
      typed: () => [page.getByLabel(/^Price of a day/), '49'],
      done: () => page.getByRole('row', { name: /Base fee 49\.00 USD each day/ }),
    },
    {
      name: 'a customer',
      async fill() {
        await page.goto('/customers');
        await button('New customer').click();
        await field(/^Name/).fill(name);
        await field('External ID').fill(slug);
      },
      button: () => button('Create customer'),
      write: ['POST', /\/customers$/],
      count: async () => countOf(await call('GET', `/customers?search=${slug}`)),
      typed: () => [field('External ID'), slug],
      done: () => titled(name),
    },
    {
      name: 'credit',
      async fill() {
        made.customerId = await find(`/customers?search=${slug}`);
        await page.goto(`/customers/${made.customerId}?tab=credits`);
        await button('Grant credit').click();
        await field('Amount').fill('10.00');
        await field('Currency').fill('USD');
      },
      button: () => button('Grant'),
      write: ['POST', /\/credits$/],
      count: async () => (await call('GET', `/customers/${made.customerId}/credits`)).grants.length,
      typed: () => [field('Amount'), '10.00'],
      done: () => page.getByText('Balance: 10.00 USD'),
    },
    {
      name: 'a subscription',
      async fill() {
        await page.goto(`/customers/${made.customerId}`);
        await button('Subscribe to a plan').click();
        await choose(/^Plan/, new RegExp(`^${name} `));
        await field(/^Start/).fill(dateOf(3));
      },
      // It says how many once it is told what is to be issued.
      button: () => page.getByRole('button', { name: /^Subscribe and make \d+ invoices$/ }),
      write: ['POST', /\/subscriptions$/],
      count: async () => countOf(await call('GET', `/subscriptions?customer_id=${made.customerId}`)),
      typed: () => [field(/^Plan/), `${name} (every day, USD)`],
      done: () => titled(`${name} for ${slug}`),
    },
    {
      name: 'a line of a draft',
      async fill() {
        made.subscriptionId = await find(`/subscriptions?customer_id=${made.customerId}`);
        made.invoices = (await call('GET', `/invoices?subscription_id=${made.subscriptionId}`)).data.reverse();
        await page.goto(`/invoices/${made.invoices[0]?.id}`);
        await button('Add a line').click();
        await field('Description').fill('Set-up');
        await field(/^Amount/).fill('7.50');
      },
      button: () => button('Add line'),
      write: ['POST', /\/lines$/],
      count: async () => countOf({ data: (await call('GET', `/invoices/${made.invoices[0]?.id}`)).lines }),
      typed: () => [field('Description'), 'Set-up'],
      done: () => page.getByRole('row', { name: /Set-up.*7\.50 USD/ }),
    },
    {
      name: 'finalizing',
      async fill() {
        await page.goto(`/invoices/${made.invoices[0]?.id}`);
        await button('Finalize').click();
      },
      button: () => dialog().getByRole('button', { name: 'Finalize' }),
      write: ['POST', /\/finalize$/],
      count: async () => Number((await statusOf(made.invoices[0]?.id)) !== 'DRAFT'),
      done: () => titled(/^INV-\d{4}-\d{6}$/),
    },
    {
      name: 'a payment',
      async fill() {
        await page.goto(`/invoices/${made.invoices[0]?.id}`);
        await button('Mark as paid').click();
        await field('Reference').fill(`ch_${slug}`);
      },
      button: () => dialog().getByRole('button', { name: 'Mark as paid' }),
      write: ['POST', /\/pay$/],
      count: () => rowsOf('payments WHERE invoice_id = $1', made.invoices[0]?.id),
      typed: () => [field('Reference'), `ch_${slug}`],
      done: () => fact('Paid'),
    },
    {
      name: 'a void invoice',
      async fill() {
        await call('POST', `/invoices/${made.invoices[1]?.id}/finalize`);
        await page.goto(`/invoices/${made.invoices[1]?.id}`);
        await button('Void').click();
        await field('Note').fill('By mistake');
        await field('Bill it again').check();
      },
      button: () => button('Void the invoice'),
      write: ['POST', /\/void$/],
      async count() {
        const waiting = await rowsOf('dues WHERE subscription_id = $1 AND rebilling', made.subscriptionId);
        return Number((await statusOf(made.invoices[1]?.id)) === 'VOID' && waiting === 1);
      },
      typed: () => [field('Note'), 'By mistake'],
      done: () => fact('Void'),
    },
    {
      name: 'a cancellation',
      async fill() {
        await page.goto(`/subscriptions/${made.subscriptionId}`);
        await button('Cancel subscription').click();
        await field('Reason').fill('Too dear');
      },
      button: () => button('Cancel the subscription'),
      write: ['POST', /\/cancel$/],
      count: async () => Number((await call('GET', `/subscriptions/${made.subscriptionId}`)).cancel_at_period_end),
      typed: () => [field('Reason'), 'Too dear'],
      done: () => page.getByText(/^It ends with its period/),
    },
    {
      name: 'an API key',
      async fill() {
        await page.goto('/api-keys');
        await button('New key').click();
        await field('Name').fill(name);
      },
      button: () => button('Create the key'),
      write: ['POST', /\/api-keys$/],
      count: async () =>
        (await call('GET', '/api-keys?page_size=100')).data.filter((key: Made) => key.name === name).length,
      typed: () => [field('Name'), name],
      done: () => dialog().locator('pre', { hasText: 'org_live_' }),
      doneAgain: () => dialog().getByText('nobody can show it again. Delete this key, and make another.'),
    },
    {
      name: 'a correction',
      async fill() {
        made.eventId = await trackEvent({});
        await page.goto(`/events?event=${made.eventId}`);
        await page.getByLabel('Metadata').fill('{ "user_id": "ann" }');
      },
      button: () => button('Correct and replay'),
      write: ['POST', /\/replay$/],
      count: async () => {
        await weir.drained();
        return Number((await call('GET', `/events/${made.eventId}`)).status === 'recorded');
      },
      typed: () => [page.getByLabel('Metadata'), '{ "user_id": "ann" }'],
      done: () => page.getByLabel('Receipt of the event').getByText('Recorded', { exact: true }),
    },
    {
      name: 'an amended event',
      async fill() {
        made.eventId = await trackEvent({ user_id: 'ann' });
        await page.goto(`/events?event=${made.eventId}`);
        await button('Amend').click();
        await field('Reason').fill('It was bo');
        await dialog().getByLabel('Metadata').fill('{ "user_id": "bo" }');
        // It is sent once one has seen what it does.
        await dialog().getByRole('region', { name: 'What it does' }).getByText(' → ').waitFor();
      },
      button: () => button('Amend the event'),
      write: ['POST', /\/amend$/],
      count: () => rowsOf(`events WHERE customer_external_id = $1 AND metadata ->> 'user_id' = 'bo'`, slug),
      typed: () => [dialog().getByLabel('Metadata'), '{ "user_id": "bo" }'],
      done: () => page.getByLabel('Receipt of the event').getByText('a voided event'),
    },
    {
      name: 'a setting',
      async fill() {
        await page.goto('/settings');
        await page.getByLabel('Payment terms (days)').fill(String(name.charCodeAt(0)));
      },
      button: () => button('Save billing settings'),
      write: ['PATCH', /\/billing\/settings$/],
      count: async () => Number((await call('GET', '/billing/settings')).payment_terms_days === name.charCodeAt(0)),
      typed: () => [page.getByLabel('Payment terms (days)'), String(name.charCodeAt(0))],
      done: () => page.locator('.notice', { hasText: 'The settings of billing are saved.' }),
    },
  ];
}
