import react from '@vitejs/plugin-react';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

/** Below this a compressed copy is no smaller on the wire. */
const COMPRESSED_BYTES_MIN = 1_000;

export default defineConfig({
  plugins: [react(), preloadFont(), precompress()],
  build: {
    // The policy of the page allows no data: addresses, and a file of its own is kept by the browser for ever.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:3000', '/openapi.json': 'http://127.0.0.1:3000' } },
});

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
