// Service accounts and their tokens, as tests need them.

import type { Organization, RequestOptions, Weir } from './harness.ts';

export interface ServiceAccount {
  id: string;
  tokenId: string;
  token: string;
  /** What makes a request one of the account's. */
  credential: RequestOptions;
}

export const bearer = (token: string): RequestOptions => ({ headers: { authorization: `Bearer ${token}` } });

/** Makes a token of an account that is there. */
export async function makeToken(
  weir: Weir,
  { session }: Pick<Organization, 'session'>,
  id: string,
  fields: { expires_at?: string } = {},
): Promise<ServiceAccount> {
  const body = { name: 'Token', ...fields };
  const made = await weir.request('POST', `/api/v1/service-accounts/${id}/tokens`, { session, body });
  if (made.status !== 201) throw new Error(`making a token answered ${JSON.stringify(made.body)}`);
  return { id, tokenId: made.body.id, token: made.body.token, credential: bearer(made.body.token) };
}

/** Makes an account with one token. */
export async function makeServiceAccount(
  weir: Weir,
  organization: Pick<Organization, 'session'>,
  role: 'viewer' | 'biller' | 'admin',
  name = `The ${role}`,
): Promise<ServiceAccount> {
  const { session } = organization;
  const made = await weir.request('POST', '/api/v1/service-accounts', { session, body: { name, role } });
  if (made.status !== 201) throw new Error(`making an account answered ${JSON.stringify(made.body)}`);
  return await makeToken(weir, organization, made.body.id);
}
