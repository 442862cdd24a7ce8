import type { Caller } from './load/plan.ts';

const ADMIN = { email: 'bench@example.com', password: 'a password for one round' } as const;

export interface SignedUp {
  caller: Caller;
  /** Sends something as the admin who signed up, and returns what was made. Throws for any other answer. */
  post(path: string, body: unknown): Promise<Record<string, unknown>>;
}

/** Keeps the session that an answer opens, where it has none yet. */
function postWith(baseUrl: string, session = ''): SignedUp['post'] {
  return async (path, body) => {
    const response = await fetch(`${baseUrl}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(session !== '' && { cookie: session }) },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${text}`);
    session ||= response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return JSON.parse(text) as Record<string, unknown>;
  };
}

/** Makes an organization with a meter and an API key on a fresh Weir, as a person would. */
export async function signUp(baseUrl: string): Promise<SignedUp> {
  const post = postWith(baseUrl);
  await post('/auth/signup', {
    ...ADMIN,
    organization_name: 'Bench',
  });
  const feature = await post('/features', {
    name: 'Requests',
    lookup_key: 'requests',
    type: 'meter',
    aggregation_type: 'SUM',
  });
  const key = await post('/api-keys', { name: 'bench', scopes: ['usage.write', 'usage.read'] });
  return { caller: { apiKey: String(key['key']), meterToken: String(feature['meter_token']) }, post };
}

/** Sends as the admin of `signUp`, whom it signs in. */
export async function signInToPost(baseUrl: string): Promise<SignedUp['post']> {
  return postWith(baseUrl, await signIn(baseUrl));
}

/** Signs the admin of `signUp` in, and returns the cookie of the session. */
export async function signIn(baseUrl: string): Promise<string> {
  const response = await fetch(`${baseUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN),
  });
  if (!response.ok) throw new Error(`signing in was answered ${response.status}: ${await response.text()}`);
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}
