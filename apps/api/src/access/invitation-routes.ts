// Invitations: an admin makes a link, and whoever holds it chooses a password and is one of the organization's people.

import {
  deleteInvitation,
  findInvitation,
  listInvitations,
  putInvitation,
  useInvitation,
  type Invitation,
} from '@weir/db/invitations';
import { getOrganization } from '@weir/db/organizations';
import { findAccountByEmail, insertUser } from '@weir/db/users';
import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { answerOf, answerPage, idInPath, nothing, nullInRepeats, listQuery, pageSchema, time } from '../http/fields.ts';
import { found, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { gone, made, writing, type Write, type Written } from '../http/writing/writing.ts';
import { accountAnswer, email, role } from './accounts.ts';
import { requireSameOrigin } from './authenticate.ts';
import { holdMaker, linkToken, newLink, notValid, openLink } from './links.ts';
import { invitationMail, type SendMail } from './mail.ts';
import type { PasswordTurns } from './password-turns.ts';
import { newPassword } from './passwords.ts';
import { beginSession, sendSession } from './sign-in.ts';
import type { Throttle } from './throttle.ts';
import type { RouteDeps } from '../route-deps.ts';

export interface PeopleDeps extends RouteDeps {
  throttle: Throttle;
  passwords: PasswordTurns;
  sendMail: SendMail | undefined;
  publicUrl: string | undefined;
}

/** The link of an answer, and whether it was mailed, too. */
export const linkFields = {
  link: z
    .url()
    .nullable()
    .meta({ description: `Shown here and never again. Whoever has it can use it, once. ${nullInRepeats()}` }),
  mailed: z.boolean().meta({ description: 'Whether the mail server has taken a mail with the link.' }),
};

const invitationAnswer = answerOf<Invitation>()({
  id: z.uuid(),
  email: z.string(),
  role,
  expires_at: time,
  created_at: time,
}).meta({ id: 'Invitation' });
const createdAnswer = z.object({ ...invitationAnswer.shape, ...linkFields }).meta({ id: 'CreatedInvitation' });
const openAnswer = z.object({ email: z.string(), organization_name: z.string(), role, expires_at: time });

export function invitationRoutes(app: App, deps: PeopleDeps): void {
  const { database, guards, throttle, passwords, sendMail, publicUrl } = deps;
  const db = database.kysely;
  const sameOrigin = async (request: FastifyRequest) => requireSameOrigin(request, publicUrl);
  const open = (request: FastifyRequest, token: string) =>
    openLink({ throttle, request }, 'invitation', token, (tokenHash) => findInvitation(db, tokenHash));

  app.post(
    '/api/v1/invitations',
    {
      onRequest: guards.adminPerson,
      schema: {
        operationId: 'createInvitation',
        tags: ['Access'],
        summary: 'Invite a person into the organization',
        description:
          `Give the link to that person, who chooses a password with it. It works once, for ${LIMITS.invitationDays} days, and as long as ` +
          'you are an admin. Inviting the same address again makes another link, and ends the one before.',
        body: z.strictObject({ email, role }),
        response: { 201: createdAnswer, ...problemResponses('email_taken') },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId: organization_id } = request.caller;
      await throttle.countLink(organization_id);
      if ((await findAccountByEmail(db, request.body.email)) !== undefined) {
        throw new Refusal('email_taken', 'An account with this email address exists: invite another address.');
      }
      const { link, tokenHash: token_hash } = newLink('invitation', request, publicUrl);
      const { name } = await getOrganization(db, organization_id);
      const written = await write.transaction(async (transaction) => {
        const made_by = await holdMaker(transaction, request);
        const invitation = await putInvitation(transaction, {
          organization_id,
          id: newId(),
          token_hash,
          made_by,
          ...request.body,
        });
        return made({ ...invitation, link, mailed: false }, ['link']);
      });
      const mail = invitationMail(written.body.email, name, link, written.body.expires_at);
      return await mailed(written, write, request, () => sendMail?.(mail, request.log));
    }),
  );

  app.get(
    '/api/v1/invitations',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listInvitations',
        tags: ['Access'],
        summary: 'List the invitations that can still be accepted, newest first',
        description: 'Never their links: only hashes of them are kept.',
        querystring: listQuery({}),
        response: { 200: pageSchema(invitationAnswer) },
      },
    },
    async (request) => answerPage(await listInvitations(db, request.caller.organizationId, request.query)),
  );

  app.delete(
    '/api/v1/invitations/:id',
    {
      onRequest: guards.adminPerson,
      schema: {
        operationId: 'deleteInvitation',
        tags: ['Access'],
        summary: 'Take an invitation back',
        description: 'Its link opens nothing from then on.',
        params: idInPath,
        response: { 204: nothing },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.single(async (db) => {
        found(await deleteInvitation(db, caller.organizationId, params.id));
        return gone();
      }),
    ),
  );

  app.post(
    '/api/v1/auth/invitation',
    {
      onRequest: sameOrigin,
      schema: {
        operationId: 'getInvitation',
        tags: ['Access'],
        summary: 'Look at an invitation before it is accepted',
        description: 'Nothing is used up by that.',
        security: [],
        body: z.strictObject({ token: linkToken }),
        response: { 200: openAnswer, ...problemResponses('link_not_valid') },
      },
    },
    async (request) => {
      const { found } = await open(request, request.body.token);
      const { email, organization_name, role, expires_at } = found;
      return { email, organization_name, role, expires_at };
    },
  );

  app.post(
    '/api/v1/auth/invitation/accept',
    {
      onRequest: sameOrigin,
      schema: {
        operationId: 'acceptInvitation',
        tags: ['Access'],
        summary: 'Accept an invitation, and sign in',
        description: 'Makes the account with this password, and uses the invitation up.',
        security: [],
        body: z.strictObject({ token: linkToken, password: newPassword }),
        response: { 201: accountAnswer, ...problemResponses('link_not_valid', 'email_taken') },
      },
    },
    async (request, reply) => {
      const { found, tokenHash } = await open(request, request.body.token);
      const { organization_id, organization_name, email, role } = found;
      const password_hash = await passwords.hash(request, request.body.password);
      const account = { user_id: newId(), email, role, organization_id, organization_name, password_hash };
      const token = await db.transaction().execute(async (transaction) => {
        if (!(await useInvitation(transaction, tokenHash))) throw notValid();
        await insertUser(transaction, { organization_id, id: account.user_id, email, password_hash, role });
        const signIn = { account, action: 'invitation.accept', resourceId: found.id } as const;
        return await beginSession(transaction, request, signIn);
      });
      return reply.code(201).send(await sendSession(request, reply, { token, account }, { publicUrl, throttle }));
    },
  );
}

/**
 * Mails the link that was made, and says in the answer whether it was. After the change: a mail with a link that is not kept would
 * open nothing. Whoever repeats a request that died before the mail hears that nothing was mailed, and makes another link.
 */
export async function mailed<Body extends { mailed: boolean }>(
  written: Written<Body>,
  write: Write,
  { log }: FastifyRequest,
  send: () => Promise<boolean> | undefined,
): Promise<Written<Body>> {
  const isMailed = written.isRepeat ? false : ((await send()) ?? false);
  return isMailed ? await write.amend(written, { ...written.body, mailed: true }, log) : written;
}
