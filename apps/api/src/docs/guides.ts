// The guides, from the Markdown in docs/guides to the pages under /docs/guides. They are rendered once, at start; whoever writes one
// is trusted, and HTML in it is shown as text all the same.

import MarkdownIt from 'markdown-it';
import { readFileSync } from 'node:fs';

/** From `src` and from `dist` alike. */
const FOLDER = new URL('../../../../docs/guides/', import.meta.url);

/** In the order in which a newcomer reads them. */
const NAMES = [
  'first-event',
  'unique-users',
  'late-events',
  'corrections',
  'pricing-and-invoices',
  'services',
  'embedding',
  'events-of-others',
  'running-it',
] as const;

export interface Guides {
  /** The page that lists them. */
  overview: string;
  /** Whole pages, by the name in their address. */
  pages: ReadonlyMap<string, string>;
}

/** Throws for one that is missing, or that does not begin with its title. */
export function readGuides(): Guides {
  const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });
  // A table wider than the page is scrolled, also by those who use no mouse.
  markdown.renderer.rules.fence = (tokens, index) =>
    `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[index]?.content ?? '')}</code></pre>\n`;
  const { normalizeLink } = markdown;
  // Between themselves the files are linked as files, so that they are read on any host of Git as well.
  markdown.normalizeLink = (link) => normalizeLink(link.replace(/^([\w-]+)\.md(#.*)?$/, '/docs/guides/$1$2'));
  const guides = NAMES.map((name) => {
    const text = readFileSync(new URL(`${name}.md`, FOLDER), 'utf8');
    const title = /^# (.+)\n/.exec(text)?.[1];
    if (title === undefined) throw new Error(`docs/guides/${name}.md does not begin with its title`);
    return { name, title, lead: leadOf(text), body: markdown.render(text) };
  });
  const list = (current?: string): string => {
    const items = guides.map(({ name, title }) => {
      const mark = name === current ? ' aria-current="page"' : '';
      return `<li><a href="/docs/guides/${name}"${mark}>${markdown.utils.escapeHtml(title)}</a></li>`;
    });
    return `<nav aria-label="Guides"><ul>${items.join('')}</ul></nav>`;
  };
  const pages = guides.map(({ name, title, body }): [string, string] => [name, page(title, list(name), body)]);
  const entries = guides.map(
    ({ name, title, lead }) =>
      `<h2><a href="/docs/guides/${name}">${markdown.utils.escapeHtml(title)}</a></h2>${markdown.render(lead)}`,
  );
  return { overview: page('Guides', list(), `<h1>Guides</h1>${entries.join('')}`), pages: new Map(pages) };
}

/** The paragraph below the title. */
function leadOf(text: string): string {
  return text.split('\n\n')[1] ?? '';
}

function page(title: string, list: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title} · Weir</title>
    <link rel="icon" href="/docs/assets/weir.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/docs/assets/docs.css" />
  </head>
  <body>
    <header class="bar">
      <a class="name" href="/docs"><img src="/docs/assets/weir.svg" alt="" width="24" height="24" /> Weir</a>
      <nav aria-label="Documentation">
        <a href="/docs">Reference</a>
        <a href="/docs/guides" aria-current="true">Guides</a>
        <a href="/">Console</a>
      </nav>
    </header>
    <div class="guide">
      ${list}
      <main>${body}</main>
    </div>
  </body>
</html>
`;
}
