// Whom the clients work for. All of it is made before the first fault, so that afterwards only what is meant to fail does.

import { AGGREGATION_TYPES } from '@weir/shared/meter';
import type { History, OrganizationLine } from '../history.ts';
import type { Answer, HttpClient, Message, NoAnswer } from './http-client.ts';

const ORGANIZATIONS = 4;
const CUSTOMERS = 24;
/** Usage is not lost because a customer has no record, so some of them have none. */
const CUSTOMERS_WITH_RECORD = 6;

const TIMEOUT_MS = 30_000;

export type Organization = Omit<OrganizationLine, 'type' | 'at'>;

/** The external ids under which events are sent. */
export const CUSTOMER_IDS = Array.from({ length: CUSTOMERS }, (_, index) => `customer-${index}`);

/** Makes the organizations of the run with a meter of every kind, and writes them to the history. */
export async function makeOrganizations(client: HttpClient, history: History): Promise<Organization[]> {
  const made: Organization[] = [];
  for (let index = 0; index < ORGANIZATIONS; index += 1) {
    const organization = await makeOrganization(client, index);
    history.write({ type: 'organization', at: history.now(), ...organization });
    made.push(organization);
  }
  return made;
}

async function makeOrganization(client: HttpClient, index: number): Promise<Organization> {
  const credentials = { email: `admin-${index}@example.com`, password: `correct horse battery staple ${index}` };
  const signUp = await create(client, '/api/v1/auth/signup', {
    ...credentials,
    organization_name: `Organization ${index}`,
  });
  const { session } = signUp.answer;
  if (session === undefined) throw new Error('signing up set no session cookie');
  const headers = sessionHeaders(session);

  const meters: Organization['meters'] = [];
  for (const aggregation of AGGREGATION_TYPES) {
    const name = aggregation.toLowerCase();
    const body = { name, lookup_key: name, type: 'meter', aggregation_type: aggregation };
    const { body: feature } = await create(client, '/api/v1/features', body, headers);
    meters.push({ id: String(feature['meter_id']), token: String(feature['meter_token']), aggregation });
  }

  const customers: Organization['customers'] = [];
  for (const externalId of CUSTOMER_IDS.slice(0, CUSTOMERS_WITH_RECORD)) {
    const { body } = await create(client, '/api/v1/customers', { external_id: externalId }, headers);
    customers.push({ id: String(body['id']), externalId });
  }

  const scopes = ['usage.write', 'usage.read'];
  const { body: key } = await create(client, '/api/v1/api-keys', { name: 'clients', scopes }, headers);
  const { id } = signUp.body['organization'] as { id: string };
  return { index, id, session, apiKey: String(key['key']), meters, customers };
}

async function create(
  client: HttpClient,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ answer: Answer; body: Record<string, unknown> }> {
  const message: Message = { method: 'POST', path, headers, body: JSON.stringify(body) };
  const answer: Answer | NoAnswer = await client.attempt(message, TIMEOUT_MS);
  if (!('status' in answer)) throw new Error(`POST ${path} was not answered: ${answer.why}`);
  if (answer.status !== 201) throw new Error(`POST ${path} was answered ${answer.status}: ${answer.text}`);
  return { answer, body: JSON.parse(answer.text) as Record<string, unknown> };
}

export function sessionHeaders(session: string): Record<string, string> {
  return { cookie: `access_token=${session}` };
}
