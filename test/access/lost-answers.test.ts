// Both clients, when the answer to a write gets lost on the way back: it is done once, and a secret in it is not waited for twice.

import { WeirClient } from '@weir/sdk';
import { execFile } from 'node:child_process';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const run = promisify(execFile);
const python = fileURLToPath(new URL('../../clients/python', import.meta.url));

const weir = sharedWeir();
let apiKey: string;
/** Loses the answer to the first request; its address, and the keys that came with all of them. */
let proxy: Server;
let baseUrl: string;
let keys: (string | string[] | undefined)[];

beforeAll(async () => {
  apiKey = await (await signUp(weir)).createKey();
  proxy = createServer((request, response) => {
    keys.push(request.headers['idempotency-key']);
    const isLost = keys.length === 1;
    const { hostname, port } = new URL(weir.baseUrl);
    const { url, method, headers } = request;
    const sent = forward({ hostname, port, path: url, method, headers }, (answer) => {
      if (isLost) response.socket?.destroy();
      else {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }
    });
    request.pipe(sent);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
beforeEach(() => {
  keys = [];
});
afterAll(async () => {
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
});

const code = `
import sys
from weir import Client
print(Client(sys.argv[1], sys.argv[2]).widget_token("acme")["token"])`;

test.each([
  ['Node', async () => (await new WeirClient({ baseUrl, apiKey }).widgetToken('acme')).token],
  [
    'Python',
    async () => {
      const env = { ...process.env, PYTHONPATH: python, PYTHONDONTWRITEBYTECODE: '1' };
      return (await run('python3', ['-c', code, baseUrl, apiKey], { env })).stdout.trim();
    },
  ],
])('the client for %s asks with the same key, hears that the token is gone, and makes another', async (_, make) => {
  const token = await make();
  const [first, second, third, ...more] = keys;
  expect([second, more]).toEqual([first, []]);
  expect(third).not.toBe(first);
  const read = await weir.request('GET', '/api/v1/widget/usage', { headers: { authorization: `Bearer ${token}` } });
  expect(read.status).toBe(200);
});
