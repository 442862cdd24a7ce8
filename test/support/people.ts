// More people than the admin who signed up.

import { randomBytes } from 'node:crypto';
import type { Answer, Organization, Weir } from './harness.ts';

/** Somebody who was invited and has joined. */
export interface Member {
  id: string;
  email: string;
  password: string;
  session: string;
}

/** The token behind # of a link. */
export function tokenIn(link: string): string {
  return new URL(link).hash.slice(1);
}

/** The session that an answer gives to the browser. */
export function sessionIn(answer: Answer): string {
  return /access_token=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
}

/** Invites somebody into an organization, who joins at once. */
export async function join(weir: Weir, { session }: Organization, role: 'admin' | 'viewer'): Promise<Member> {
  const email = `${role}-${randomBytes(6).toString('hex')}@example.com`;
  const password = `correct horse ${randomBytes(6).toString('hex')}`;
  const invited = await weir.request('POST', '/api/v1/invitations', { session, body: { email, role } });
  if (invited.status !== 201) throw new Error(`inviting answered ${JSON.stringify(invited.body)}`);
  const body = { token: tokenIn(invited.body.link), password };
  const joined = await weir.request('POST', '/api/v1/auth/invitation/accept', { body });
  if (joined.status !== 201) throw new Error(`joining answered ${JSON.stringify(joined.body)}`);
  return { id: joined.body.user.id, email, password, session: sessionIn(joined) };
}
