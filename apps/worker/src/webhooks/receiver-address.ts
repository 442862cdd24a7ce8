// Where a receiver is. Its name is asked for at each attempt, and what was checked is what is connected to: a name that leads elsewhere a
// moment later changes nothing.

import { hostOf, isPublicAddress, type Networks } from '@weir/shared/networks';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Asks DNS. The system's own way of looking up names has four threads for a whole process, which four slow names would take. */
export type NameLookup = Pick<Resolver, 'resolve4' | 'resolve6'>;

/** Waits for a server of DNS so long, and asks again once. */
const LOOKUP = { timeout: 2_000, tries: 2 };

/** `servers`: asked instead of those of the system. */
export function openNameLookup(servers?: readonly string[]): NameLookup {
  const resolver = new Resolver(LOOKUP);
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}

/** A receiver to which nothing is sent. Its message is read by the admin, and does not say where the name leads. */
class RefusedReceiver extends Error {
  override readonly name = 'RefusedReceiver';
}

/** More than these of a name are not tried. */
const ADDRESSES_MAX = 4;

/**
 * The addresses that a request to this URL may go to, at least one. Throws a RefusedReceiver where none may, and what DNS says where the
 * name has none.
 */
export async function findAddresses(url: URL, lookup: NameLookup, allowed: Networks): Promise<string[]> {
  const host = hostOf(url);
  const found = isIP(host) === 0 ? await lookUp(host, lookup) : [host];
  // Without TLS anybody on the way reads it: that is for networks of one's own.
  const isSafe = url.protocol === 'https:' ? isPublicAddress : () => false;
  const usable = found.filter((address) => isSafe(address) || allowed.has(address));
  if (usable.length > 0) return usable.slice(0, ADDRESSES_MAX);
  throw new RefusedReceiver(
    found.some(isPublicAddress)
      ? 'Nothing is sent over plain http to an address on the Internet: use https.'
      : 'The host has no address on the Internet, and is in no network that WEBHOOK_ALLOWED_NETWORKS allows.',
  );
}

async function lookUp(name: string, lookup: NameLookup): Promise<string[]> {
  // By its definition, and in no DNS.
  if (/(^|\.)localhost\.?$/i.test(name)) return ['127.0.0.1', '::1'];
  const [v4, v6] = await Promise.allSettled([lookup.resolve4(name), lookup.resolve6(name)]);
  const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
  return found;
}
