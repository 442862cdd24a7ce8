// Takes secrets out of a request before the audit log keeps it.

import { isLinkToken } from '@weir/shared/link-tokens';
import { storable } from '@weir/shared/text';
import { isWebhookSecret } from '@weir/shared/webhook-signature';
import { isApiKey, isServiceToken, isWidgetToken } from './secrets.ts';

const REMOVED = '[removed]';

/** No body that is taken is nested as deep. */
const DEPTH_MAX = 10;

/** Names of what is secret whatever it holds. Tokens of meters and idempotency keys are none. */
const SECRET_NAME = /passw|secret|credential|authorization|^cookie|api[_-]?key|private[_-]?key|^(?:\w+[_-])?token$/i;
const NO_SECRETS = new Set(['meter_token']);

/** A value of JSON in which secrets are replaced, and which Postgres takes. */
export function withoutSecrets(value: unknown, depth = 0): unknown {
  // Routes check what Postgres can hold by themselves, but some only after the entry is written.
  if (typeof value === 'string') return isSecret(value) ? REMOVED : storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '[…]';
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      storable(name),
      SECRET_NAME.test(name) && !NO_SECRETS.has(name) ? REMOVED : withoutSecrets(each, depth + 1),
    ]),
  );
}

/** One of our own, wherever somebody has pasted it. */
function isSecret(text: string): boolean {
  const trimmed = text.trim();
  return (
    isApiKey(trimmed) ||
    isServiceToken(trimmed) ||
    isWidgetToken(trimmed) ||
    isWebhookSecret(trimmed) ||
    isLinkToken('invitation', trimmed) ||
    isLinkToken('password-reset', trimmed)
  );
}
