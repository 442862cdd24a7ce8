import { createLog } from '@weir/shared/log';
import { fastify, type FastifyBaseLogger } from 'fastify';
import { expect, test } from 'vitest';
import { tellOfUnnamedProxies } from './forwarded-for.ts';

/** The addresses that an API tells of, after these requests. */
async function toldOf(trustProxy: string | undefined, requests: { from: string; forwardedFor?: string }[]) {
  const lines: { level: number; address?: string; msg: string }[] = [];
  const log: FastifyBaseLogger = createLog('api', 'warn', [], { write: (line) => void lines.push(JSON.parse(line)) });
  const app = fastify({ loggerInstance: log });
  tellOfUnnamedProxies(app, trustProxy);
  app.get('/', () => 'ok');
  for (const { from, forwardedFor } of requests) {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
    await app.inject({ url: '/', remoteAddress: from, headers });
  }
  await app.close();
  for (const { level, msg } of lines) expect([level, msg]).toEqual([40, expect.stringMatching(/TRUST_PROXY/)]);
  return lines.map(({ address }) => address);
}

test('a proxy that TRUST_PROXY does not name is told of, once in a while', async () => {
  const requests = ['192.0.2.7', '192.0.2.8'].map((forwardedFor) => ({ from: '10.1.2.3', forwardedFor }));
  expect(await toldOf(undefined, requests)).toEqual(['10.1.2.3']);
  expect(await toldOf('10.9.0.0/16', requests)).toEqual(['10.1.2.3']);
});

test('of a proxy that is named, and of a client that says nothing of others, nothing is told', async () => {
  expect(await toldOf('10.0.0.0/8', [{ from: '10.1.2.3', forwardedFor: '192.0.2.7' }])).toEqual([]);
  expect(await toldOf('10.0.0.0/8', [{ from: '::ffff:10.1.2.3', forwardedFor: '192.0.2.7' }])).toEqual([]);
  expect(await toldOf(undefined, [{ from: '192.0.2.7' }])).toEqual([]);
});
