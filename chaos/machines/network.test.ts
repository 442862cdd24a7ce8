import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { pickPorts } from '../environment/ports.ts';
import { heldBetween, Network, type Side } from './network.ts';
import { addressOf, callerAt, MACHINES, machineOf, POSTGRESES, processesOn, REDISES } from './placement.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('every process calls from an address of its own, and no machine has both primaries', () => {
  const processes = MACHINES.flatMap(processesOn);
  expect(new Set(processes.map(addressOf)).size).toBe(processes.length);
  expect(processes.map((name) => callerAt(addressOf(name)))).toEqual(processes);
  expect(callerAt('127.0.0.1')).toBe('outside');
  expect(machineOf(REDISES[0])).not.toBe(machineOf(POSTGRESES[0]));
  expect(machineOf(REDISES[0])).not.toBe(machineOf(REDISES[1]));
  expect(machineOf(POSTGRESES[0])).not.toBe(machineOf(POSTGRESES[1]));
});

test.for<[string, string, Side[], string[]]>([
  ['api-1', 'redis-0', ['in', 'out'], ['forth', 'back']],
  ['api-1', 'redis-0', ['in'], ['forth']],
  ['api-1', 'redis-0', ['out'], ['back']],
  ['redis-0', 'redis-1', ['in'], ['back']],
  ['redis-0', 'redis-1', ['out'], ['forth']],
  ['client', 'api-0', ['out'], ['back']],
  ['api-0', 'redis-0', ['in', 'out'], []],
  ['api-1', 'redis-1', ['in', 'out'], []],
])('of %s calling %s, with machine-0 cut off at %j, %j is held', ([caller, callee, sides, held]) => {
  expect(heldBetween(caller, callee, (machine) => (machine === 'machine-0' ? sides : []))).toEqual(held);
});

interface Call {
  network: Network;
  /** What the server on machine-0 has heard from machine-1, but for what others sent. */
  heard: () => string;
  caller: Socket;
  /** Resolves when others were answered by that server several times: what was sent before and is not held has come by then. */
  pass: () => Promise<void>;
}

async function openCall(): Promise<Call> {
  let heard = '';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      heard += bytes.toString();
      socket.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  const network = new Network(() => 20);
  cleanups.push(() => network.close());
  const [toRedis = 0, toSentinel = 0] = await pickPorts(2);
  const callee = (server.address() as AddressInfo).port;
  await network.openFront('redis-0', { own: toRedis, callee });
  await network.openFront('sentinel-2', { own: toSentinel, callee });
  const call = async (port: number) => {
    const caller = connect({ port, host: '127.0.0.1', localAddress: addressOf('api-1') });
    caller.on('error', () => {});
    cleanups.push(() => caller.destroy());
    caller.write('.');
    await once(caller, 'data');
    return caller;
  };
  const [caller, other] = [await call(toRedis), await call(toSentinel)];
  const pass = async () => {
    for (let times = 0; times < 5; times += 1) {
      other.write('.');
      await once(other, 'data');
    }
  };
  return { network, heard: () => heard.replaceAll('.', ''), caller, pass };
}

test('a machine that nothing reaches hears nothing, and then what was held for it', async () => {
  const { network, heard, caller, pass } = await openCall();
  network.cut('machine-0', ['in']);
  caller.write('a');
  await pass();
  expect(heard()).toBe('');
  network.heal('machine-0', 'deliver');
  await once(caller, 'data');
  expect(heard()).toBe('a');
});

test('a machine that nothing leaves hears what it is sent, and is heard when it is healed', async () => {
  const { network, heard, caller, pass } = await openCall();
  let answers = '';
  caller.on('data', (bytes: Buffer) => (answers += bytes.toString()));
  network.cut('machine-0', ['out']);
  caller.write('a');
  await pass();
  expect([heard(), answers]).toEqual(['a', '']);
  network.heal('machine-0', 'deliver');
  await once(caller, 'data');
  expect(answers).toBe('a');
});

test('what is on its way to a machine that dies is lost, and its connections with it', async () => {
  const { network, heard, caller, pass } = await openCall();
  network.cut('machine-0', ['in', 'out']);
  caller.write('a');
  await pass();
  const closed = new Promise((resolve) => caller.once('close', resolve));
  network.heal('machine-0', 'reset');
  await closed;
  await pass();
  expect(heard()).toBe('');
});
