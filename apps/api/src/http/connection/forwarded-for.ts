import type { FastifyInstance } from 'fastify';
import { isIP, type Socket } from 'node:net';
import { buildIsProxy } from './proxies.ts';

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

/** A proxy that nobody has named sends the header all the time, and so may a client: one line an hour tells of either. */
const TOLD_EVERY_MS = 3_600_000;

/**
 * Tells of an address that sends `X-Forwarded-For` and is not believed. Behind a proxy that TRUST_PROXY does not name all works, with
 * all clients as one address: one of them that signs in wrongly too often keeps the others out.
 */
export function tellOfUnnamedProxies(app: FastifyInstance, trustProxy: string | undefined): void {
  const isProxy = buildIsProxy(trustProxy);
  // The address of a connection stays.
  const judged = new WeakSet<Socket>();
  let quietUntil = 0;
  app.addHook('onRequest', ({ raw: { headers, socket } }, _reply, done) => {
    if (headers['x-forwarded-for'] !== undefined && !judged.has(socket)) {
      judged.add(socket);
      const address = socket.remoteAddress;
      const now = performance.now();
      if (address !== undefined && now >= quietUntil && !isProxy(address)) {
        quietUntil = now + TOLD_EVERY_MS;
        app.log.warn(
          { address },
          'X-Forwarded-For came from an address that TRUST_PROXY does not hold: if it is your proxy, name it there, or all of its clients count as one address',
        );
      }
    }
    done();
  });
}

/** `192.0.2.7:51234`, `[2001:db8::1]:51234` and `[2001:db8::1]` without what is not the address. */
function addressOf(text: string): string {
  const written = text.trim();
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(written)?.[1] ?? written.replace(/:\d+$/, '');
  return isIP(written) === 0 && isIP(address) !== 0 ? address : written;
}
