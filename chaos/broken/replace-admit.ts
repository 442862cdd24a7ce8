// A hook of the module loader: whoever imports `ingest/admit` of the API gets another module.

import type { ResolveHook } from 'node:module';

const ADMIT = new URL('../../../apps/api/dist/ingest/admit.js', import.meta.url).href;
const BROKEN = new URL('./claim-first.js', import.meta.url).href;

export const resolve: ResolveHook = async (specifier, context, next) => {
  const resolved = await next(specifier, context);
  return resolved.url === ADMIT ? { ...resolved, url: BROKEN } : resolved;
};
