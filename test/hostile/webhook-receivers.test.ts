// Whoever chooses where webhooks go must not choose what Weir reaches inside its own network, nor hold its workers.

import { Networks } from '@weir/shared/networks';
import { openNameLookup } from '@weir/worker/webhooks/receiver-address';
import { Sender, type Received } from '@weir/worker/webhooks/send-request';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openNameServer, type NameServer } from '../support/name-server.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../support/receiver-certificate.ts';
import { signUp } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server, host: string, port = 0): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A sender that asks this server for names, and may reach 127.0.0.1 alone of all that is local. */
function sending(names?: NameServer, attemptMsMax = 15_000): { send(url: string): Promise<Received> } {
  const lookup = openNameLookup(names && [names.address]);
  const sender = new Sender({ lookup, allowed: new Networks('127.0.0.1'), ca: CERTIFICATE, attemptMsMax });
  closers.push(() => sender.close());
  return {
    send: async (url) => (await sender.send({ url, headers: {}, body: '{}' })) ?? Promise.reject(new Error(url)),
  };
}

async function naming(answer: (name: string) => string[] | undefined): Promise<NameServer> {
  const names = await openNameServer(answer);
  closers.push(() => names.close());
  return names;
}

/** A receiver with TLS at 127.0.0.1; nobody must ever come to one at 127.0.0.2. */
async function receiving(
  answer: (socket: string) => { status: number; headers?: Record<string, string>; body?: string },
) {
  const hosts: string[] = [];
  const server = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (request, response) => {
    hosts.push(String(request.headers.host));
    const { status, headers, body } = answer(request.url ?? '');
    response.writeHead(status, headers).end(body);
  });
  const port = await listen(server, '127.0.0.1');
  const inside: Socket[] = [];
  await listen(
    createTcpServer((socket) => inside.push(socket.destroy())),
    '127.0.0.2',
    port,
  );
  return { port, hosts, inside };
}

const REFUSED = expect.stringContaining('WEBHOOK_ALLOWED_NETWORKS');

test('a name is looked up once for each attempt, and what was checked is what is connected to', async () => {
  const { port, hosts, inside } = await receiving(() => ({ status: 200, body: 'well' }));
  let leadsTo = ['127.0.0.1'];
  let next = ['127.0.0.2'];
  // A name leads elsewhere as soon as it was looked up: who asks twice is led inside.
  const names = await naming(() => leadsTo);
  const { send } = sending(names);
  const url = `https://hooks.weir.test:${port}/`;
  const asking = (first: string[], then: string[]) => {
    leadsTo = first;
    next = then;
  };
  names.onAsked = () => (leadsTo = next);
  expect(await send(url)).toMatchObject({ status: 200, answer: 'well' });
  // The connection of before is still open, and the name leads inside by now.
  expect(await send(url)).toMatchObject({ status: null, error: REFUSED });
  asking(['127.0.0.2', '127.0.0.1'], ['127.0.0.2']);
  expect(await send(url)).toMatchObject({ status: 200 });
  expect(names.asked).toEqual(Array(3).fill('hooks.weir.test'));
  expect(hosts).toEqual(Array(2).fill(`hooks.weir.test:${port}`));
  expect(inside).toEqual([]);
});

test('nothing is sent to an address that is not public, however its name or the URL has it', async () => {
  const { port, inside } = await receiving(() => ({ status: 200 }));
  const addresses = ['127.0.0.2', '10.0.0.1', '169.254.169.254', '0.0.0.0', '0:0:0:0:0:0:0:1', '0:0:0:0:0:ffff:7f00:2'];
  const more = ['64:ff9b:0:0:0:0:7f00:2', 'fd00:0:0:0:0:0:0:1', '2002:7f00:2:0:0:0:0:1'];
  const all = [...addresses, ...more];
  const { send } = sending(await naming((name) => all.slice(Number(name.slice(1, 2)), Number(name.slice(1, 2)) + 1)));
  for (const index of all.keys())
    expect([all[index], await send(`https://n${index}.weir.test:${port}/`)]).toEqual([
      all[index],
      expect.objectContaining({ error: REFUSED }),
    ]);
  for (const host of ['2130706434', '0x7f.2', '0177.0.0.2', '127.2', '[::1]', '[::ffff:127.0.0.2]', '[::127.0.0.2]'])
    expect([host, await send(`https://${host}:${port}/`)]).toEqual([host, expect.objectContaining({ error: REFUSED })]);
  // No URL has a zone.
  expect((await send(`https://[fe80::1%25lo]:${port}/`)).error).toMatch(/Invalid URL/);
  expect(inside).toEqual([]);
});

test('no redirect is followed, no certificate of another name is taken, and http is for allowed networks', async () => {
  const { port, hosts, inside } = await receiving(() => ({
    status: 307,
    headers: { location: `https://127.0.0.2:${port}/` },
    body: 'elsewhere',
  }));
  const { send } = sending(await naming((name) => [name.startsWith('public') ? '192.0.1.1' : '127.0.0.1']));
  expect(await send(`https://hooks.weir.test:${port}/`)).toMatchObject({ status: 307, answer: 'elsewhere' });
  expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ status: 307 });
  expect((await send(`https://other.weir.test:${port}/`)).error).toMatch(/altnames|certificate/);
  expect((await send('http://public.weir.test/')).error).toMatch(/plain http/);
  expect([hosts.length, inside]).toEqual([2, []]);
});

test('of an answer the first KiB is kept, and one without an end is cut off', async () => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const pour = (): void => {
      while (!socket.destroyed && socket.write('é'.repeat(4_096)));
      if (!socket.destroyed) socket.once('drain', pour);
    };
    pour();
  });
  const port = await listen(server, '127.0.0.1');
  const received = await sending().send(`http://127.0.0.1:${port}/`);
  expect(received).toMatchObject({ status: 200, answer: 'é'.repeat(512) });
  const closed = createTcpServer((socket) => socket.destroy());
  const { error, status } = await sending().send(`http://127.0.0.1:${await listen(closed, '127.0.0.1')}/`);
  expect([status, error]).toEqual([null, 'socket hang up']);
});

test('an attempt is over after its time, whether the name, the connection or the answer does not come', async () => {
  const silent = await listen(
    createTcpServer((socket) => socket.on('error', () => {})),
    '127.0.0.1',
  );
  const drops = createTcpServer((socket) => {
    socket.on('error', () => {});
    const timer = setInterval(() => socket.write('H'), 500);
    socket.on('close', () => clearInterval(timer));
  });
  const slow = await listen(drops, '127.0.0.1');
  const { send } = sending(await naming(() => undefined), 1_000);
  const began = performance.now();
  const [http, https, dripping, name] = await Promise.all([
    send(`http://127.0.0.1:${silent}/`),
    send(`https://127.0.0.1:${silent}/`),
    send(`http://127.0.0.1:${slow}/`),
    send('https://hooks.weir.test/'),
  ]);
  expect([http.error, https.error]).toEqual(Array(2).fill('No answer within 1 s.'));
  expect([dripping.status, name.status]).toEqual([null, null]);
  expect(performance.now() - began).toBeLessThan(10_000);
});

test('a URL that can only lead inside is refused when it is given, and so is what is no URL', async () => {
  const admin = await signUp(weir);
  const create = (url: string) =>
    weir.request('POST', '/api/v1/webhook-endpoints', { session: admin.session, body: { url } });
  const refused = [
    'http://example.com/',
    'ftp://example.com/',
    'https:example.com',
    '//example.com',
    'example.com',
    'https://',
    'https://user:password@example.com/',
    'https://user@example.com/',
    'https://example.com/#part',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://0x7f000001/',
    'https://10.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[fe80::1%25eth0]/',
    'https://[64:ff9b::7f00:1]/',
    'https://\uff11\uff12\uff17.0.0.1/',
    'https://127。0。0。1/',
    `https://example.com/${'a'.repeat(2_048)}`,
    'https://example.com/\0',
  ];
  for (const url of refused) expect([url, (await create(url)).status]).toEqual([url, 422]);
  for (const url of ['https://example.com', 'https://example.com:8443/hook?token=1', 'https://1.1.1.1/'])
    expect([url, (await create(url)).status]).toEqual([url, 201]);
});
