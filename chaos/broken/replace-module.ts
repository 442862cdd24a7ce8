// A hook of the module loader: whoever imports one module gets another one. Who asks for the first one with `?weir` gets it as it is.

import type { InitializeHook, ResolveHook } from 'node:module';

/** Addresses of both. */
export interface Replacement {
  module: string;
  by: string;
}

let replacement: Replacement | undefined;

export const initialize: InitializeHook<Replacement> = (given) => {
  replacement = given;
};

export const resolve: ResolveHook = async (specifier, context, next) => {
  const resolved = await next(specifier, context);
  return resolved.url === replacement?.module ? { ...resolved, url: replacement.by } : resolved;
};
