// The least that Fastify can do for a request: what any service on it, this machine and this load cannot exceed.

import { runUntilStopped } from '@weir/shared/process';
import { createLog } from '@weir/shared/log';
import fastify from 'fastify';

await runUntilStopped(async () => {
  const app = fastify({ logger: false });
  app.post('/track', (_request, reply) => reply.code(201).send({ id: 'none', timestamp: 'never' }));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { log: createLog('floor', 'warn'), url, drainTimeoutMs: 5_000, close: () => app.close() };
});
