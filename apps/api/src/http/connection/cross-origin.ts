// Which answers the pages of other origins may read: those of routes that a token in the header Authorization opens and nothing
// else. No cookie counts there, so a page learns nothing that it does not hold the token for.

import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A read that pages of every origin may do. Its guard must look at no cookie. */
    isOpenToPages?: boolean;
  }
}

/** On every answer, a refusal too: without it a page would see only that its request failed. */
const ANSWER = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After, X-Request-Id',
};

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'Authorization',
  // A day; browsers keep it for as long as they like.
  'access-control-max-age': '86400',
};

/** Has to be set up before the routes, and before whatever refuses a request. */
export function useCrossOrigin(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.isOpenToPages !== true || method !== 'GET') return;
    app.options(url, { config: { isOpenToPages: true }, schema: { hide: true } }, (_request, reply) =>
      reply.code(204).headers(PREFLIGHT).send(),
    );
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.isOpenToPages === true) void reply.headers(ANSWER);
    done();
  });
}
