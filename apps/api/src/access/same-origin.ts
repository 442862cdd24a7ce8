import type { IncomingHttpHeaders } from 'node:http';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a request that carries the cookie may do what it asks. A browser adds the cookie by itself, so a page of
 * another site could make it change things; but the browser also says where a request comes from. A client that says
 * neither is no browser, and nobody can make it send a cookie that it was not given.
 */
export function mayActInSession(method: string, headers: IncomingHttpHeaders, publicUrl: string | undefined): boolean {
  if (SAFE_METHODS.has(method)) return true;
  const site = headers['sec-fetch-site'];
  // "none" is a person who typed the address or opened a bookmark.
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin, host } = headers;
  if (origin === undefined) return true;
  // "null", which a sandboxed page sends, is not an address.
  if (!URL.canParse(origin)) return false;
  // Only the host is compared with Host: behind a proxy that ends TLS, Weir does not see which scheme people use.
  if (new URL(origin).host === host?.toLowerCase()) return true;
  return publicUrl !== undefined && new URL(origin).origin === new URL(publicUrl).origin;
}
