// The console (apps/console): one page for every address of it, which finds out itself what to show, and the files that page
// is made of. All of it was written at its build, compressed too. A Weir whose console was not built has none.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../http/typed-app.ts';

/** Where the console's build leaves it. From `src` and from `dist` alike. */
export const CONSOLE_FOLDER = fileURLToPath(new URL('../../../console/dist/', import.meta.url));

/** What begins like this is not the console's, even where nothing is there: who asks for it is told so. */
const NOT_THE_CONSOLE = /^\/(?:api|docs|embed|assets|openapi\.json|healthz|readyz|metrics)(?:[/?]|$)/;

/** Nothing but what was built runs and is drawn, and nothing leaves the page but questions to this Weir. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  vary: 'accept, accept-encoding',
};

/** Whether a request that no route takes is for a page of the console: a browser goes there. */
export function isForConsole({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return headers.accept?.includes('text/html') === true && !NOT_THE_CONSOLE.test(url);
}

/** Returns what answers with the page; undefined where the console was not built. */
export async function useConsole(
  app: App,
  folder: string,
): Promise<((reply: FastifyReply) => FastifyReply) | undefined> {
  if (!existsSync(join(folder, 'index.html'))) return undefined;
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    index: false,
    // Their names change with what is in them.
    immutable: true,
    maxAge: '1y',
  });
  return (reply) =>
    // It names the files of this build, so it is asked for each time; mostly it has not changed (304).
    reply.headers(PAGE_HEADERS).sendFile('index.html', folder, { maxAge: 0, immutable: false });
}
