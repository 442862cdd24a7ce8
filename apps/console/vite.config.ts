import react from '@vitejs/plugin-react';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import subsetFont from 'subset-font';
import { defineConfig, type Plugin } from 'vite';

/** Below this a compressed copy is no smaller on the wire. */
const COMPRESSED_BYTES_MIN = 1_000;

/** As theme.css names it. */
const FONT = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';

/** What the console draws of its font: text of Western Europe, of numbers and of prices. Other text has the font of the system. */
const FONT_TEXT = `${characters(0x20, 0x7e)}${characters(0xa0, 0xff)}ıŒœ–—‘’‚“”„•…′″‹›€™−↑↓`;

/** Normal to bold; kerning, digits of one width, and marks that stand at the height of what is around them. */
const FONT_DRAWN = { variationAxes: { wght: { min: 400, max: 700 } }, keepFeatures: ['calt', 'kern', 'tnum'] };

/** Of nearly every page, and small. */
const PARTS = /src.(?:components|text|api).|@tanstack|@mantine.(?:hooks|core.esm.(?:core|utils))|ScrollArea/;

/** Where something is chosen. */
const FIELDS =
  /src.usage|@mantine.core.esm.components.(?:Combobox|Select|Autocomplete|Checkbox|Switch|Textarea|SegmentedControl)/;

/** Where something is typed, and what asks. */
const FORMS =
  /src.components.(?:dialogs.(?:dialog|drawer|form-dialog|confirm|question)|forms.(?:form|ask-before-leaving))\./;

/** What an invoice, its lines and its prices are told with. */
const BILLS = /src.billing.invoice-(?:amount|dialogs|lines|status)|src.catalog.charge-(?:price|words)/;

const OF_FEW = /page-tabs|exact-json/;

const isPart = (id: string): boolean => PARTS.test(id) && !FORMS.test(id) && !OF_FEW.test(id);

/** What pages share. Each file has headers of its own and is compressed by itself, so there are few: all need the first. */
const SHARED = [
  { name: 'console', tags: ['$initial' as const], priority: 4 },
  { name: 'parts', test: isPart, minShareCount: 3, priority: 3 },
  { name: 'fields', test: FIELDS, minShareCount: 2, priority: 2 },
  { name: 'forms', test: FORMS, minShareCount: 3, priority: 1 },
  { name: 'bills', test: BILLS, minShareCount: 2 },
];

export default defineConfig({
  plugins: [react(), leanFont(), fewColors(), preloadFont(), precompress()],
  build: {
    // The policy of the page allows no data: addresses, and a file of its own is kept by the browser for ever.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: SHARED } } },
  },
  resolve: { alias: { 'react-remove-scroll': join(import.meta.dirname, 'src/components/dialogs/no-scroll-lock.ts') } },
  server: { proxy: { '/api': 'http://127.0.0.1:3000', '/openapi.json': 'http://127.0.0.1:3000' } },
});

function characters(first: number, last: number): string {
  return String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

/** Takes out of the font what is never drawn, before it is named: browsers keep a file for ever, so other contents need another name. */
function leanFont(): Plugin {
  return {
    name: 'weir-lean-font',
    apply: 'build',
    async config() {
      const whole = readFileSync(createRequire(import.meta.url).resolve(FONT));
      const lean = join(import.meta.dirname, 'node_modules', '.lean-font', basename(FONT));
      mkdirSync(dirname(lean), { recursive: true });
      writeFileSync(lean, await subsetFont(whole, FONT_TEXT, { targetFormat: 'woff2', ...FONT_DRAWN }));
      return { resolve: { alias: { [FONT]: lean } } };
    },
  };
}

/** Of the colours of Mantine the console draws grey and red; its own are in theme.css. */
function fewColors(): Plugin {
  const never = /--mantine-color-(?:blue|cyan|grape|green|indigo|lime|orange|pink|teal|violet|yellow)-[\w-]+:[^;]+;/g;
  return {
    name: 'weir-few-colors',
    enforce: 'pre',
    transform: { filter: { id: /default-css-variables\.css$/ }, handler: (code) => code.replaceAll(never, '') },
  };
}

/** The font is known only to the style sheet: named in the page, it is fetched at once, and no text is set twice. */
function preloadFont(): Plugin {
  return {
    name: 'weir-preload-font',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle }) =>
        Object.keys(bundle ?? {})
          .filter((name) => name.endsWith('.woff2'))
          .map((name) => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${name}`, crossorigin: '' },
            injectTo: 'head-prepend' as const,
          })),
    },
  };
}

/** Writes a brotli and a gzip copy beside each text, so that the API serves them without compressing anything itself. */
function precompress(): Plugin {
  let folder = '';
  return {
    name: 'weir-precompress',
    apply: 'build',
    configResolved: ({ root, build }) => void (folder = join(root, build.outDir)),
    closeBundle() {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|html|svg)$/.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const bytes = readFileSync(path);
        if (bytes.length < COMPRESSED_BYTES_MIN) continue;
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}
