// Content that is the same for everybody, and needs no credential: pages, scripts, the document of the API. It is compressed
// once for each encoding, and not for each request: who asks without end, and reads nothing, costs no more than the first did.

import negotiate from '@fastify/accept-negotiator';
import type { FastifyReply } from 'fastify';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { BROTLI_QUALITY, BYTES_MIN, GZIP_LEVEL } from './connection/compression.ts';

/** For the options of a route that sends kept content: no other hook compresses it. */
export const KEPT = { compress: false, schema: { hide: true } } as const;

type Encoding = 'br' | 'gzip';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** Both work beside the event loop. */
const COMPRESS: Record<Encoding, (plain: Buffer) => Promise<Buffer>> = {
  br: (plain) =>
    toBrotli(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      },
    }),
  gzip: (plain) => toGzip(plain, { level: GZIP_LEVEL }),
};

/** Of those that a client likes equally well it gets the first. */
const ENCODINGS: (Encoding | 'identity')[] = ['br', 'gzip', 'identity'];

export class KeptContent {
  readonly #plain: Buffer;
  /** Made when it is first asked for. Those who ask meanwhile wait for the same. */
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();

  constructor(content: string | Buffer) {
    this.#plain = Buffer.from(content);
  }

  /** Its type has to be among the reply's headers. */
  async send(reply: FastifyReply): Promise<FastifyReply> {
    if (this.#plain.length < BYTES_MIN) return reply.send(this.#plain);
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`);
    const encoding = encodingFor(reply.request.headers['accept-encoding']);
    if (encoding === undefined) return reply.send(this.#plain);
    const compressed = await this.#in(encoding);
    return reply.header('content-encoding', encoding).send(compressed);
  }

  #in(encoding: Encoding): Promise<Buffer> {
    const kept = this.#compressed.get(encoding);
    if (kept !== undefined) return kept;
    const made = COMPRESS[encoding](this.#plain);
    this.#compressed.set(encoding, made);
    // Where memory ran out, whoever asks next is not refused for it.
    made.catch(() => this.#compressed.delete(encoding));
    return made;
  }
}

/** Undefined stands for the content as it is. So does `*`, which asks for nothing by its name. */
function encodingFor(accepted = ''): Encoding | undefined {
  const encoding = negotiate(accepted.toLowerCase().replaceAll('*', 'identity'), ENCODINGS);
  return encoding === 'identity' || encoding === null ? undefined : encoding;
}
