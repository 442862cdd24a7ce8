// Who sent a request, as every stage knows it. access/authenticate.ts finds it out.

import type { Role } from '@weir/db/schema';

/** Somebody who is signed in, as that person was when the request began. */
export interface Person {
  userId: string;
  email: string;
  role: Role;
  sessionId: string;
}

/** Who sent a request: a person who is signed in, the holder of an API key, or one customer with a widget token. */
export interface Caller {
  organizationId: string;
  /** Of a session, as person is. */
  userId?: string;
  person?: Person;
  apiKeyId?: string;
  /** The epoch of Redis when the API key was looked up. Set by the write guard. */
  epoch?: string;
  /** The only customer that a widget token shows; nobody else has it. */
  customerExternalId?: string;
  /** For how much longer that token opens anything. */
  secondsLeft?: number;
}

/** The id of the person or API key behind a caller, whatever its session is called. */
export function credentialOf({ userId, apiKeyId }: Caller): string {
  if (userId !== undefined) return `user:${userId}`;
  if (apiKeyId !== undefined) return `api_key:${apiKeyId}`;
  throw new Error('who reads with a widget token changes nothing');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the route; a route without a guard must not ask for it. */
    caller: Caller;
  }
}
