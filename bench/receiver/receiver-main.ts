// A process of its own: a receiver of webhooks that answers at once. One that comes less than two in three of what a worker sends in a
// second ends it, and with it the round: what is held against tracking alone is tracking beside deliveries.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The worker looks for work every second, and a turn that ends leaves a gap. */
const LOOK_SECONDS = 5;

/** It is started when the rest is there. */
const FIRST_SECONDS_MAX = 10;

const { DELIVERIES_PER_SECOND = '' } = process.env;

let received = 0;
const server = createServer((request, response) => {
  received += 1;
  request.resume().once('end', () => response.writeHead(204).end());
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => process.exit());
const first = setTimeout(() => {
  throw new Error(`no webhook came within ${FIRST_SECONDS_MAX} s`);
}, FIRST_SECONDS_MAX * 1_000);
server.once('request', () => {
  clearTimeout(first);
  const least = (Number(DELIVERIES_PER_SECOND) * LOOK_SECONDS * 2) / 3;
  setInterval(() => {
    if (received < least) throw new Error(`${received} webhooks came within ${LOOK_SECONDS} s, and not ${least}`);
    received = 0;
  }, LOOK_SECONDS * 1_000);
});
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
