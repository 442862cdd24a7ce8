// What hostile clients sign up for before they begin: anyone can have that.

import { HttpClient } from '../clients/http-client.ts';
import { create } from '../clients/set-up.ts';
import type { HostileAccount } from '../history.ts';
import { HOSTILE_CUSTOMER } from './messages.ts';
import { HOSTILE_ADDRESSES } from './raw-connections.ts';

const ACCOUNTS = 2;

/** Signs up at this API, each account from an address of its own. */
export async function makeHostileAccounts(port: number): Promise<HostileAccount[]> {
  const accounts: HostileAccount[] = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const client = new HttpClient(`http://127.0.0.1:${port}`, HOSTILE_ADDRESSES[index % HOSTILE_ADDRESSES.length]);
    accounts.push(await makeAccount(client, index));
    client.close();
  }
  return accounts;
}

async function makeAccount(client: HttpClient, index: number): Promise<HostileAccount> {
  const email = `stranger-${index}@example.net`;
  const password = `nobody knows what I am up to ${index}`;
  const post = (path: string, body: object, headers?: Record<string, string>) =>
    create(client, `/api/v1${path}`, body, headers);
  const signUp = await post('/auth/signup', { email, password, organization_name: `Strangers ${index}` });
  const session = signUp.answer.session ?? '';
  const { id } = signUp.body['organization'] as { id: string };
  const cookie = { cookie: `access_token=${session}` };
  const feature = { name: 'anything', lookup_key: 'anything', type: 'meter', aggregation_type: 'COUNT' };
  const { body: meter } = await post('/features', feature, cookie);
  const { body: key } = await post('/api-keys', { name: 'any', scopes: ['usage.write', 'usage.read'] }, cookie);
  const apiKey = String(key['key']);
  const { body: widget } = await post(
    '/widget/token',
    { customer_external_id: HOSTILE_CUSTOMER },
    { 'x-api-key': apiKey },
  );
  return {
    index,
    id,
    email,
    password,
    session,
    apiKey,
    meterId: String(meter['meter_id']),
    meterToken: String(meter['meter_token']),
    widgetToken: String(widget['token']),
  };
}
