// Loaded before a program, as `source-address-main.js?address=127.1.0.1`: its connections to this computer come from that address, so that
// a proxy knows whose they are.

import { Socket } from 'node:net';

const localAddress = new URL(import.meta.url).searchParams.get('address');
if (localAddress === null) throw new Error('source-address-main.js is to be loaded with an address');

type Connect = (this: Socket, ...args: unknown[]) => Socket;

const connect = Reflect.get(Socket.prototype, 'connect') as Connect;

Reflect.set(Socket.prototype, 'connect', function (this: Socket, ...args: unknown[]): Socket {
  // What `net.connect` passes on is a list in a list.
  const [first] = args;
  const options = (Array.isArray(first) ? first[0] : first) as { host?: string; localAddress?: string } | undefined;
  if (typeof options === 'object' && options.host === '127.0.0.1') options.localAddress ??= localAddress;
  return connect.call(this, ...args);
});
