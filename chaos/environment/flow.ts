// One direction of a connection through a proxy: what comes in on one socket goes out on another, at once, late, or not
// at all.

import type { Socket } from 'node:net';

/** What is in the way. The end of a connection travels like its bytes: a black hole swallows that, too. */
type Item = Buffer | 'end' | 'reset';

/** More than this is not taken in while nothing goes out, as a full window of TCP would have it. */
const HELD_BYTES_MAX = 1024 * 1024;

export class Flow {
  readonly #source: Socket;
  readonly #sink: Socket;
  readonly #waiting: { item: Item; due: number }[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds that the next bytes take; asked for each piece. */
  #delay: () => number = () => 0;
  #isHeld = false;
  #isForgotten = false;
  #isOver = false;

  /** `onBytes` may take the bytes away by returning false. */
  constructor(source: Socket, sink: Socket, onBytes: () => boolean) {
    this.#source = source;
    this.#sink = sink;
    source.on('data', (bytes: Buffer) => {
      if (onBytes()) this.#take(bytes);
    });
    source.on('end', () => this.#take('end'));
    source.on('error', () => this.#take('reset'));
    // A socket that was destroyed without an error, by its peer's reset of the other direction.
    source.on('close', () => this.#take(source.readableEnded ? 'end' : 'reset'));
    sink.on('drain', () => source.resume());
  }

  setDelay(delay: () => number): void {
    this.#delay = delay;
  }

  hold(): void {
    this.#isHeld = true;
  }

  /** Lets go of what was held, in its order. */
  release(): void {
    this.#isHeld = false;
    this.#send();
  }

  /** From now on nothing gets through any more, and nobody is told. */
  forget(): void {
    this.#isForgotten = true;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
  }

  #take(item: Item): void {
    if (this.#isOver || this.#isForgotten) return;
    if (item === 'reset') this.#isOver = true;
    const before = this.#waiting.at(-1)?.due ?? 0;
    this.#waiting.push({ item, due: Math.max(before, performance.now() + this.#delay()) });
    this.#waitingBytes += item.length;
    if (this.#waitingBytes > HELD_BYTES_MAX) this.#source.pause();
    this.#send();
  }

  #send(): void {
    clearTimeout(this.#timer);
    while (!this.#isHeld) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const left = next.due - performance.now();
      if (left > 0) {
        this.#timer = setTimeout(() => this.#send(), left);
        return;
      }
      this.#waiting.shift();
      this.#waitingBytes -= next.item.length;
      if (this.#waitingBytes <= HELD_BYTES_MAX) this.#source.resume();
      this.#put(next.item);
    }
  }

  #put(item: Item): void {
    if (this.#sink.destroyed) return;
    if (item === 'end') this.#sink.end();
    else if (item === 'reset') resetSocket(this.#sink);
    else if (!this.#sink.write(item)) this.#source.pause();
  }
}

/**
 * Resets a connection, so that its peer gets an error and not an end. One whose end is on its way already is only closed:
 * Node cannot reset it, and would then neither close it nor exit.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded || socket.connecting) socket.destroy();
  else socket.resetAndDestroy();
}
