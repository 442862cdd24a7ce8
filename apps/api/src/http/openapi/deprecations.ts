// What is to go says so in each of its answers, and in the document: docs/releases.md, The API. A route names it once, as
// `config: { deprecated: { since, sunset, instead } }`; CHANGELOG.md names it too, or `npm run check` fails.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addHeaders, operationsOf, type Paths } from './openapi-operations.ts';

/** Days, as `2027-01-31`. */
interface Deprecation {
  /** From when on it is deprecated. */
  since: string;
  /** When it may be gone: a year later at least. */
  sunset: string;
  /** The address of what takes its place. */
  instead: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    deprecated?: Deprecation;
  }
}

type Headers = Record<'Deprecation' | 'Sunset' | 'Link', string>;

const DESCRIPTIONS: Headers = {
  Deprecation: 'From when on this is deprecated (RFC 9745): seconds since 1970.',
  Sunset: 'When it may be gone (RFC 8594).',
  Link: 'What takes its place.',
};

function headersOf({ since, sunset, instead }: Deprecation): Headers {
  return {
    Deprecation: `@${Date.parse(since) / 1000}`,
    Sunset: new Date(sunset).toUTCString(),
    Link: `<${instead}>; rel="successor-version"`,
  };
}

/** What is deprecated, by its method and path, such as `GET /api/v1/meters/:id`. */
export type Deprecated = ReadonlyMap<string, Headers>;

/** Sets this up for every route that is added after it. */
export function useDeprecations(app: FastifyInstance): Deprecated {
  const deprecated = new Map<string, Headers>();
  app.addHook('onRoute', (route) => {
    if (route.config?.deprecated === undefined) return;
    const headers = headersOf(route.config.deprecated);
    for (const method of [route.method].flat()) deprecated.set(`${method} ${route.url}`, headers);
    route.onSend = [
      route.onSend ?? [],
      // Behind the handler, whose own Link stays. A refusal has them too.
      async (_request: FastifyRequest, reply: FastifyReply) => {
        reply.headers({ ...headers, Link: [reply.getHeader('link') ?? [], headers.Link].flat().join(', ') });
      },
    ].flat();
  });
  return deprecated;
}

/** Adds all of it to the paths of a document. */
export function tellOfDeprecations(paths: Paths, deprecated: Deprecated): void {
  for (const { method, url, operation } of operationsOf(paths)) {
    const values = deprecated.get(`${method} ${url}`);
    if (values === undefined) continue;
    operation.deprecated = true;
    const headers = Object.entries(values).map(([name, value]) => {
      const description = DESCRIPTIONS[name as keyof Headers];
      return [name, { description, schema: { type: 'string' }, example: value }] as const;
    });
    addHeaders(operation, Object.fromEntries(headers));
  }
}
