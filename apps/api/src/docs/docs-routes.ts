// /docs: the reference of the API, which a browser makes of /openapi.json, and the guides. What is in the folder `page` is sent as it
// stands. Nothing is loaded from anywhere else, and no request goes anywhere else.

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FastifyReply } from 'fastify';
import { dirname, join } from 'node:path';
import { Refusal } from '@weir/shared/errors';
import { KEPT, KeptContent } from '../http/kept-content.ts';
import { NO_SUCH_THING } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { readGuides } from './guides.ts';

/** From `src` and from `dist` alike: the compiler does not carry these files along. */
const FOLDER = new URL('../../src/docs/page/', import.meta.url);

const require = createRequire(import.meta.url);

/** The bundle that the package carries for its own plugin, which would load a script between the lines of its page. */
const SCALAR = join(dirname(require.resolve('@scalar/fastify-api-reference')), 'js', 'standalone.js');

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

const COMMON_POLICY = [
  "default-src 'none'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "object-src 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** Scalar writes style elements and attributes as it goes; scripts it has none but its own file. */
const REFERENCE_POLICY = [
  ...COMMON_POLICY,
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
].join('; ');

/** A guide runs nothing. */
const GUIDE_POLICY = [...COMMON_POLICY, "style-src 'self'"].join('; ');

export function docsRoutes(app: App): void {
  const read = (file: URL | string) => new KeptContent(readFileSync(file));
  const files = new Map(readdirSync(FOLDER).map((name) => [name, read(new URL(name, FOLDER))]));
  const reference = read(new URL('reference.html', FOLDER));
  const guides = readGuides();
  const overview = new KeptContent(guides.overview);
  const pages = new Map([...guides.pages].map(([name, text]) => [name, new KeptContent(text)]));
  // Three megabytes that most processes are never asked for.
  let scalar: KeptContent | undefined;

  const page = (reply: FastifyReply, content: KeptContent, policy: string) =>
    content.send(reply.headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }));

  app.get('/docs', KEPT, (_request, reply) => page(reply, reference, REFERENCE_POLICY));

  app.get('/docs/guides', KEPT, (_request, reply) => page(reply, overview, GUIDE_POLICY));

  app.get('/docs/guides/:name', KEPT, (request, reply) => {
    const { name } = request.params as { name: string };
    const guide = pages.get(name);
    if (guide === undefined)
      throw new Refusal('not_found', 'There is no such guide: see /docs/guides for those there are.');
    return page(reply, guide, GUIDE_POLICY);
  });

  app.get('/docs/assets/:file', KEPT, (request, reply) => {
    const { file } = request.params as { file: string };
    if (file === 'scalar.js') scalar ??= read(SCALAR);
    const content = file === 'scalar.js' ? scalar : files.get(file);
    const type = TYPES[file.slice(file.lastIndexOf('.') + 1)];
    if (content === undefined || type === undefined) throw new Refusal('not_found', NO_SUCH_THING);
    return content.send(reply.headers({ 'content-type': type, 'cache-control': 'public, max-age=3600' }));
  });
}
