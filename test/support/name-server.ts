// A server of DNS for a test: answers with the addresses that the test gives, each time anew.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

export interface NameServer {
  /** Where it listens, as a resolver takes it. */
  address: string;
  /** The names that were asked for, once for each question about addresses of IPv4. */
  asked: string[];
  /** Called once a name was looked up in both kinds. */
  onAsked?: () => void;
  close(): Promise<void>;
}

const [A, AAAA] = [1, 28];

/** `answer` returns the addresses of a name, of both kinds; undefined: the question is left without an answer. */
export async function openNameServer(answer: (name: string) => string[] | undefined): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  let answered = 0;
  socket.on('message', (question, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const end = at + 5;
    const type = question.readUInt16BE(at + 1);
    const name = labels.join('.');
    if (type === A) asked.push(name);
    const addresses = answer(name)?.filter((address) => isIPv4(address) === (type === A));
    if (addresses === undefined || (type !== A && type !== AAAA)) return;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.fill(0, 8);
    const records = addresses.map((address) => {
      const data = bytesOf(address);
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(type, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt16BE(data.length, 10);
      return Buffer.concat([record, data]);
    });
    socket.send(Buffer.concat([header, question.subarray(12, end), ...records]), from.port, from.address);
    answered += 1;
    if (answered % 2 === 0) server.onAsked?.();
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const server: NameServer = {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
  return server;
}

/** IPv6 in full, without `::`. */
function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  return Buffer.from(
    address
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
}
