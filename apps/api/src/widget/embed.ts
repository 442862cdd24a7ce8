// The page /embed: what an app shows its customer in an iframe. It is the same for everybody; whose usage it shows is
// decided by the token that the app puts into the fragment of the address (embed.js).

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { App } from '../http/typed-app.ts';

/** From `src` and from `dist` alike: the compiler does not carry these files along. */
function read(name: string): string {
  return readFileSync(new URL(`../../src/widget/${name}`, import.meta.url), 'utf8');
}

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** `ancestors` are the origins whose pages may frame this one, as Content-Security-Policy writes them. */
export function embedRoute(app: App, ancestors: string): void {
  const style = read('embed.css');
  const script = read('embed.js');
  // Nothing but what stands here runs in the page, and nothing leaves it but questions to this Weir.
  const policy = [
    "default-src 'none'",
    `script-src ${sourceOf(script)}`,
    `style-src ${sourceOf(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');
  // Given as functions, since a `$` in a replacement has a meaning of its own.
  const page = read('embed.html')
    .replace('<style></style>', () => `<style>${style}</style>`)
    .replace('<script type="module"></script>', () => `<script type="module">${script}</script>`);

  app.get('/embed', { schema: { hide: true } }, (_request, reply) =>
    reply
      .headers({
        'content-security-policy': policy,
        'content-type': 'text/html; charset=utf-8',
      })
      .serializer((text: string) => text)
      .send(page),
  );
}
