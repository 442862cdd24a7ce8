// Refuses what a route has no schema for, as schemas refuse what they do not know: a parameter that narrows nothing, or a field that
// changes nothing, is never ignored.

import type { FastifyInstance, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify';
import { hasBody } from './body/bodies.ts';
import { invalidFields, unknownFields } from './problem.ts';
import { isUnsafe } from './writing/repeats.ts';

/** Sets this up for every route of the API that is added after it. */
export function refuseUnknownFields(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/api/')) return;
    const { body, querystring } = route.schema ?? {};
    const checks: preValidationHookHandler[] = [];
    if (querystring === undefined) checks.push(refuseQuery);
    if ([route.method].flat().some(isUnsafe)) {
      if (body === undefined) checks.push(refuseBody);
    } else route.onRequest = [route.onRequest ?? [], refuseUnreadBody].flat();
    route.preValidation = [...checks, ...[route.preValidation ?? []].flat()];
  });
}

const refuseQuery: preValidationHookHandler = (request, _reply, done) => {
  done(refusalOf(Object.keys(request.query as object)));
};

/** An empty object says nothing, and many clients send one. */
const refuseBody: preValidationHookHandler = ({ body }: FastifyRequest, _reply, done) => {
  const isObject = typeof body === 'object' && !Array.isArray(body);
  if (isObject || body === undefined) done(refusalOf(Object.keys(body ?? {})));
  else done(invalidFields([{ path: '', message: 'is of no use here: leave it out' }]));
};

/** Of a request that only reads Fastify parses no body, whatever is in it. */
const refuseUnreadBody: onRequestHookHandler = (request, _reply, done) => {
  if (hasBody(request)) done(invalidFields([{ path: '', message: NOT_READ }]));
  else done();
};

const NOT_READ = 'is not read here: give parameters in the query, and leave it out';

const refusalOf = (names: readonly string[]) => (names.length === 0 ? undefined : unknownFields(names));
