// The secrets that Weir gives out: how they are made, told from a typing mistake, and known again without being kept.

import { base62Of, randomBase62 } from '@weir/shared/base62';
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** 62^6 is more than 2^32, so six characters hold any CRC-32. */
const CHECKSUM_CHARACTERS = 6;

/** Random base62 behind a prefix, with a checksum: a mistyped one is refused without a look-up. */
interface CheckedSecret {
  prefix: string;
  randomCharacters: number;
}

/** 27 characters hold 160.8 bits. */
const API_KEY: CheckedSecret = { prefix: 'org_live_', randomCharacters: 27 };

/** 43 characters hold 256 bits. */
const SERVICE_TOKEN: CheckedSecret = { prefix: 'org_svc_', randomCharacters: 43 };

function checksumOf(text: string): string {
  return base62Of(crc32(text), CHECKSUM_CHARACTERS);
}

function newChecked({ prefix, randomCharacters }: CheckedSecret): string {
  const unchecked = prefix + randomBase62(randomCharacters);
  return unchecked + checksumOf(unchecked);
}

function buildIsChecked({ prefix, randomCharacters }: CheckedSecret): (text: string) => boolean {
  const form = new RegExp(`^${prefix}[0-9A-Za-z]{${randomCharacters + CHECKSUM_CHARACTERS}}$`);
  return (text) =>
    form.test(text) && checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
}

export const newApiKey = (): string => newChecked(API_KEY);

/** Whether a text could be one of our keys. */
export const isApiKey = buildIsChecked(API_KEY);

export const newServiceToken = (): string => newChecked(SERVICE_TOKEN);

/** Whether a text could be a token of one of our service accounts. */
export const isServiceToken = buildIsChecked(SERVICE_TOKEN);

/** The end of the checksum, which is kept to be read again: it leaves more unknown than anybody can try. */
const LAST_CHARACTERS = 4;

/** What is shown of an API key, or of a service account's token, once it is made. */
export function last4Of(secret: string): string {
  return secret.slice(-LAST_CHARACTERS);
}

/** 256 random bits. */
export function newSessionToken(): string {
  return randomBytes(32).toString('base64url');
}

const SESSION_TOKEN = /^[\w-]{43}$/;

/** Whether a text has the form of a session token: another site of the domain may have a cookie of the same name. */
export function isSessionToken(text: string): boolean {
  return SESSION_TOKEN.test(text);
}

const WIDGET_TOKEN = /^wgt_[\w-]{43}$/;

/** 256 random bits, behind a prefix that tells a reader, and a scanner, what was found. */
export function newWidgetToken(): string {
  return `wgt_${randomBytes(32).toString('base64url')}`;
}

/** Whether a text could be one of our widget tokens: anything else is refused without a look-up. */
export function isWidgetToken(text: string): boolean {
  return WIDGET_TOKEN.test(text);
}

/**
 * What is stored of a secret. A plain SHA-256 is enough where the secret is random: there is no list of likely ones to
 * try, as there is for passwords.
 */
export function hashSecret(secret: string): Buffer {
  return Buffer.from(hashSecretText(secret), 'base64');
}

/** The same in base64, which Node makes in a third of the time: for the key of every tracking request. */
export function hashSecretText(secret: string): string {
  return hash('sha256', secret, 'base64');
}
