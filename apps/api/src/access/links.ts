// Links that open something once, as the API makes and takes them.

import type { Queries } from '@weir/db/database';
import { holdAdmin } from '@weir/db/users';
import { Refusal } from '@weir/shared/errors';
import { hashLinkToken, isLinkToken, linkOf, newLinkToken, type LinkKind } from '@weir/shared/link-tokens';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { ADMIN_ONLY, personOf } from './authenticate.ts';
import type { Throttle } from './throttle.ts';

/** A token as somebody sends it. What cannot be one is answered as one that opens nothing. */
export const linkToken = text(1, LIMITS.key).meta({ description: 'What stands behind # in the link.' });

/** A new link, and what is kept of its token. */
export function newLink(
  kind: LinkKind,
  request: FastifyRequest,
  publicUrl: string | undefined,
): { link: string; tokenHash: Buffer } {
  const token = newLinkToken(kind);
  // Without a setting the admin's own request says where this Weir is.
  const link = linkOf(kind, publicUrl ?? `${request.protocol}://${request.host}`, token);
  return { link, tokenHash: hashLinkToken(token) };
}

/** The id of the admin who makes a link, who is held: it ends with the role, also with one that is just taken away. */
export async function holdMaker(transaction: Queries, request: FastifyRequest): Promise<string> {
  const { userId } = personOf(request);
  if (!(await holdAdmin(transaction, request.caller.organizationId, userId)))
    throw new Refusal('admin_only', ADMIN_ONLY);
  return userId;
}

/** The same for a link that was used, that has expired and that never was. */
export function notValid(): Refusal {
  return new Refusal(
    'link_not_valid',
    'The link was used already, has expired, or is not complete. If you have used it, sign in; else ask an admin of your organization for another one.',
  );
}

/**
 * What a token opens, by its hash; refuses what opens nothing. That counts as a failed attempt, as a wrong password does,
 * unless it is found.
 */
export async function openLink<Found>(
  { throttle, request }: { throttle: Throttle; request: FastifyRequest },
  kind: LinkKind,
  token: string,
  find: (tokenHash: Buffer) => Promise<Found | undefined>,
): Promise<{ found: Found; tokenHash: Buffer }> {
  const takeBack = await throttle.count(`link ${token}`, request.ip);
  const tokenHash = hashLinkToken(token);
  const found = isLinkToken(kind, token) ? await find(tokenHash) : undefined;
  if (found === undefined) throw notValid();
  await takeBack();
  return { found, tokenHash };
}
