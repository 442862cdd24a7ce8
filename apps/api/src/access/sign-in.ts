// How a session begins, whichever way somebody came: by a password, a sign-up or a link.

import type { CookieSerializeOptions } from '@fastify/cookie';
import { insertAuditEntry } from '@weir/db/audit-log';
import type { Queries } from '@weir/db/database';
import { LIMITS } from '@weir/shared/limits';
import { deleteSession, insertSession } from '@weir/db/sessions';
import type { AccountWithPassword } from '@weir/db/users';
import { newId } from '@weir/shared/ids';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { answerAccount, type accountAnswer } from './accounts.ts';
import { originOf, sentWithoutSecrets } from './audit.ts';
import { sessionTokensOf } from './authenticate.ts';
import { SESSION_COOKIE } from './openings.ts';
import { hashSecret, newSessionToken } from './secrets.ts';
import type { Throttle } from './throttle.ts';

/** Whose session begins, and by what; the second and third stand in the audit log. */
export interface SignIn {
  account: AccountWithPassword;
  action: 'session.create' | 'organization.create' | 'invitation.accept' | 'user.reset_password';
  /** Of the resource, where that is not the session. */
  resourceId?: string;
}

/**
 * Begins a session in the transaction of what led to it, and returns its token. Returns undefined where the account has another
 * password by now, or is gone: then nothing was begun.
 */
export async function beginSession(
  transaction: Queries,
  request: FastifyRequest,
  { account, action, resourceId }: SignIn,
): Promise<string | undefined> {
  const token = newSessionToken();
  const { organization_id, user_id, password_hash, email } = account;
  const id = newId();
  const origin = originOf(request);
  const session = { id, token_hash: hashSecret(token), organization_id, user_id, password_hash, ...origin };
  if (!(await insertSession(transaction, session))) return undefined;
  // Whoever signs in anew gets a new session, and the browser loses the cookie of the one before: that one ends. After the
  // insert, which locks the user: everything that ends sessions takes them in this order.
  for (const before of sessionTokensOf(request)) await deleteSession(transaction, hashSecret(before));
  await insertAuditEntry(transaction, {
    id: newId(),
    organization_id,
    action,
    resource_id: resourceId ?? id,
    actor_type: 'user',
    actor_id: user_id,
    actor_email: email,
    ...origin,
    changes: action === 'session.create' ? null : sentWithoutSecrets(request),
    is_done: true,
  });
  return token;
}

/** The cookie of a session, but for its value. */
export function cookieOf(publicUrl: string | undefined): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: publicUrl?.startsWith('https:') ?? false };
}

/**
 * Gives the browser a session that has begun, and returns what it is answered. From now on the throttle knows the address it is at.
 * Throws where none could begin: the account was just made, or its password just set.
 */
export async function sendSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, account }: { token: string | undefined; account: AccountWithPassword },
  { publicUrl, throttle }: { publicUrl: string | undefined; throttle: Throttle },
): Promise<z.output<typeof accountAnswer>> {
  if (token === undefined) throw new Error('a session could not begin for an account that was just made, or changed');
  await throttle.know(account.email, request.ip);
  // The server ends a session that is idle; the browser only has to forget the cookie when no session can be left.
  void reply.setCookie(SESSION_COOKIE, token, { ...cookieOf(publicUrl), maxAge: LIMITS.sessionDays * 86_400 });
  const { organization_id, user_id } = account;
  request.log.info({ organization_id, user_id, address: request.ip }, 'signed in');
  return answerAccount(account);
}
