import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** For answers that are given before any hook has run. */
    securityHeaders: Readonly<Record<string, string>>;
  }
}

/**
 * What every answer tells a browser: that it is nothing but data, for nobody's cache, frame or referrer. A page that needs
 * more sets its own policy over this one. Where the public address is https, browsers are told to keep to it.
 */
export function useSecurityHeaders(app: FastifyInstance, publicUrl: string | undefined): void {
  const headers = {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(publicUrl?.startsWith('https:') === true && { 'strict-transport-security': 'max-age=31536000' }),
  };
  app.decorate('securityHeaders', headers);
  app.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(headers);
    done();
  });
}
