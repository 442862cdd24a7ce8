import Fastify from 'fastify';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { KEPT, KeptContent } from './kept-content.ts';

const TEXT = 'the same for everybody\n'.repeat(10_000);

function appWith(text: string) {
  const app = Fastify();
  const content = new KeptContent(text);
  const sent: unknown[] = [];
  app.addHook('onSend', (_request, _reply, payload, done) => {
    sent.push(payload);
    done(null, payload);
  });
  app.get('/', KEPT, (_request, reply) => content.send(reply.type('text/plain').header('vary', 'accept')));
  const read = (accepted?: string) =>
    app.inject({ url: '/', headers: accepted === undefined ? {} : { 'accept-encoding': accepted } });
  return { read, sent };
}

test.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)('%s is made once, also for those who ask while it is made', async (encoding, unfold) => {
  const { read, sent } = appWith(TEXT);
  await Promise.all(Array.from({ length: 20 }, () => read(encoding)));
  const { rawPayload, headers } = await read(encoding);
  expect(unfold(rawPayload).toString()).toBe(TEXT);
  expect(headers['content-encoding']).toBe(encoding);
  expect(sent.length).toBe(21);
  // Not what is equal, but the same piece of memory.
  expect(new Set(sent).size).toBe(1);
});

test.each([
  ['br, gzip', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP', 'gzip'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['gzip, *;q=0', 'gzip'],
  ['gzip;q=0, br;q=0', undefined],
  ['identity, br;q=0.5', undefined],
  ['deflate, zstd', undefined],
  ['*', undefined],
  ['', undefined],
  [undefined, undefined],
])('who accepts %j gets %j', async (accepted, encoding) => {
  const { headers } = await appWith(TEXT).read(accepted);
  expect(headers['content-encoding']).toBe(encoding);
  expect(headers.vary).toBe('accept, accept-encoding');
});

test('what fits into a packet comes as it is', async () => {
  const { headers, payload } = await appWith('x'.repeat(1_023)).read('br, gzip');
  expect([headers['content-encoding'], headers.vary, payload.length]).toEqual([undefined, 'accept', 1_023]);
});
