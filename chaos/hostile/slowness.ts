// Clients that take their time: with what they send, with what they read, and with going.

import { randomBytes } from 'node:crypto';
import type { AttackKind } from './attack.ts';
import { bucketsMessage, loginMessage, readMessages, textOf, trackMessage } from './messages.ts';

const BYTE_MS = 1_000;

const slowBody: AttackKind = {
  name: 'a byte a second',
  perSecond: 10,
  atOnceMax: Infinity,
  act(attack) {
    const connection = attack.connect();
    if (connection === undefined) return;
    const account = attack.pickAccount();
    const message = attack.random.chance(0.5) ? trackMessage(account) : loginMessage(account.email, account.password);
    const text = textOf(message);
    // Some are slow from the first byte on.
    let sent = attack.random.chance(0.3) ? 0 : text.length - (message.body?.length ?? 0);
    connection.send(text.slice(0, sent));
    const timer = setInterval(() => {
      connection.send(text.slice(sent, sent + 1));
      sent += 1;
    }, BYTE_MS);
    connection.onOver(() => clearInterval(timer));
  },
};

/** Six megabytes of answers are more than what lies in the buffers of a connection. */
const ANSWERS = 6;

const slowReader: AttackKind = {
  name: 'asks and does not read',
  perSecond: 2,
  atOnceMax: Infinity,
  act(attack) {
    const connection = attack.connect({ reads: false });
    if (connection === undefined) return;
    const account = attack.pickAccount();
    const large = bucketsMessage(account);
    const others = attack.random.chance(0.7) ? textOf(large) : readMessages(account).map(textOf).join('');
    // The last one closes: else a connection whose answers all fit would be kept for its next request, and by right.
    const last = textOf({ ...large, headers: { ...large.headers, connection: 'close' } });
    connection.send(others.repeat(ANSWERS) + last);
  },
};

/** Answered 400 by a server that then has nothing more to say, and not closed by the client. */
const halfOpen: AttackKind = {
  name: 'answered, and kept half-open',
  perSecond: 20,
  atOnceMax: Infinity,
  act(attack) {
    attack.connect()?.send('NO HTTP AT ALL\r\n\r\n');
  },
};

const garbage: AttackKind = {
  name: 'garbage',
  perSecond: 20,
  atOnceMax: Infinity,
  act(attack) {
    const connection = attack.connect();
    if (connection === undefined) return;
    const text = textOf(trackMessage(attack.pickAccount()));
    const head = text.slice(0, text.indexOf('content-length'));
    connection.send(
      attack.random.pick<() => string | Buffer>([
        () => randomBytes(attack.random.int(1, 4_096)),
        // The beginning of TLS, and of HTTP/2.
        () => Buffer.from('16030100c8010000c40303', 'hex'),
        () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        () => `GET / HTTP/1.1\r\nhost: weir\r\nx-long: ${'x'.repeat(100_000)}\r\n\r\n`,
        () => `${head}transfer-encoding: chunked\r\n\r\nZZZ\r\n`,
        () => `${head}content-length: 5\r\ncontent-length: 6\r\n\r\n{}`,
        () => `${head}content-length: 2\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n{}`,
        () => 'GET /%2e%2e/%00/docs/static/%2e%2e/x HTTP/1.1\r\nhost: weir\r\n\r\n',
      ])(),
    );
    setTimeout(
      () => (attack.random.chance(0.5) ? connection.finish() : connection.reset()),
      attack.random.int(50, 1_000),
    );
  },
};

export const SLOWNESS: readonly AttackKind[] = [slowBody, slowReader, halfOpen, garbage];
