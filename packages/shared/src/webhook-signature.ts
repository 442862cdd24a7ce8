// How what is sent to a receiver is signed: Standard Webhooks (https://www.standardwebhooks.com).

import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** 256 random bits. */
export function newWebhookSecret(): Buffer {
  return randomBytes(32);
}

/** A secret as it is shown. */
export function webhookSecretText(secret: Buffer): string {
  return `${SECRET_PREFIX}${secret.toString('base64')}`;
}

/** Whether a text has the form of such a secret. */
export function isWebhookSecret(text: string): boolean {
  return SECRET.test(text);
}

/** The headers of one attempt: a signature for each of the secrets. */
export function signWebhook(
  { id, atSeconds, body }: { id: string; atSeconds: number; body: string },
  secrets: readonly Buffer[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const signature = createHmac('sha256', secret).update(`${id}.${atSeconds}.${body}`).digest('base64');
    return `v1,${signature}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(atSeconds), 'webhook-signature': signatures.join(' ') };
}
