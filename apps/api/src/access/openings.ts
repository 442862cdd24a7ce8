// Who may call what. Each route names one of these as its guard (authenticate.ts); the guard holds it, and the OpenAPI document says it.

import type { Role, Scope, ServiceRole } from '@weir/db/schema';
import type { FastifyInstance } from 'fastify';

/** What opens a route, by the name of its scheme in the document: any one of them. */
export interface Opening {
  /** A person who is signed in, with this role at least. */
  session?: Role;
  /** A service account with this role at least. */
  serviceToken?: ServiceRole;
  /** An API key with this scope. */
  apiKey?: Scope;
  /** A widget token. */
  widgetToken?: true;
}

export const SESSION_COOKIE = 'access_token';

/** What a 401 calls each scheme of the document. */
const CHALLENGES: Record<keyof Opening, string> = {
  session: `Session cookie="${SESSION_COOKIE}"`,
  serviceToken: 'Bearer realm="service account"',
  apiKey: 'ApiKey header="X-API-Key"',
  widgetToken: 'Bearer realm="widget"',
};

/** Of what opens to everybody, signing in alone is 401: for what its body says. */
const BY_PASSWORD = 'Password in="body"';

export const OPENINGS = {
  /** What is a person's own. */
  person: { session: 'viewer' },
  /** What changes people, and what opens their accounts. */
  adminPerson: { session: 'admin' },
  /** Reading, and computing what is kept nowhere. */
  viewer: { session: 'viewer', serviceToken: 'viewer' },
  /** Customers, and what they pay: subscriptions, credits, invoices. */
  biller: { session: 'admin', serviceToken: 'biller' },
  /** All else that changes what the organization has. */
  admin: { session: 'admin', serviceToken: 'admin' },
  /** Reading usage, and what a service that reports usage has to know. */
  read: { session: 'viewer', serviceToken: 'viewer', apiKey: 'usage.read' },
  /**
   * Tracking. Most answers come from memory, in the same turn of the event loop; the route must ask for the key's revoked mark
   * (`keys.revoked`) before it takes anything, as admission does, and look again (`refuseDeleted`) before it refuses anything.
   */
  write: { apiKey: 'usage.write' },
  /** The same with a key that is looked up for this request: for routes that ask for no revoked mark. */
  writeNow: { apiKey: 'usage.write' },
  /** What one customer may see. Nothing else takes a widget token, and this takes nothing else. */
  widget: { widgetToken: true },
} as const satisfies Record<string, Opening>;

/** The schemes of the document, each with the role or scope that it needs. */
function securityOf(opening: Opening): Record<string, string[]>[] {
  return Object.entries(opening).map(([scheme, needs]: [string, string | true]) => ({
    [scheme]: needs === true ? [] : [needs],
  }));
}

function challengesOf(opening: Opening | undefined): string {
  if (opening === undefined) return BY_PASSWORD;
  const schemes = Object.keys(opening) as (keyof Opening)[];
  return schemes.map((scheme) => CHALLENGES[scheme]).join(', ');
}

/**
 * Has the document, and each 401, say of every route that is added after this what its guard holds. Throws for a route of the API that has
 * no guard and does not say that it opens to everybody, and for one that says by itself what its guard says.
 */
export function tellOfGuards(app: FastifyInstance, guards: ReadonlyMap<unknown, Opening>): void {
  app.addHook('onRoute', (route) => {
    const { schema, method, url } = route;
    const opening = [route.onRequest ?? []]
      .flat()
      .map((hook) => guards.get(hook))
      .find((found) => found !== undefined);
    route.config = { ...route.config, challenges: challengesOf(opening) };
    // Fastify makes the HEAD of a GET by itself.
    if (method === 'HEAD' || schema?.hide === true || !url.startsWith('/api/')) return;
    if ((opening === undefined) === (schema?.security === undefined))
      throw new Error(
        `${[method].flat().join()} ${url} has to say who may call it: by its guard, or with security where it needs none`,
      );
    if (opening !== undefined) route.schema = { ...schema, security: securityOf(opening) };
  });
}
