// Connections of hostile clients, byte by byte: cut, half closed, held, or never read from. They come from addresses of
// their own, so that what is limited by the address does not hit the honest ones.

import { connect, type Socket } from 'node:net';
import type { Random } from '../random.ts';

/** All of 127.0.0.0/8 is this machine on Linux; elsewhere there is one address for everybody. */
export const HOSTILE_ADDRESSES: readonly (string | undefined)[] =
  process.platform === 'linux' ? Array.from({ length: 8 }, (_, index) => `127.0.7.${index + 1}`) : [undefined];

/** Connections that hostile clients have open at once, over all APIs. Six times what an API serves beside tracking. */
const OPEN_MAX = 600;

/** Of these, so many are not read from. Their end cannot be seen, so the oldest makes room for the next. */
const UNREAD_MAX = 60;

export interface RawConnectionOptions {
  /** Whether what comes is taken. */
  reads: boolean;
  onStatus: (status: number) => void;
  onBytes: (bytes: number) => void;
}

export class RawConnection {
  readonly #socket: Socket;
  readonly #onBytes: (bytes: number) => void;
  readonly #onOver: (() => void)[] = [];

  constructor(port: number, address: string | undefined, { reads, onStatus, onBytes }: RawConnectionOptions) {
    this.#onBytes = onBytes;
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      ...(address !== undefined && { localAddress: address }),
      // The end of the server's side is not answered by the end of this one.
      allowHalfOpen: true,
      noDelay: true,
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      for (const listener of this.#onOver) listener();
    });
    if (!reads) return;
    this.#socket.on('data', (bytes: Buffer) => {
      for (const [, status] of bytes.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) onStatus(Number(status));
    });
  }

  onOver(listener: () => void): void {
    this.#onOver.push(listener);
  }

  send(bytes: string | Buffer): void {
    this.#onBytes(bytes.length);
    if (!this.#socket.destroyed && !this.#socket.writableEnded) this.#socket.write(bytes);
  }

  /** Ends this side, and leaves the other one. */
  finish(): void {
    this.#socket.end();
  }

  /** Resets the connection once what was sent is out. */
  reset(): void {
    if (this.#socket.destroyed) return;
    // Bytes that still wait would be thrown away with the connection.
    this.#socket.write('', () => {
      if (this.#socket.connecting) this.#socket.destroy();
      else this.#socket.resetAndDestroy();
    });
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

export class RawConnections {
  readonly #ports: readonly number[];
  readonly #random: Random;
  readonly #open = new Set<RawConnection>();
  readonly #unread: RawConnection[] = [];

  constructor(ports: readonly number[], random: Random) {
    this.#ports = ports;
    this.#random = random;
  }

  /** Undefined while too many are open. */
  open(options: RawConnectionOptions): RawConnection | undefined {
    if (this.#open.size >= OPEN_MAX) return undefined;
    const connection = new RawConnection(this.#random.pick(this.#ports), this.#random.pick(HOSTILE_ADDRESSES), options);
    this.#open.add(connection);
    connection.onOver(() => this.#open.delete(connection));
    if (!options.reads) {
      this.#unread.push(connection);
      if (this.#unread.length > UNREAD_MAX) this.#unread.shift()?.destroy();
    }
    return connection;
  }
}
