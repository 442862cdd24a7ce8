// The page /embed: what an app shows its customer in an iframe. It is the same for everybody; whose usage it shows is decided by the
// token that the app gives it (page/main.js). What is in the folder `page` is sent as it stands.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { KEPT, KeptContent } from '../http/kept-content.ts';
import { NO_SUCH_THING } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { Refusal } from '@weir/shared/errors';

/** From `src` and from `dist` alike: the compiler does not carry these files along. */
const FOLDER = new URL('../../src/widget/page/', import.meta.url);

const TYPES: Record<string, string> = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

/** Those that page/words.js has words in. */
export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

const query = z.strictObject({
  theme: z.enum(['light', 'dark', 'auto'], 'must be light, dark or auto').default('auto'),
  lang: z.enum(LANGUAGES, `must be one of ${LANGUAGES.join(', ')}`).optional(),
  show: z.enum(['usage', 'billing', 'all'], 'must be usage, billing or all').optional(),
  window: z.enum(['7', '30', '90', 'period'], 'must be one of 7, 30, 90, period').optional(),
  token: z.never('belongs behind #, as in /embed#token=…: what stands in a query is kept in logs').optional(),
});

/** `ancestors` are the origins whose pages may frame this one, as Content-Security-Policy writes them. */
export function embedRoute(app: App, ancestors: string): void {
  const files = new Map(readdirSync(FOLDER).map((name) => [name, readFileSync(new URL(name, FOLDER), 'utf8')]));
  // Its files are kept by browsers for ever, under the name of their version.
  const hash = createHash('sha256');
  for (const name of [...files.keys()].toSorted()) hash.update(`${name}\n${files.get(name)}\n`);
  const version = hash.digest('hex').slice(0, 16);
  const page = (files.get('page.html') ?? '').replaceAll('VERSION', version);
  const kept = new Map([...files].map(([name, text]) => [name, new KeptContent(text)]));
  // Nothing but its own files runs in the page, and nothing leaves it but questions to this Weir.
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');

  app.get('/embed', { compress: false, schema: { hide: true, querystring: query } }, (request, reply) => {
    const { theme, lang = 'en' } = request.query;
    return reply
      .headers({ 'content-security-policy': policy, 'content-type': 'text/html; charset=utf-8' })
      .serializer((text: string) => text)
      .send(page.replace('data-theme="auto"', `data-theme="${theme}"`).replace('lang="en"', `lang="${lang}"`));
  });

  // For pages of apps, which name no version: they ask again after five minutes.
  app.get('/embed/frame.js', KEPT, (_request, reply) =>
    (kept.get('frame.js') as KeptContent).send(
      reply.headers({ 'content-type': TYPES['js'], 'cache-control': 'public, max-age=300' }),
    ),
  );

  app.get('/embed/:version/:file', KEPT, (request, reply) => {
    const { version: asked, file } = request.params as { version: string; file: string };
    const content = kept.get(file);
    const type = TYPES[file.slice(file.lastIndexOf('.') + 1)];
    if (content === undefined || type === undefined) throw new Refusal('not_found', NO_SUCH_THING);
    return content.send(
      reply.headers({
        'content-type': type,
        // A page of another version may be open while this one is rolled out. It gets what there is, and keeps none of it.
        'cache-control': asked === version ? 'public, max-age=31536000, immutable' : 'no-store',
        // A frame that its app has put into a sandbox is of no origin.
        'access-control-allow-origin': '*',
      }),
    );
  });
}
