// Answers in brotli or gzip, for those who ask for it: what is read, and nothing else. Tracking must not wait for it, and an answer
// that holds a secret (a new key, a token, a link) must not tell its length by what else stands in it: all of those are made by POST.
// What is the same for everybody is not compressed here, but once for all requests: kept-content.ts.

import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';
import { constants } from 'node:zlib';

/** Shorter ones fit into a packet as they are. */
export const BYTES_MIN = 1_024;

/** Up to this an answer is compressed at once, in some tenths of a millisecond; longer ones beside the event loop. */
const AT_ONCE_BYTES_MAX = 16_384;

/** Of 1 to 11: beyond it brotli takes many times as long for some percent. */
export const BROTLI_QUALITY = 4;

/** Of 10 to 24, as a power of two: brotli takes several times these bytes for each answer that is under way. */
const BROTLI_WINDOW = 18;

/** Of 1 to 9. */
export const GZIP_LEVEL = 4;

/** Has to be set up before the routes. */
export async function useCompression(app: FastifyInstance): Promise<void> {
  app.addHook('onRoute', (route) => {
    const isRead = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD');
    if (!isRead || (route.config?.traffic ?? 'other') !== 'other') route.compress = false;
  });
  await app.register(compress, {
    globalDecompression: false,
    encodings: ['br', 'gzip'],
    threshold: BYTES_MIN,
    syncThreshold: AT_ONCE_BYTES_MAX,
    brotliOptions: {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW,
      },
    },
    zlibOptions: { level: GZIP_LEVEL },
  });
}
