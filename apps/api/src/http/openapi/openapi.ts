import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { Deprecated } from './deprecations.ts';
import { KEPT, KeptContent } from '../kept-content.ts';
import { finishDocument } from './openapi-document.ts';
import type { Tagged } from '../writing/versions.ts';

/** Serves `/openapi.json`, made of the same zod schemas that check the requests; `docs/docs-routes.ts` shows it. */
export async function useOpenapi(
  app: FastifyInstance,
  publicUrl: string | undefined,
  webhooks: Record<string, object>,
  tagged: ReadonlyMap<string, Tagged>,
  deprecated: Deprecated,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Weir',
        version: '1',
        description:
          'Usage metering and billing. A 201 from tracking means: on disk, and counted exactly once. ' +
          'Errors are application/problem+json (RFC 9457) with a detail to act on and a stable code. Every answer has the ' +
          'id of its request as X-Request-Id, under which the log knows it. A body may come with Content-Encoding: gzip; what is ' +
          'read is answered in brotli or gzip to who accepts it. A request that changes something is safe to send again with the same ' +
          'Idempotency-Key; reading, signing in or out and opening a link refuse that header. What is changed with PATCH is read with ' +
          'an ETag: a PATCH that names it in If-Match is 412 where somebody else has changed the same thing meanwhile.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl ?? '/' }],
      webhooks,
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'cookie', name: 'access_token' },
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Key',
            description:
              'Where keys open an operation it counts, and no session beside it; everywhere else the session counts, and the key is not looked at.',
          },
          serviceToken: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'org_svc_…',
            description:
              'The token of a service account, made by an admin. Never with a session or an API key beside it.',
          },
          widgetToken: { type: 'http', scheme: 'bearer', bearerFormat: 'wgt_…' },
        },
      },
      tags: [
        { name: 'Tracking', description: 'Services report usage. X-API-Key with the scope usage.write.' },
        {
          name: 'Usage',
          description:
            'What was counted, and how it is corrected. A session or a service account; most reads take X-API-Key with the scope ' +
            'usage.read, too.',
        },
        {
          name: 'Widget',
          description:
            'What an app shows its customer. A widget token reads it; X-API-Key with the scope usage.write makes the token; a session ' +
            'or a service account sets what is shown.',
        },
        { name: 'Access', description: 'Signing in, people, service accounts and API keys.' },
        { name: 'Catalog', description: 'Features, meters, plans and customers.' },
        {
          name: 'Billing',
          description:
            'What plans cost, who subscribes to them, and the invoices for it. A session, or a service account; entitlements take ' +
            'X-API-Key with the scope usage.read, too.',
        },
        {
          name: 'Webhooks',
          description: 'Who is told of what happens in billing, and what came of it.',
        },
        { name: 'Alerts', description: 'Thresholds of usage, and who has reached them.' },
        { name: 'Operations', description: 'For those who run Weir.' },
      ],
    },
    transform: jsonSchemaTransform,
    transformObject: (object) => finishDocument(jsonSchemaTransformObject(object), tagged, deprecated),
  });
  // It never changes while the process runs, and to write it takes longer than all the rest of the answer.
  let document: KeptContent | undefined;
  app.get('/openapi.json', KEPT, (_request, reply) => {
    document ??= new KeptContent(JSON.stringify(app.swagger()));
    return document.send(reply.type('application/json; charset=utf-8'));
  });
}
