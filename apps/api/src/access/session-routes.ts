// Signing up, in and out. What a session opens is decided in authenticate.ts.

import type { Database } from '@weir/db/database';
import { hasOrganization, insertOrganization, lockFirstSignup } from '@weir/db/organizations';
import { deleteSession, insertSession, SESSION_DAYS_MAX } from '@weir/db/sessions';
import { findAccount, findAccountByEmail, insertUser, type Account } from '@weir/db/users';
import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { text } from '@weir/shared/text';
import type { FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import { isHungUp } from '../http/connections.ts';
import { adminCodes, bodyCodes, displayName, nothing } from '../http/fields.ts';
import { problemResponses } from '../http/problem.ts';
import type { ApiSettings } from '../settings.ts';
import { requireSameOrigin, SESSION_COOKIE, sessionTokenOf, type Guards } from './authenticate.ts';
import { hashPassword, isPassword, newPassword } from './passwords.ts';
import { hashSecret, newSessionToken } from './secrets.ts';
import type { Throttle } from './throttle.ts';

export interface SessionDeps {
  database: Database;
  guards: Guards;
  throttle: Throttle;
  settings: Pick<ApiSettings, 'SIGNUP' | 'PUBLIC_URL'>;
}

const email = z
  .email({ error: ({ code }) => (code === 'invalid_type' ? undefined : 'must be an email address') })
  .max(254, 'must have at most 254 characters')
  .toLowerCase();

const signupBody = z.strictObject({ email, password: newPassword, organization_name: displayName });

// An address or password that no account can have is told as a wrong one, and not what a valid one looks like.
const loginBody = z.strictObject({ email: text(1, 254), password: text(1, 256).meta({ format: 'password' }) });

const accountAnswer = z
  .object({
    user: z.object({ id: z.uuid(), email: z.string() }),
    organization: z.object({ id: z.uuid(), name: z.string() }),
  })
  .meta({ id: 'Account' });

// Whoever is not signed in is signed out already.
const signOutCodes = adminCodes.filter((code) => code !== 'unauthenticated');

const SIGNUP_CLOSED =
  'Sign-up is closed here: sign in with the account of your organization, or have whoever runs this Weir start it with ' +
  'SIGNUP=open for as long as you sign up.';

export function sessionRoutes(app: App, { database, guards, throttle, settings }: SessionDeps): void {
  const db = database.kysely;
  // Hashing is done one at a time anyway. Attempts wait for it before they are counted: a hundred people behind one address
  // who sign in at once would else count as a hundred failures until they are found to be right.
  const oneAttemptAtATime = pLimit(1);
  const sameOrigin = async (request: FastifyRequest) => requireSameOrigin(request, settings.PUBLIC_URL);
  const cookie = {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: settings.PUBLIC_URL?.startsWith('https:') ?? false,
  } as const;

  async function startSession(
    request: FastifyRequest,
    reply: FastifyReply,
    account: Account,
  ): Promise<z.output<typeof accountAnswer>> {
    // Whoever signs in anew gets a new session, and the browser loses the cookie of the one before: that one ends.
    const before = sessionTokenOf(request);
    if (before !== undefined) await deleteSession(db, hashSecret(before));
    const token = newSessionToken();
    const { organization_id, user_id } = account;
    await insertSession(db, { token_hash: hashSecret(token), organization_id, user_id });
    // The server ends a session that is idle; the browser only has to forget the cookie when no session can be left.
    void reply.setCookie(SESSION_COOKIE, token, { ...cookie, maxAge: SESSION_DAYS_MAX * 86_400 });
    request.log.info({ organization_id, user_id, address: request.ip }, 'signed in');
    return answerAccount(account);
  }

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
        response: {
          201: accountAnswer,
          ...problemResponses(
            ...bodyCodes,
            'cross_origin',
            'signup_closed',
            'email_taken',
            'rate_limited',
            'unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      const { email, password, organization_name } = request.body;
      // Asked here so that a closed door costs no hashing, and again below, where two first ones take turns.
      await requireOpenSignup(database, settings.SIGNUP);
      // A sign-up says whether an address is taken, so trying addresses is slowed down as trying passwords is.
      const takeBack = await throttle.count(`signup ${email}`, request.ip);
      const takeBackSignup = await throttle.countSignup(request.ip);
      const password_hash = await hashPassword(password, () => isHungUp(request));
      const account = { user_id: newId(), email, organization_id: newId(), organization_name };
      const { organization_id, user_id: id } = account;
      try {
        await db.transaction().execute(async (transaction) => {
          if (settings.SIGNUP === 'first') {
            await lockFirstSignup(transaction);
            if (await hasOrganization(transaction)) throw new Refusal('signup_closed', SIGNUP_CLOSED);
          }
          await insertOrganization(transaction, { id: organization_id, name: organization_name });
          await insertUser(transaction, { organization_id, id, email, password_hash });
        });
      } catch (error) {
        await takeBackSignup();
        throw error;
      }
      await takeBack();
      await throttle.know(email, request.ip);
      return reply.code(201).send(await startSession(request, reply, account));
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
        description: `Sets the cookie ${SESSION_COOKIE}. A session ends after 12 hours without a request, and after 7 days.`,
        security: [],
        body: loginBody,
        response: {
          200: accountAnswer,
          ...problemResponses(...adminCodes, ...bodyCodes),
        },
      },
    },
    async (request, reply) => {
      const email = request.body.email.toLowerCase();
      // First of all, so that what is tried in vain while Postgres is away does not count as a wrong password.
      const account = await findAccountByEmail(db, email);
      const isRight = await oneAttemptAtATime(async () => {
        // What nobody waits for any more must not keep the others waiting.
        if (isHungUp(request)) throw new Refusal('request_timeout', 'The client has gone.');
        const takeBack = await throttle.count(email, request.ip);
        const isRight = await isPassword(request.body.password, account?.password_hash);
        if (isRight) await takeBack();
        return isRight;
      });
      if (!isRight || account === undefined) {
        // Not the address that was typed: people type their passwords there, too.
        request.log.warn({ user_id: account?.user_id ?? null, address: request.ip }, 'a sign-in failed');
        throw new Refusal(
          'unauthenticated',
          'The email address or the password is not right: check both and try again.',
        );
      }
      await throttle.know(email, request.ip);
      return await startSession(request, reply, account);
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
        response: { 204: nothing, ...problemResponses(...signOutCodes) },
      },
    },
    async (request, reply) => {
      const token = sessionTokenOf(request);
      if (token !== undefined) await deleteSession(db, hashSecret(token));
      return reply.clearCookie(SESSION_COOKIE, cookie).code(204).send(null);
    },
  );

  app.get(
    '/api/v1/auth/me',
    {
      onRequest: guards.session,
      schema: {
        operationId: 'getAccount',
        tags: ['Access'],
        summary: 'Who is signed in',
        security: [{ session: [] }],
        response: { 200: accountAnswer, ...problemResponses('unauthenticated', 'rate_limited', 'unavailable') },
      },
    },
    async (request) => {
      const { organizationId, userId = '' } = request.caller;
      const account = await findAccount(db, organizationId, userId);
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

function answerAccount(account: Account): z.output<typeof accountAnswer> {
  return {
    user: { id: account.user_id, email: account.email },
    organization: { id: account.organization_id, name: account.organization_name },
  };
}
