// The secrets that Weir gives out: how they are made, told from a typing mistake, and known again without being kept.

import { base62Of, randomBase62 } from '@weir/shared/base62';
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const API_KEY_PREFIX = 'org_live_';

/** 27 characters of base62 hold 160.8 bits. */
const API_KEY_RANDOM_CHARACTERS = 27;

/** 62^6 is more than 2^32, so six characters hold any CRC-32. */
const CHECKSUM_CHARACTERS = 6;

const API_KEY = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${API_KEY_RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

function checksumOf(text: string): string {
  return base62Of(crc32(text), CHECKSUM_CHARACTERS);
}

export function newApiKey(): string {
  const unchecked = API_KEY_PREFIX + randomBase62(API_KEY_RANDOM_CHARACTERS);
  return unchecked + checksumOf(unchecked);
}

/** Whether a text could be one of our keys: a mistyped one is refused without a look-up. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text) && checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
}

/** 256 random bits. */
export function newSessionToken(): string {
  return randomBytes(32).toString('base64url');
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
