// A hook of the module loader: whoever imports `admit` of packages/queue gets another module.

import type { ResolveHook } from 'node:module';

const ADMIT = new URL('../../../packages/queue/dist/admit.js', import.meta.url).href;
const BROKEN = new URL('./claim-first.js', import.meta.url).href;

export const resolve: ResolveHook = async (specifier, context, next) => {
  const resolved = await next(specifier, context);
  return resolved.url === ADMIT ? { ...resolved, url: BROKEN } : resolved;
};
