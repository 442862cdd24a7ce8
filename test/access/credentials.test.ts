// Which credential opens which operation, for every operation of the API and every kind of credential: one table, which the document says
// too. The groups of operations are in test/support/who-may.ts.

import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization, type RequestOptions } from '../support/harness.ts';
import { join } from '../support/people.ts';
import { bearer, makeServiceAccount } from '../support/service-accounts.ts';
import { sharedWeir } from '../support/use-weir.ts';
import { WHO_MAY, type Group } from '../support/who-may.ts';

const NO = '401 unauthenticated';
const TWO = '400 two_credentials';
const PERSON = '403 person_only';
const ROLE = '403 missing_role';
const SCOPE = '403 missing_scope';
const ADMIN = '403 admin_only';

/** What a credential meets: `open`, or how it is refused. In the order of the groups below. */
const GROUPS = ['person', 'adminPerson', 'viewer', 'biller', 'admin', 'read', 'write', 'widget'] as const;
const TABLE = {
  nothing: [NO, NO, NO, NO, NO, NO, NO, NO],
  'the session of a viewer': ['open', ADMIN, 'open', ADMIN, ADMIN, 'open', NO, NO],
  'the session of an admin': ['open', 'open', 'open', 'open', 'open', 'open', NO, NO],
  'a service account that is viewer': [PERSON, PERSON, 'open', ROLE, ROLE, 'open', NO, NO],
  'a service account that is biller': [PERSON, PERSON, 'open', 'open', ROLE, 'open', NO, NO],
  'a service account that is admin': [PERSON, PERSON, 'open', 'open', 'open', 'open', NO, NO],
  'a service account of another organization': [PERSON, PERSON, 'open', 'open', 'open', 'open', NO, NO],
  'an API key with usage.read': [NO, NO, NO, NO, NO, 'open', SCOPE, NO],
  'an API key with usage.write': [NO, NO, NO, NO, NO, SCOPE, 'open', NO],
  'an API key with both': [NO, NO, NO, NO, NO, 'open', 'open', NO],
  'a widget token': [NO, NO, NO, NO, NO, NO, NO, 'open'],
  'a deleted token': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a token that has ended': [NO, NO, NO, NO, NO, NO, NO, NO],
  'the token of a deleted account': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a session that is none': [NO, NO, NO, NO, NO, NO, NO, NO],
  'an empty session': [NO, NO, NO, NO, NO, NO, NO, NO],
  'an API key that is none': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a widget token that is none': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a token that is none': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a session as an API key': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a session as a token': [NO, NO, NO, NO, NO, NO, NO, NO],
  'an API key as a session': [NO, NO, NO, NO, NO, NO, NO, NO],
  'an API key as a token': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a widget token as a session': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a widget token as an API key': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a token as a session': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a token as an API key': [NO, NO, NO, NO, NO, NO, NO, NO],
  'a session and a token': [TWO, TWO, TWO, TWO, TWO, TWO, NO, NO],
  'two sessions': [TWO, TWO, TWO, TWO, TWO, TWO, NO, NO],
  'a session behind the cookie of another program': ['open', 'open', 'open', 'open', 'open', 'open', NO, NO],
  'a session before an empty cookie': ['open', 'open', 'open', 'open', 'open', 'open', NO, NO],
  'a session twice': ['open', 'open', 'open', 'open', 'open', 'open', NO, NO],
  // A key counts where keys open anything, and the session everywhere else.
  'a session and an API key of another organization': ['open', 'open', 'open', 'open', 'open', SCOPE, 'open', NO],
  'a session and an API key that is none': ['open', 'open', 'open', 'open', 'open', NO, NO, NO],
  'a session that is none and an API key': [NO, NO, NO, NO, NO, SCOPE, 'open', NO],
  // Where only keys open anything, no token is looked at.
  'an API key and a token': [TWO, TWO, TWO, TWO, TWO, TWO, 'open', NO],
} as const satisfies Record<string, readonly string[] & { length: (typeof GROUPS)['length'] }>;

type Kind = keyof typeof TABLE;

/** What the document says of each group. */
const SECURITY: Record<Group, object[]> = {
  everybody: [],
  person: [{ session: ['viewer'] }],
  adminPerson: [{ session: ['admin'] }],
  viewer: [{ session: ['viewer'] }, { serviceToken: ['viewer'] }],
  biller: [{ session: ['admin'] }, { serviceToken: ['biller'] }],
  admin: [{ session: ['admin'] }, { serviceToken: ['admin'] }],
  read: [{ session: ['viewer'] }, { serviceToken: ['viewer'] }, { apiKey: ['usage.read'] }],
  write: [{ apiKey: ['usage.write'] }],
  widget: [{ widgetToken: [] }],
};

const weir = sharedWeir();
let organization: Organization;
let credentials: Record<Kind, RequestOptions>;

beforeAll(async () => {
  organization = await signUp(weir);
  const { session, createKey } = organization;
  const [readKey, writeKey] = [await createKey('usage.read'), await createKey('usage.write')];
  const asked = { apiKey: writeKey, body: { customer_external_id: 'ada' } };
  const widget: string = (await weir.request('POST', '/api/v1/widget/token', asked)).body.token;
  const account = (role: 'viewer' | 'biller' | 'admin') => makeServiceAccount(weir, organization, role);
  const [admin, deleted, ended, gone] = [
    await account('admin'),
    await account('admin'),
    await account('admin'),
    await account('admin'),
  ];
  for (const path of [`${deleted.id}/tokens/${deleted.tokenId}`, gone.id])
    await weir.request('DELETE', `/api/v1/service-accounts/${path}`, { session });
  await weir.pool.query('UPDATE service_account_tokens SET expires_at = now() WHERE id = $1', [ended.tokenId]);
  credentials = {
    nothing: {},
    'the session of a viewer': { session: (await join(weir, organization, 'viewer')).session },
    'the session of an admin': { session },
    'a service account that is viewer': (await account('viewer')).credential,
    'a service account that is biller': (await account('biller')).credential,
    'a service account that is admin': admin.credential,
    'a service account of another organization': (await makeServiceAccount(weir, await signUp(weir), 'admin'))
      .credential,
    'an API key with usage.read': { apiKey: readKey },
    'an API key with usage.write': { apiKey: writeKey },
    'an API key with both': { apiKey: await createKey() },
    'a widget token': bearer(widget),
    'a deleted token': deleted.credential,
    'a token that has ended': ended.credential,
    'the token of a deleted account': gone.credential,
    'a session that is none': { session: 'A'.repeat(43) },
    'an empty session': { session: '' },
    'an API key that is none': { apiKey: `org_live_${'A'.repeat(33)}` },
    'a widget token that is none': bearer(`wgt_${'A'.repeat(43)}`),
    'a token that is none': bearer(`org_svc_${'A'.repeat(49)}`),
    'a session as an API key': { apiKey: session },
    'a session as a token': bearer(session),
    'an API key as a session': { session: readKey },
    'an API key as a token': bearer(readKey),
    'a widget token as a session': { session: widget },
    'a widget token as an API key': { apiKey: widget },
    'a token as a session': { session: admin.token },
    'a token as an API key': { apiKey: admin.token },
    'a session and a token': { session, ...admin.credential },
    'two sessions': { session: `${(await signUp(weir)).session}; access_token=${session}` },
    'a session behind the cookie of another program': { session: `eyJh.eyJz.c2ln; access_token=${session}` },
    'a session before an empty cookie': { session: `${session}; access_token=` },
    'a session twice': { session: `${session}; access_token=${session}` },
    'a session and an API key of another organization': {
      session,
      apiKey: await (await signUp(weir)).createKey('usage.write'),
    },
    'a session and an API key that is none': { session, apiKey: `org_live_${'A'.repeat(33)}` },
    'a session that is none and an API key': { session: 'A'.repeat(43), apiKey: writeKey },
    'an API key and a token': { apiKey: writeKey, ...admin.credential },
  };
});

/** How a credential is refused, or `open`. The body is one that no operation takes, and the ids are nobody's: nothing is changed. */
async function meets(operation: string, options: RequestOptions): Promise<string> {
  const [method = '', path = ''] = operation.split(' ');
  const body = method === 'POST' || method === 'PATCH' ? { body: { nothing: 'here' } } : {};
  const url = path.replace(/\{\w+\}/g, '01890000-0000-7000-8000-000000000001');
  const { status, body: answer } = await weir.request(method, url, { ...body, ...options });
  return status < 400 || [404, 422].includes(status) ? 'open' : `${status} ${answer.code}`;
}

test('every operation of the document is in one group, and says who may call it', async () => {
  const { body: document } = await weir.request('GET', '/openapi.json');
  type Operation = { security?: object[]; description?: string };
  const said = Object.entries<Record<string, Operation>>(document.paths)
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    );
  const groups = Object.entries(WHO_MAY) as [Group, readonly string[]][];
  const grouped = groups.flatMap(([group, names]) => names.map((name) => [name, group] as const));
  expect(said.map(([name]) => name).toSorted()).toEqual(grouped.map(([name]) => name).toSorted());
  const groupOf = new Map(grouped);
  for (const [name, { security, description }] of said) {
    // Signing out ends a session where there is one.
    if (name === 'POST /api/v1/auth/logout') continue;
    expect(security, name).toEqual(SECURITY[groupOf.get(name) ?? 'everybody']);
    expect(description?.includes('Who may: ') ?? false, name).toBe(groupOf.get(name) !== 'everybody');
  }
});

/** What a 401 calls each scheme. */
const CHALLENGES: Record<string, string> = {
  session: 'Session cookie="access_token"',
  serviceToken: 'Bearer realm="service account"',
  apiKey: 'ApiKey header="X-API-Key"',
  widgetToken: 'Bearer realm="widget"',
};

test('a 401 names all that opens what was asked for, and a sign-in what it takes', async () => {
  for (const group of GROUPS) {
    const schemes = SECURITY[group].flatMap((scheme) => Object.keys(scheme));
    const named = schemes.map((scheme) => CHALLENGES[scheme]).join(', ');
    for (const operation of WHO_MAY[group]) {
      const [method = '', path = ''] = operation.split(' ');
      const { status, headers } = await weir.request(method, path.replace(/\{\w+\}/g, '1'), {});
      expect([status, headers.get('www-authenticate')], operation).toEqual([401, named]);
    }
  }
  const wrong = { body: { email: 'nobody@example.com', password: 'not the password' } };
  const { status, headers } = await weir.request('POST', '/api/v1/auth/login', wrong);
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Password in="body"']);
});

const AT_ONCE = 4;

/** That an operation asks its group's guard is seen with the others; of a credential in the place of another a few tell enough. */
const MISPLACED = 2;

test.each(Object.keys(TABLE) as Kind[])('with %s the table says what opens, and nothing else does', async (kind) => {
  const count = kind.includes(' as ') ? MISPLACED : undefined;
  const expected = GROUPS.flatMap((group, at) =>
    WHO_MAY[group].slice(0, count).map((operation) => [operation, TABLE[kind][at]] as const),
  );
  for (let from = 0; from < expected.length; from += AT_ONCE) {
    const some = expected.slice(from, from + AT_ONCE);
    const met = some.map(async ([operation]) => [operation, await meets(operation, credentials[kind])]);
    expect(await Promise.all(met)).toEqual(some);
  }
});

test('beside a session an API key of another organization reads that one, and makes nothing there', async () => {
  const other = await signUp(weir);
  const both = { session: organization.session, apiKey: await other.createKey('usage.read') };
  const made = await weir.request('POST', '/api/v1/customers', { ...both, body: { external_id: 'beside-a-key' } });
  expect(made.status).toBe(201);
  const path = `/api/v1/customers/${made.body.id}`;
  expect((await weir.request('GET', path, both)).status).toBe(404);
  expect((await weir.request('GET', path, { session: organization.session })).status).toBe(200);
});

test('a viewer hears from every read what an admin hears, as a person and as a service account', async () => {
  const reads = [...WHO_MAY.viewer, ...WHO_MAY.read].filter((name) => name.startsWith('GET '));
  for (const operation of reads) {
    const [, path = ''] = operation.split(' ');
    const url = path.replace(/\{\w+\}/g, '01890000-0000-7000-8000-000000000001');
    const [first, ...others] = await Promise.all(
      (['the session of an admin', 'the session of a viewer', 'a service account that is viewer'] as const).map(
        async (kind) => {
          const { status, body } = await weir.request('GET', url, credentials[kind]);
          return [status, Object.keys(body), body.data?.length];
        },
      ),
    );
    for (const other of others) expect(other, operation).toEqual(first);
  }
});
