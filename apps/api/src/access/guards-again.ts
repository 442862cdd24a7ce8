// Who sends a request may take long to send its body. Whoever may not change anything any more by then does not: the guards of what
// the audit log knows are asked a second time once a body is in.

import type { preHandlerHookHandler } from 'fastify';
import type { App } from '../http/typed-app.ts';
import { AUDITED } from './audited-operations.ts';

/** Sets this up for every route that is added after it, before whatever else is done once a body is in. */
export function askGuardsAgain(app: App): void {
  app.addHook('onRoute', (route) => {
    if (![route.method].flat().some((method) => AUDITED[`${method} ${route.url}`] !== undefined)) return;
    route.preHandler = [route.preHandler ?? [], (route.onRequest ?? []) as preHandlerHookHandler[]].flat();
  });
}
