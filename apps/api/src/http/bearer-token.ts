import type { FastifyRequest } from 'fastify';

/** The token in the header Authorization, of whatever kind; undefined where there is none, or something else. */
export function bearerTokenOf({ headers }: FastifyRequest): string | undefined {
  return /^bearer +([^ ]+) *$/i.exec(headers.authorization ?? '')?.[1];
}
