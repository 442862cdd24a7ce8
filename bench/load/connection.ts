import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer; status 0 when the connection ended before it was complete. */
export interface Answer {
  status: number;
  text: string;
}

const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;

/**
 * One kept-alive connection with at most one request under way. It knows as much of HTTP as the servers here speak: an
 * answer has a Content-Length. A full client would take more of the cores than some of the servers that are measured.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #onAnswer: (answer: Answer) => void;
  #received = '';
  #isWaiting = false;

  private constructor(socket: Socket, onAnswer: (answer: Answer) => void) {
    this.#socket = socket;
    this.#onAnswer = onAnswer;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.#take(chunk));
    socket.on('error', () => {});
    socket.on('close', () => this.#settle({ status: 0, text: '' }));
  }

  static async open(port: number, host: string, onAnswer: (answer: Answer) => void): Promise<Connection> {
    const socket = connect({ port, host });
    await once(socket, 'connect');
    return new Connection(socket, onAnswer);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Sends a request; the answer comes to `onAnswer`, once. */
  send(request: string): void {
    this.#isWaiting = true;
    this.#socket.write(request, 'latin1');
  }

  /** Ends the connection; a request under way is answered with status 0. */
  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: string): void {
    this.#received += chunk;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = LENGTH.exec(this.#received)?.[1];
    if (length === undefined) {
      this.#socket.destroy(new Error('an answer came without Content-Length'));
      return;
    }
    const bodyStart = headEnd + 4;
    if (this.#received.length < bodyStart + Number(length)) return;
    const status = Number(this.#received.slice(9, 12));
    const text = status === 201 ? '' : this.#received.slice(bodyStart);
    this.#received = '';
    this.#settle({ status, text });
  }

  #settle(answer: Answer): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#onAnswer(answer);
  }
}
