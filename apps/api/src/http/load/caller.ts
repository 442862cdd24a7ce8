// Who sent a request, as every stage knows it. access/authenticate.ts finds it out.

import type { Role, ServiceRole } from '@weir/db/schema';

/** Somebody who is signed in, as that person was when the request began. */
export interface Person {
  userId: string;
  email: string;
  role: Role;
  sessionId: string;
}

/** A service account, as it was when the request began. */
interface ServiceAccountCaller {
  id: string;
  name: string;
  role: ServiceRole;
}

/** Who sent a request: a person who is signed in, a service account, the holder of an API key, or one customer with a widget token. */
export interface Caller {
  organizationId: string;
  /** Of a session, as person is. */
  userId?: string;
  person?: Person;
  serviceAccount?: ServiceAccountCaller;
  apiKeyId?: string;
  /** The epoch of Redis when the API key was looked up. Set by the write guard. */
  epoch?: string;
  /** The only customer that a widget token shows; nobody else has it. */
  customerExternalId?: string;
  /** For how much longer that token opens anything. */
  secondsLeft?: number;
}

/** The person, service account or API key behind a caller, whichever session or token of theirs it sent. */
export function credentialOf({ userId, serviceAccount, apiKeyId }: Caller): string {
  if (userId !== undefined) return `user:${userId}`;
  if (serviceAccount !== undefined) return `service_account:${serviceAccount.id}`;
  if (apiKeyId !== undefined) return `api_key:${apiKeyId}`;
  throw new Error('who reads with a widget token changes nothing');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the route; a route without a guard must not ask for it. */
    caller: Caller;
  }
}
