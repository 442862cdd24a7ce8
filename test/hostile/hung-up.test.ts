// Clients that hang up, or never send what they announced: at whichever stage, what their request held is given back.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { LOOKUP_MS_MAX, type RunningApi } from '@weir/api/serve';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { connectTo } from '../support/raw-connection.ts';
import { ownWeir } from '../support/use-weir.ts';

/** Few, so that a few requests that keep theirs shut the door. */
const SLOTS = 3;

const weir = ownWeir({ lookupMsMax: LOOKUP_MS_MAX, withWorker: false });
let api: RunningApi;
let admin: Organization;
let apiKey: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  api = await weir.startApi({
    REQUESTS_IN_FLIGHT_MAX: String(SLOTS),
    // One caller may take all of them: here it is not its share that is looked at.
    READS_IN_FLIGHT_PER_CALLER: String(SLOTS + 1),
    REQUEST_TIMEOUT_MS: '1000',
  });
});

const readFeatures = () =>
  weir.request('GET', '/api/v1/features', { session: admin.session, baseUrl: api.url }).then(({ status }) => status);
const metric = async (line: RegExp): Promise<number> =>
  Number(line.exec(await (await fetch(`${api.url}/metrics`)).text())?.[1] ?? Number.NaN);
const connections = () => metric(/^weir_connections (\d+)$/m);
const slotsTaken = () => metric(/^weir_requests_in_flight (\d+)$/m);

/** As many clients as there are slots, each over a connection of its own. */
async function clients(bytes: string): Promise<Socket[]> {
  const all = Array.from({ length: SLOTS }, () => connectTo(api.url));
  for (const socket of all) {
    sockets.push(socket);
    socket.on('error', () => {});
    // What comes is read, so that the end of it is seen.
    socket.resume();
    await once(socket, 'connect');
    socket.write(bytes);
  }
  return all;
}

const cookie = () => `Cookie: access_token=${admin.session}\r\n`;
const host = 'Host: weir\r\n';
const read = () => `GET /api/v1/features HTTP/1.1\r\n${host}${cookie()}\r\n`;
const json = 'Content-Type: application/json\r\n';
const halfOf = (head: string) => `${head}${host}${json}Content-Length: 50\r\n\r\n{`;
const login = (body: object) => {
  const text = JSON.stringify(body);
  return `POST /api/v1/auth/login HTTP/1.1\r\n${host}${json}Content-Length: ${text.length}\r\n\r\n${text}`;
};

const hangUp = {
  'with a FIN': (socket: Socket) => void socket.end(),
  'with a RST': (socket: Socket) => void socket.resetAndDestroy(),
};
const ways = Object.entries(hangUp);

/** Holds a lock on a table while something is done. */
async function whileLocked(table: string, action: () => Promise<void>): Promise<void> {
  const holder = await weir.pool.connect();
  try {
    await holder.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    await action();
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
}
const waitsForLock = async () => {
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  return (await weir.pool.query(waiting)).rowCount ?? 0;
};

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** However the clients went: all that may be read at the same time can be read, and nothing is missing. */
async function expectNothingHeld(): Promise<void> {
  await until(
    async () => {
      const statuses = await Promise.all(Array.from({ length: SLOTS }, readFeatures));
      return statuses.every((status) => status === 200);
    },
    'every slot can be had',
    10,
  );
  expect(await slotsTaken()).toBe(0);
  expect(await metric(/^weir_bodies_bytes (\d+)$/m)).toBe(0);
}

test.each(ways)('a body that is cut off %s holds no slot', async (_, end) => {
  for (const socket of await clients(halfOf('POST /api/v1/auth/login HTTP/1.1\r\n'))) end(socket);
  await expectNothingHeld();
});

test('bodies that never come hold no slot while they are waited for', async () => {
  await clients(halfOf('POST /api/v1/auth/login HTTP/1.1\r\n'));
  await clients(halfOf(`POST /api/v1/features HTTP/1.1\r\n${cookie()}`));
  await clients(`POST /api/v1/auth/login HTTP/1.1\r\n${host}${json}Transfer-Encoding: chunked\r\n\r\n1\r\n`);
  // An answer over another connection says that the process has read what came before it.
  expect(await readFeatures()).toBe(200);
  await expectNothingHeld();
});

test('bodies that came too late hold no slot', async () => {
  const late = await clients(halfOf('POST /api/v1/auth/login HTTP/1.1\r\n'));
  await Promise.all(late.map((socket) => once(socket, 'close')));
  await expectNothingHeld();
});

test('a body that is no HTTP holds no slot', async () => {
  const broken = `POST /api/v1/auth/login HTTP/1.1\r\n${host}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
  await Promise.all((await clients(broken)).map((socket) => once(socket, 'close')));
  await expectNothingHeld();
});

test.each(ways)(
  'a client that hangs up %s while Postgres works for it holds its slot for no longer',
  async (_, end) => {
    await whileLocked('features', async () => {
      const gone = await clients(read());
      await until(async () => (await waitsForLock()) === SLOTS, 'they wait for Postgres');
      const before = await connections();
      for (const socket of gone) end(socket);
      await until(async () => (await connections()) <= before - gone.length, 'they are gone');
      // What Postgres does for them is still work: a crowd that comes and goes gets no more of it than one that stays.
      expect(await slotsTaken()).toBe(SLOTS);
    });
    // Whoever comes next finds the door open.
    await expectNothingHeld();
  },
);

test.each(ways)('a client that hangs up %s while it is found out who it is holds no slot', async (_, end) => {
  await whileLocked('sessions', async () => {
    const gone = [
      ...(await clients(read())),
      ...(await clients(halfOf(`POST /api/v1/features HTTP/1.1\r\n${cookie()}`))),
    ];
    await until(async () => (await waitsForLock()) === SLOTS, 'they wait for Postgres');
    const before = await connections();
    for (const socket of gone) end(socket);
    await until(async () => (await connections()) <= before - gone.length, 'they are gone');
  });
  await expectNothingHeld();
  await expectNothingHeld();
});

test.each(ways)('requests behind the first one of a connection that ends %s hold no slot', async (_, end) => {
  await whileLocked('features', async () => {
    const [first] = await clients('');
    if (first === undefined) throw new Error('there is no client');
    first.write(read().repeat(SLOTS));
    await until(async () => (await waitsForLock()) === SLOTS, 'they wait for Postgres');
    end(first);
  });
  await expectNothingHeld();
});

test('a client that takes nothing of its answers and hangs up holds no slot', async () => {
  const slow = await clients('');
  for (const socket of slow) socket.pause();
  // The system takes some megabytes for it before the process has to keep the rest.
  const ask = `GET /docs/assets/scalar.js HTTP/1.1\r\n${host}\r\n`;
  let looks = 0;
  await until(async () => {
    for (const socket of slow) socket.write(ask);
    looks = (await slotsTaken()) === SLOTS ? looks + 1 : 0;
    return looks === 10;
  }, 'answers wait to be taken, look after look');
  for (const socket of slow) socket.resetAndDestroy();
  await expectNothingHeld();
});

test('a client that hangs up while a file is opened for it holds no slot', async () => {
  // In whichever of the steps, of which there are several turns of the event loop: it is tried often enough to meet each.
  for (let round = 0; round < 40; round += 1) {
    const gone = await clients(`GET /docs/assets/scalar.js HTTP/1.1\r\n${host}\r\n`);
    for (let turn = 0; turn < round % 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    for (const socket of gone) socket.resetAndDestroy();
  }
  await expectNothingHeld();
});

test('who hung up before his password was looked at has nothing hashed, and keeps nobody waiting', async () => {
  const slow = await weir.startApi();
  // An attempt is counted when its turn has come, before its password is hashed.
  const attempts = async () => Number(await weir.redis.get(`${weir.keys.failures}:address:127.0.0.1`));
  const crowd = Array.from({ length: 120 }, () => connectTo(slow.url));
  for (const socket of crowd) {
    sockets.push(socket);
    socket.on('error', () => {});
  }
  await Promise.all(crowd.map((socket) => once(socket, 'connect')));
  for (const [index, socket] of crowd.entries())
    socket.write(login({ email: `${index}@example.com`, password: 'wrong password' }));
  const waiting = async () =>
    Number(/^weir_passwords_waiting (\d+)$/m.exec(await (await fetch(`${slow.url}/metrics`)).text())?.[1]);
  await until(async () => (await waiting()) > 80, 'the crowd waits for its turn');
  for (const socket of crowd) socket.resetAndDestroy();
  const before = await attempts();
  const body = { email: 'somebody@example.com', password: 'wrong password' };
  expect((await weir.request('POST', '/api/v1/auth/login', { baseUrl: slow.url, body })).status).toBe(401);
  // Its own, and those whose turn came before they were seen to be gone.
  const since = (await attempts()) - before;
  expect(since).toBeGreaterThan(0);
  expect(since).toBeLessThan(5);
  await slow.close();
});

test('a request whose client hung up is counted, as aborted', async () => {
  const aborted = () =>
    metric(/^weir_http_request_seconds_count\{method="POST",route="\/api\/v1\/sdk\/track",status="aborted"\} (\d+)$/m);
  const before = (await aborted()) || 0;
  const gone = await clients(halfOf(`POST /api/v1/sdk/track HTTP/1.1\r\nX-API-Key: ${apiKey}\r\n`));
  expect(await readFeatures()).toBe(200);
  for (const socket of gone) socket.resetAndDestroy();
  await until(
    async () => (await aborted()) === before + SLOTS,
    'each of them is counted, long before its time is up',
    20,
  );
  await expectNothingHeld();
});

test('as many requests as there are slots are worked on, and one more is refused', async () => {
  await whileLocked('features', async () => {
    await clients(read());
    await until(async () => (await waitsForLock()) === SLOTS, 'they wait for Postgres');
    const refused = await weir.request('GET', '/api/v1/features', { session: admin.session, baseUrl: api.url });
    expectProblem(refused, 503, 'unavailable');
    // With a body, too, once it has come.
    const body = { name: 'one more', lookup_key: 'one-more', type: 'switch' };
    expectProblem(
      await weir.request('POST', '/api/v1/features', { session: admin.session, baseUrl: api.url, body }),
      503,
      'unavailable',
    );
  });
  await expectNothingHeld();
});
