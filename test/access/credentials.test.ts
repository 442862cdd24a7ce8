// Which credential opens which operation, for every operation of the API: what the OpenAPI document says, and nothing more.

import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization, type RequestOptions } from '../support/harness.ts';
import { join } from '../support/people.ts';
import { sharedWeir } from '../support/use-weir.ts';

interface Operation {
  name: string;
  method: string;
  path: string;
  opensTo: string[];
  isTracking: boolean;
}

const weir = sharedWeir();
let organization: Organization;
let operations: Operation[];
/** Each kind of credential, by the name of its scheme. The key has every scope, so that scopes are not what refuses it. */
let credentials: Record<'session' | 'apiKey' | 'widgetToken', RequestOptions>;

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

beforeAll(async () => {
  organization = await signUp(weir);
  const apiKey = await organization.createKey();
  const widget = { apiKey, body: { customer_external_id: 'ada' } };
  const { body } = await weir.request('POST', '/api/v1/widget/token', widget);
  credentials = { session: { session: organization.session }, apiKey: { apiKey }, widgetToken: bearer(body.token) };

  const { body: document } = await weir.request('GET', '/openapi.json');
  type Methods = Record<string, { security?: object[]; tags: string[] }>;
  operations = Object.entries<Methods>(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    )
    .filter(({ path }) => path.startsWith('/api/v1/'))
    .map(({ path, method, security = [], tags }) => ({
      name: `${method} ${path}`,
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/g, '01890000-0000-7000-8000-000000000001'),
      opensTo: security.flatMap((scheme) => Object.keys(scheme)),
      isTracking: tags.includes('Tracking'),
    }));
});

/** A body that no operation takes, so that nothing is changed by what gets through. */
async function codeOf({ method, path }: Operation, options: RequestOptions): Promise<string> {
  const body = method === 'POST' || method === 'PATCH' ? { body: { nothing: 'here' } } : {};
  const answer = await weir.request(method, path, { ...body, ...options });
  return `${answer.status} ${answer.body.code}`;
}

const guarded = () => operations.filter(({ name, opensTo }) => opensTo.length > 0 && !name.endsWith('/auth/logout'));

test('every operation asks for a credential, but for ways to sign up, in and out', () => {
  const open = operations.filter((operation) => !guarded().includes(operation)).map(({ name }) => name);
  expect(open.toSorted()).toEqual([
    'get /api/v1/auth/options',
    'post /api/v1/auth/invitation',
    'post /api/v1/auth/invitation/accept',
    'post /api/v1/auth/login',
    'post /api/v1/auth/logout',
    'post /api/v1/auth/password-reset',
    'post /api/v1/auth/password-reset/request',
    'post /api/v1/auth/signup',
  ]);
  expect(guarded().length).toBeGreaterThan(35);
});

test('no operation opens without a credential, or with one that is not valid', async () => {
  const invalid: RequestOptions[] = [
    {},
    { session: 'A'.repeat(43) },
    { apiKey: `org_live_${'A'.repeat(33)}` },
    bearer(`wgt_${'A'.repeat(43)}`),
  ];
  for (const operation of guarded())
    for (const options of invalid) expect(await codeOf(operation, options), operation.name).toBe('401 unauthenticated');
});

test('an operation opens to the credentials that the document names, and to no other', async () => {
  for (const operation of guarded()) {
    for (const [scheme, options] of Object.entries(credentials)) {
      const isOpen = !/^40[13]/.test(await codeOf(operation, options));
      expect(isOpen, `${operation.name} ${scheme}`).toBe(operation.opensTo.includes(scheme));
    }
  }
});

test('a credential in the place of another one opens nothing', async () => {
  const [session = '', apiKey = ''] = [credentials.session.session, credentials.apiKey.apiKey];
  const token = credentials.widgetToken.headers?.['authorization']?.slice(7) ?? '';
  const misplaced: RequestOptions[] = [
    { session: apiKey },
    { session: token },
    { apiKey: session },
    { apiKey: token },
    bearer(session),
    bearer(apiKey),
  ];
  for (const operation of guarded())
    for (const options of misplaced)
      expect(await codeOf(operation, options), operation.name).toBe('401 unauthenticated');
});

test('a key opens reading or writing by its scope', async () => {
  const [reads, writes] = [await organization.createKey('usage.read'), await organization.createKey('usage.write')];
  for (const operation of guarded().filter(({ opensTo }) => opensTo.includes('apiKey'))) {
    const isWriting = operation.isTracking || operation.name === 'post /api/v1/widget/token';
    const [right, wrong] = isWriting ? [writes, reads] : [reads, writes];
    expect(await codeOf(operation, { apiKey: wrong }), operation.name).toBe('403 missing_scope');
    expect(await codeOf(operation, { apiKey: right }), operation.name).not.toMatch(/^40[13]/);
  }
});

test('a viewer reads everything that an admin reads, and changes nothing but what is one’s own', async () => {
  const viewer = { session: (await join(weir, organization, 'viewer')).session };
  const toPeople = guarded().filter(({ opensTo }) => opensTo.includes('session'));
  const open: string[] = [];
  for (const operation of toPeople) {
    const code = await codeOf(operation, viewer);
    // What gets through ends here: the body is none, and the ids are nobody's.
    if (code !== '403 admin_only') open.push(operation.name);
  }
  expect(open.filter((name) => !name.startsWith('get ')).toSorted()).toEqual([
    'delete /api/v1/auth/sessions',
    'delete /api/v1/auth/sessions/{id}',
    'post /api/v1/auth/password',
    'post /api/v1/charges/evaluate',
    'post /api/v1/invoices/{id}/recompute',
    'post /api/v1/subscriptions/preview',
  ]);
  const reading = toPeople.filter(({ method }) => method === 'GET');
  expect(open.filter((name) => name.startsWith('get '))).toEqual(reading.map(({ name }) => name));
  for (const operation of reading)
    expect(await codeOf(operation, viewer), operation.name).toBe(await codeOf(operation, credentials.session));
});
