// New passwords: with the old one, by a link that an admin makes, or by a link that is mailed.

import {
  countRecentPasswordResets,
  findPasswordReset,
  insertPasswordReset,
  usePasswordReset,
} from '@weir/db/password-resets';
import { deleteSessionsOf } from '@weir/db/sessions';
import { findAccount, findAccountByEmail, findUser, lockUser, updatePassword, type Account } from '@weir/db/users';
import { Refusal } from '@weir/shared/errors';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { z } from 'zod';
import { idInPath, nothing, time } from '../http/fields.ts';
import { NO_SUCH_THING, found, invalidFields, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { gone, made, writing } from '../http/writing/writing.ts';
import { accountAnswer } from './accounts.ts';
import { personOf, requireSameOrigin } from './authenticate.ts';
import { linkFields, mailed, type PeopleDeps } from './invitation-routes.ts';
import { holdMaker, linkToken, newLink, notValid, openLink } from './links.ts';
import { passwordResetMail } from './mail.ts';
import { newPassword } from './passwords.ts';
import { beginSession, sendSession } from './sign-in.ts';

/** Mails that wait for the server; more would wait for longer than anybody does. */
const MAILS_WAITING_MAX = 100;

export function passwordRoutes(app: App, deps: PeopleDeps): void {
  const { database, guards, throttle, passwords, publicUrl, sendMail } = deps;
  const db = database.kysely;
  const sameOrigin = async (request: FastifyRequest) => requireSameOrigin(request, publicUrl);

  app.post(
    '/api/v1/auth/password',
    {
      onRequest: guards.person,
      schema: {
        operationId: 'changePassword',
        tags: ['Access'],
        summary: 'Change one’s password',
        description: 'All other sessions of the account end, and links for a new password too.',
        body: z.strictObject({
          current_password: text(1, LIMITS.password).meta({ format: 'password' }),
          new_password: newPassword,
        }),
        response: { 204: nothing },
      },
    },
    writing(database, async (request, write) => {
      const { userId, sessionId } = personOf(request);
      const { current_password, new_password } = request.body;
      const find = () => findAccount(db, request.caller.organizationId, userId);
      const attempted = { email: personOf(request).email, find };
      const { account, isRight } = await passwords.attempt(request, attempted, current_password);
      if (account === undefined || !isRight) throw wrongPassword();
      const after = await passwords.hash(request, new_password);
      return await write.transaction(async (transaction) => {
        // Somebody else may have set a new one meanwhile.
        const isSet = await updatePassword(transaction, account, { before: account.password_hash, after });
        if (!isSet) throw wrongPassword();
        await deleteSessionsOf(transaction, account, sessionId);
        return gone();
      });
    }),
  );

  app.post(
    '/api/v1/users/:id/password-reset',
    {
      onRequest: guards.adminPerson,
      schema: {
        operationId: 'createPasswordReset',
        tags: ['Access'],
        summary: 'Make a link with which a user sets a new password',
        description: `Give the link to that person. It works once, for ${LIMITS.passwordResetHours} hours, and as long as you are an admin.`,
        params: idInPath,
        response: { 201: z.object({ ...linkFields, expires_at: time }).meta({ id: 'PasswordReset' }) },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId: organization_id } = request.caller;
      const user = found(await findUser(db, organization_id, request.params.id));
      await throttle.countLink(organization_id);
      const { link, tokenHash: token_hash } = newLink('password-reset', request, publicUrl);
      const written = await write.transaction(async (transaction) => {
        const expires_at = await insertPasswordReset(transaction, {
          token_hash,
          organization_id,
          user_id: user.id,
          made_by: await holdMaker(transaction, request),
        });
        // It was deleted meanwhile.
        if (expires_at === undefined) throw new Refusal('not_found', NO_SUCH_THING);
        return made({ link, mailed: false, expires_at }, ['link']);
      });
      const mail = passwordResetMail(user.email, link, written.body.expires_at);
      return await mailed(written, write, request, () => sendMail?.(mail, request.log));
    }),
  );

  app.post(
    '/api/v1/auth/password-reset',
    {
      onRequest: sameOrigin,
      schema: {
        operationId: 'resetPassword',
        tags: ['Access'],
        summary: 'Set a new password by a link, and sign in',
        description: 'Uses the link up. All sessions that the account had end, and all other links.',
        security: [],
        body: z.strictObject({ token: linkToken, new_password: newPassword }),
        response: { 200: accountAnswer, ...problemResponses('link_not_valid') },
      },
    },
    async (request, reply) => {
      const { found, tokenHash } = await openLink(
        { throttle, request },
        'password-reset',
        request.body.token,
        (tokenHash) => findPasswordReset(db, tokenHash),
      );
      const password_hash = await passwords.hash(request, request.body.new_password);
      const begun = await db.transaction().execute(async (transaction) => {
        // The user first: of two links of one user the second then finds that it was ended, and neither waits for the other.
        const isThere = await lockUser(transaction, found);
        if (!isThere || !(await usePasswordReset(transaction, tokenHash))) throw notValid();
        const before = await findAccount(transaction, found.organization_id, found.user_id);
        if (before === undefined) throw notValid();
        await updatePassword(transaction, found, { before: before.password_hash, after: password_hash });
        await deleteSessionsOf(transaction, found);
        const account = { ...before, password_hash };
        const signIn = { account, action: 'user.reset_password', resourceId: found.user_id } as const;
        return { account, token: await beginSession(transaction, request, signIn) };
      });
      return await sendSession(request, reply, begun, { publicUrl, throttle });
    },
  );

  // What a stranger may ask for is done after the answer: neither what it says nor when tells whether there is an account.
  const mailing = pLimit(1);
  const underWay = new Set<Promise<void>>();
  let isClosing = false;
  app.addHook('onClose', async () => {
    isClosing = true;
    await Promise.all(underWay);
  });

  app.post(
    '/api/v1/auth/password-reset/request',
    {
      onRequest: sameOrigin,
      schema: {
        operationId: 'requestPasswordReset',
        tags: ['Access'],
        summary: 'Have a link for a new password mailed',
        description:
          'The answer is the same whether there is such an account or not. Open only where mail is set up; else ask an admin of ' +
          'your organization for a link.',
        security: [],
        body: z.strictObject({ email: text(1, LIMITS.email) }),
        response: { 202: z.object({ status: z.literal('accepted') }), ...problemResponses('mail_not_set_up') },
      },
    },
    async (request, reply) => {
      if (sendMail === undefined) throw new Refusal('mail_not_set_up', NO_MAIL);
      const email = request.body.email.toLowerCase();
      await throttle.count(`reset ${email}`, request.ip);
      if (mailing.pendingCount >= MAILS_WAITING_MAX) {
        throw new Refusal('unavailable', 'Too many mails wait to be sent: try again in a minute.', {
          outcome: 'not_accepted',
          retryAfterSeconds: 60,
        });
      }
      const work = mailing(async () => {
        // The one that is being sent is waited for; all that wait behind it could hold a stop up for minutes.
        if (isClosing) throw new Error('the process stops');
        const account = await findAccountByEmail(db, email);
        if (account === undefined || (await countRecentPasswordResets(db, account)) >= LIMITS.resetsAnHour) return;
        await mailReset(account, request);
      }).catch((error: unknown) => request.log.error({ err: error }, 'a link for a new password could not be made'));
      underWay.add(work);
      void work.finally(() => underWay.delete(work));
      return reply.code(202).send({ status: 'accepted' });
    },
  );

  async function mailReset({ organization_id, user_id, email }: Account, request: FastifyRequest): Promise<void> {
    const { link, tokenHash: token_hash } = newLink('password-reset', request, publicUrl);
    const expiresAt = await insertPasswordReset(db, { token_hash, organization_id, user_id, made_by: null });
    if (expiresAt !== undefined) await sendMail?.(passwordResetMail(email, link, expiresAt), request.log);
  }
}

const NO_MAIL =
  'This Weir sends no mail: ask an admin of your organization for a link, or whoever runs this Weir for npm run admin.';

function wrongPassword(): Refusal {
  return invalidFields([{ path: 'current_password', message: 'is not the password of your account' }]);
}
