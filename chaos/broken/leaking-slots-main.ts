// Loaded before the API (`node --import`): a connection that ends while a request is under way on it never says so, and its
// answer neither. Whoever waits for that to give something back waits for ever. The judge has to find the slots that are
// missing.

import type { EventEmitter } from 'node:events';
import { Server, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The answers that are not sent in full. */
const underWay = new WeakMap<Socket, Set<ServerResponse>>();

function keepsQuiet(emitter: EventEmitter, isQuiet: () => boolean): void {
  const emit = emitter.emit.bind(emitter);
  emitter.emit = (event: string | symbol, ...args: unknown[]) =>
    event === 'close' && isQuiet() ? false : emit(event, ...args);
}

function watch({ socket }: IncomingMessage, answer: ServerResponse): void {
  const answers = underWay.get(socket) ?? new Set();
  if (!underWay.has(socket)) {
    underWay.set(socket, answers);
    keepsQuiet(socket, () => answers.size > 0);
  }
  answers.add(answer);
  answer.once('finish', () => answers.delete(answer));
  keepsQuiet(answer, () => answers.has(answer));
}

const emit = Reflect.get(Server.prototype, 'emit') as (event: string | symbol, ...args: unknown[]) => boolean;

Server.prototype.emit = function (this: Server, event: string | symbol, ...args: unknown[]): boolean {
  if (event === 'request') watch(...(args as [IncomingMessage, ServerResponse]));
  return emit.call(this, event, ...args);
} as Server['emit'];
