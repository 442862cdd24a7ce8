import type { FastifyReply } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What opens the route, as a 401 calls it. */
    challenges?: string;
  }
}

/** Has a 401 name in WWW-Authenticate what opens its route, as each has to (RFC 9110, 11.6.1). */
export function challenge(reply: FastifyReply): void {
  const { challenges } = reply.request.routeOptions.config;
  if (challenges !== undefined) void reply.header('www-authenticate', challenges);
}
