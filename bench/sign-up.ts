import type { Caller } from './load/plan.ts';

/** Makes an organization with a meter and an API key on a fresh Weir, as a person would. */
export async function signUp(baseUrl: string): Promise<Caller> {
  let session = '';

  async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
    const response = await fetch(`${baseUrl}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(session !== '' && { cookie: session }) },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`POST ${path} answered ${response.status}: ${text}`);
    session ||= response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return JSON.parse(text) as Record<string, unknown>;
  }

  await post('/auth/signup', {
    email: 'bench@example.com',
    password: 'a password for one round',
    organization_name: 'Bench',
  });
  const feature = await post('/features', {
    name: 'Requests',
    lookup_key: 'requests',
    type: 'meter',
    aggregation_type: 'SUM',
  });
  const key = await post('/api-keys', { name: 'bench', scopes: ['usage.write', 'usage.read'] });
  return { apiKey: String(key['key']), meterToken: String(feature['meter_token']) };
}
