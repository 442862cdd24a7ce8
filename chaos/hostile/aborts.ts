// Clients that hang up, at every stage of a request, by an end, by a reset, or by saying nothing more.

import type { Message } from '../clients/http-client.ts';
import type { Attack, AttackKind } from './attack.ts';
import { batchMessage, loginMessage, newEvent, readMessages, textOf, trackMessage } from './messages.ts';
import type { RawConnection } from './raw-connections.ts';

const nothingAsked: AttackKind = {
  name: 'connect only',
  perSecond: 20,
  atOnceMax: Infinity,
  act(attack) {
    const connection = attack.connect();
    if (connection !== undefined) leave(attack, connection);
  },
};

const halfALine: AttackKind = {
  name: 'half a request line',
  perSecond: 20,
  atOnceMax: Infinity,
  act(attack) {
    const connection = attack.connect();
    if (connection === undefined) return;
    connection.send(attack.random.pick(['P', 'POST /api/v1/sdk/tra', 'GET /api/v1/meters HTTP/1.1\r\nhost: we']));
    leave(attack, connection);
  },
};

const noBody: AttackKind = {
  name: 'headers without a body',
  perSecond: 20,
  atOnceMax: Infinity,
  act: (attack) => sendPart(attack, (text) => text.slice(0, text.indexOf('\r\n\r\n') + 4)),
};

const halfABody: AttackKind = {
  name: 'half a body',
  perSecond: 20,
  atOnceMax: Infinity,
  act: (attack) => sendPart(attack, (text) => text.slice(0, Math.floor(text.length * 0.6))),
};

/** Everything is sent, and nobody is there for the answer. */
const hangUp: AttackKind = {
  name: 'hang up before the answer',
  perSecond: 20,
  atOnceMax: Infinity,
  act(attack) {
    const connection = attack.connect();
    if (connection === undefined) return;
    const account = attack.pickAccount();
    const kind = attack.random.int(0, 9);
    if (kind < 4) {
      attack.settle(account, { unsettled: 1 });
      connection.send(textOf(trackMessage(account)));
    } else if (kind < 6) connection.send(textOf(loginMessage(account.email, account.password)));
    else connection.send(textOf(attack.random.pick(readMessages(account))));
    setTimeout(() => connection.reset(), attack.random.int(0, 15));
  },
};

const PIPELINED = 20;

const pipelined: AttackKind = {
  name: 'pipelined, then reset',
  perSecond: 5,
  atOnceMax: Infinity,
  act(attack) {
    const connection = attack.connect();
    if (connection === undefined) return;
    const account = attack.pickAccount();
    const requests = Array.from({ length: PIPELINED }, (_, index) => {
      if (index % 4 !== 0) return attack.random.pick(readMessages(account));
      attack.settle(account, { unsettled: 1 });
      return trackMessage(account);
    });
    connection.send(requests.map(textOf).join(''));
    setTimeout(() => connection.reset(), attack.random.int(0, 100));
  },
};

/** Requests with a body, to every kind of route. One batch in ten is of a megabyte. */
function requestWithBody(attack: Attack): Message {
  const { random } = attack;
  const account = attack.pickAccount();
  const events = random.chance(0.1) ? 8_000 : 10;
  return random.pick<() => Message>([
    () => trackMessage(account),
    () =>
      batchMessage(
        account,
        Array.from({ length: events }, () => newEvent(account.meterToken)),
      ),
    () => loginMessage(account.email, account.password),
    () => ({
      method: 'POST',
      path: '/api/v1/customers',
      headers: { cookie: `access_token=${account.session}` },
      body: JSON.stringify({ external_id: `unfinished-${random.int(0, 1_000_000)}`, name: 'x'.repeat(200) }),
    }),
  ])();
}

function sendPart(attack: Attack, partOf: (text: string) => string): void {
  const connection = attack.connect();
  if (connection === undefined) return;
  connection.send(partOf(textOf(requestWithBody(attack))));
  leave(attack, connection);
}

/** Ends its side, resets the connection, or holds it for as long as the server does. */
function leave(attack: Attack, connection: RawConnection): void {
  const how = attack.random.int(0, 3);
  if (how >= 2) return;
  setTimeout(() => (how === 0 ? connection.finish() : connection.reset()), attack.random.int(0, 500));
}

export const ABORTS: readonly AttackKind[] = [nothingAsked, halfALine, noBody, halfABody, hangUp, pipelined];
