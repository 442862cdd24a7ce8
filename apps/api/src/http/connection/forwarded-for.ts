import type { FastifyInstance } from 'fastify';
import { isIP } from 'node:net';

/**
 * Some proxies write the port of a client beside its address in `X-Forwarded-For`: each connection would be another address. It is left
 * out before anybody asks who sent a request, or whether an address is that of a proxy.
 */
export function useForwardedFor(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const forwarded = headers['x-forwarded-for'];
    if (typeof forwarded === 'string') headers['x-forwarded-for'] = forwarded.split(',').map(addressOf).join(', ');
    done();
  });
}

/** `192.0.2.7:51234`, `[2001:db8::1]:51234` and `[2001:db8::1]` without what is not the address. */
function addressOf(text: string): string {
  const written = text.trim();
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(written)?.[1] ?? written.replace(/:\d+$/, '');
  return isIP(written) === 0 && isIP(address) !== 0 ? address : written;
}
