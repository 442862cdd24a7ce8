// Tokens of links that open something once: an invitation, or a way to a new password.

import { hash, randomBytes } from 'node:crypto';

export type LinkKind = 'invitation' | 'password-reset';

/** Tells a reader, and a scanner for secrets, what was found. */
const PREFIXES: Record<LinkKind, string> = { invitation: 'inv_', 'password-reset': 'rst_' };

const RANDOM = '[\\w-]{43}';

const TOKENS: Record<LinkKind, RegExp> = {
  invitation: new RegExp(`^${PREFIXES.invitation}${RANDOM}$`),
  'password-reset': new RegExp(`^${PREFIXES['password-reset']}${RANDOM}$`),
};

/** 256 random bits behind a prefix. */
export function newLinkToken(kind: LinkKind): string {
  return PREFIXES[kind] + randomBytes(32).toString('base64url');
}

/** Whether a text could be such a token: anything else is refused without a look-up. */
export function isLinkToken(kind: LinkKind, text: string): boolean {
  return TOKENS[kind].test(text);
}

/** Returns the SHA-256 of a token, which alone is stored. */
export function hashLinkToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/**
 * The address of the page that takes a token. The token stands behind #, which browsers send nowhere: not to the server, whose
 * log it would reach, nor as a referrer.
 */
export function linkOf(kind: LinkKind, publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/${kind}#${token}`;
}
