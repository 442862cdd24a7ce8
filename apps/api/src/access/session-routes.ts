// Signing up, in and out. What a session opens is decided in authenticate.ts.

import { insertAuditEntry } from '@weir/db/audit-log';
import type { Database, Queries } from '@weir/db/database';
import { hasOrganization, insertOrganization, lockFirstSignup } from '@weir/db/organizations';
import { deleteSession } from '@weir/db/sessions';
import { findAccount, findAccountByEmail, insertUser } from '@weir/db/users';
import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import { displayName, nothing } from '../http/fields.ts';
import { problemResponses } from '../http/problem.ts';
import type { ApiSettings } from '../settings.ts';
import { accountAnswer, answerAccount, email } from './accounts.ts';
import { originOf } from './audit.ts';
import { personOf, requireSameOrigin, sessionTokensOf } from './authenticate.ts';
import { SESSION_COOKIE } from './openings.ts';
import type { PasswordTurns } from './password-turns.ts';
import { newPassword } from './passwords.ts';
import { hashSecret } from './secrets.ts';
import { beginSession, cookieOf, sendSession } from './sign-in.ts';
import type { Throttle } from './throttle.ts';
import type { RouteDeps } from '../route-deps.ts';

export interface SessionDeps extends RouteDeps {
  throttle: Throttle;
  passwords: PasswordTurns;
  settings: Pick<ApiSettings, 'SIGNUP' | 'PUBLIC_URL'>;
}

const signupBody = z.strictObject({ email, password: newPassword, organization_name: displayName });

// An address or password that no account can have is told as a wrong one, and not what a valid one looks like.
const loginBody = z.strictObject({
  email: text(1, LIMITS.email),
  password: text(1, LIMITS.password).meta({ format: 'password' }),
});

const SIGNUP_CLOSED =
  'Sign-up is closed here: sign in with the account of your organization, or have whoever runs this Weir start it with ' +
  'SIGNUP=open for as long as you sign up.';

export function sessionRoutes(app: App, { database, guards, throttle, passwords, settings }: SessionDeps): void {
  const db = database.kysely;
  const publicUrl = settings.PUBLIC_URL;
  const sameOrigin = async (request: FastifyRequest) => requireSameOrigin(request, publicUrl);

  app.post(
    '/api/v1/auth/signup',
    {
      onRequest: sameOrigin,
      schema: {
        operationId: 'signUp',
        tags: ['Access'],
        summary: 'Create an organization and its first admin, and sign in',
        description: 'Open only until there is an organization, unless the setting SIGNUP says otherwise.',
        security: [],
        body: signupBody,
        response: { 201: accountAnswer, ...problemResponses('signup_closed', 'email_taken') },
      },
    },
    async (request, reply) => {
      const { email, password, organization_name } = request.body;
      // Asked here so that a closed door costs no hashing, and again below, where two first ones take turns.
      await requireOpenSignup(database, settings.SIGNUP);
      // A sign-up says whether an address is taken, so trying addresses is slowed down as trying passwords is.
      const takeBack = await throttle.count(`signup ${email}`, request.ip);
      const takeBackSignup = await throttle.countSignup(request.ip);
      const password_hash = await passwords.hash(request, password).catch(async (error: unknown) => {
        await takeBackSignup();
        throw error;
      });
      const account = {
        user_id: newId(),
        email,
        role: 'admin' as const,
        organization_id: newId(),
        organization_name,
        password_hash,
      };
      const { organization_id, user_id: id, role } = account;
      let token: string | undefined;
      try {
        token = await db.transaction().execute(async (transaction) => {
          if (settings.SIGNUP === 'first') {
            await lockFirstSignup(transaction);
            if (await hasOrganization(transaction)) throw new Refusal('signup_closed', SIGNUP_CLOSED);
          }
          await insertOrganization(transaction, { id: organization_id, name: organization_name });
          await insertUser(transaction, { organization_id, id, email, password_hash, role });
          const signIn = { account, action: 'organization.create', resourceId: organization_id } as const;
          return await beginSession(transaction, request, signIn);
        });
      } catch (error) {
        await takeBackSignup();
        throw error;
      }
      await takeBack();
      return reply.code(201).send(await sendSession(request, reply, { token, account }, { publicUrl, throttle }));
    },
  );

  app.post(
    '/api/v1/auth/login',
    {
      onRequest: sameOrigin,
      schema: {
        operationId: 'signIn',
        tags: ['Access'],
        summary: 'Sign in',
        description: `Sets the cookie ${SESSION_COOKIE}. A session ends after ${LIMITS.sessionIdleHours} hours without a request, and after ${LIMITS.sessionDays} days.`,
        security: [],
        body: loginBody,
        response: { 200: accountAnswer, ...problemResponses('unauthenticated') },
      },
    },
    async (request, reply) => {
      const email = request.body.email.toLowerCase();
      const attempted = { email, find: () => findAccountByEmail(db, email) };
      const { account, isRight } = await passwords.attempt(request, attempted, request.body.password);
      const token =
        isRight && account !== undefined
          ? await db
              .transaction()
              .execute((transaction) => beginSession(transaction, request, { account, action: 'session.create' }))
          : undefined;
      if (account === undefined || token === undefined) {
        // Not the address that was typed: people type their passwords there, too.
        request.log.warn({ user_id: account?.user_id ?? null, address: request.ip }, 'a sign-in failed');
        throw new Refusal(
          'unauthenticated',
          'The email address or the password is not right: check both and try again.',
        );
      }
      return await sendSession(request, reply, { token, account }, { publicUrl, throttle });
    },
  );

  app.post(
    '/api/v1/auth/logout',
    {
      onRequest: sameOrigin,
      schema: {
        operationId: 'signOut',
        tags: ['Access'],
        summary: 'Sign out',
        description: 'The session ends at once. Without a session there is nothing to end, and the answer is the same.',
        security: [{}, { session: [] }],
        response: { 204: nothing },
      },
    },
    async (request, reply) => {
      for (const token of sessionTokensOf(request))
        await db.transaction().execute((transaction) => endSession(transaction, request, token));
      return reply.clearCookie(SESSION_COOKIE, cookieOf(publicUrl)).code(204).send(null);
    },
  );

  app.get(
    '/api/v1/auth/me',
    {
      onRequest: guards.person,
      schema: {
        operationId: 'getAccount',
        tags: ['Access'],
        summary: 'Who is signed in',
        response: { 200: accountAnswer },
      },
    },
    async (request) => {
      const account = await findAccount(db, request.caller.organizationId, personOf(request).userId);
      if (account === undefined)
        throw new Refusal('unauthenticated', 'This account does not exist any more: sign in again.');
      return answerAccount(account);
    },
  );
}

async function requireOpenSignup(database: Database, signup: ApiSettings['SIGNUP']): Promise<void> {
  if (signup === 'open') return;
  if (signup === 'closed' || (await hasOrganization(database.kysely)))
    throw new Refusal('signup_closed', SIGNUP_CLOSED);
}

async function endSession(transaction: Queries, request: FastifyRequest, token: string): Promise<void> {
  const ended = await deleteSession(transaction, hashSecret(token));
  if (ended === undefined) return;
  const { id, organization_id, user_id } = ended;
  const account = await findAccount(transaction, organization_id, user_id);
  await insertAuditEntry(transaction, {
    id: newId(),
    organization_id,
    action: 'session.delete',
    resource_id: id,
    actor_type: 'user',
    actor_id: user_id,
    actor_email: account?.email ?? null,
    ...originOf(request),
    changes: null,
    is_done: true,
  });
}
