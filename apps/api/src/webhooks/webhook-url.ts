import { hostOf, isPublicAddress, type Networks } from '@weir/shared/networks';
import { isIP } from 'node:net';

/**
 * Says what is wrong with the URL of a receiver; undefined where nothing is. Where its name leads is looked at when something is sent, each
 * time; here it is only about what can be seen from the URL.
 */
export function problemOfWebhookUrl(text: string, allowed: Networks): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text))
    return 'must be a URL such as https://example.com/webhooks';
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user or a password: check the signature instead';
  if (url.hash !== '') return 'must not hold a fragment, which is not sent';
  if (url.protocol === 'http:' && allowed.isEmpty) return 'must be https';
  // Decimal and octal forms have become addresses as they are written by now.
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublicAddress(host) && !allowed.has(host))
    return 'must lead to an address on the Internet, or to a network that WEBHOOK_ALLOWED_NETWORKS allows';
  return undefined;
}
