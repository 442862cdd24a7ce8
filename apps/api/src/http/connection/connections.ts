// Every connection, the requests under way over it, and how each of them ends. A request ends once: it is answered in full,
// or its connection ends, which Fastify does not tell. Whatever a request holds is given back from here.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether its answer was made, and nobody works on it any more. */
    hasAnswer: boolean;
  }
}

export interface Connection {
  readonly socket: Socket;
  /**
   * The requests that have not come in whole or are not answered yet, in the order they came. Null stands for one that was
   * answered before all of it had come in.
   */
  readonly requests: Map<IncomingMessage, FastifyReply | null>;
  /** Something came that is no HTTP, while a request was under way: closed as soon as that is answered. */
  isToClose: boolean;
}

export interface Connections {
  /** Those that are open. */
  open(): Iterable<Connection>;
  count(): number;
  /** Called once for each request: when its answer is on its way in full, or when its client has gone before. */
  onEnd(listener: (request: FastifyRequest, reply: FastifyReply, isHungUp: boolean) => void): void;
  /** Called once for each request, after its end: when nobody here works on it any more, and nothing of it is left. */
  onOver(listener: (request: FastifyRequest) => void): void;
}

/** By their sockets, for what Node says of a socket alone. */
const bySocket = new WeakMap<Socket, Connection>();

export function connectionOf(socket: Socket): Connection | undefined {
  return bySocket.get(socket);
}

/** Whether the client has gone. What is still done for it is done for nobody. */
export function isHungUp({ raw }: FastifyRequest): boolean {
  return raw.socket.destroyed;
}

/** Has to be set up before every hook that counts on a request's end. */
export function watchConnections(app: FastifyInstance): Connections {
  const all = new Set<Connection>();
  const onEnd: ((request: FastifyRequest, reply: FastifyReply, isHungUp: boolean) => void)[] = [];
  const onOver: ((request: FastifyRequest) => void)[] = [];
  /** Requests that are worked on while their clients have gone. There is none most of the time. */
  const abandoned = new Set<FastifyRequest>();

  const over = (request: FastifyRequest) => {
    for (const listener of onOver) listener(request);
  };
  const end = (reply: FastifyReply, isHungUp: boolean) => {
    for (const listener of onEnd) listener(reply.request, reply, isHungUp);
    // A password that is hashed, or a statement that runs, goes on without the client, and takes as much.
    if (isHungUp && !reply.request.hasAnswer) abandoned.add(reply.request);
    else over(reply.request);
  };

  // One listener for a connection: a listener for each request would be paid by all of them.
  const watch = (socket: Socket): Connection => {
    const connection: Connection = { socket, requests: new Map(), isToClose: false };
    bySocket.set(socket, connection);
    all.add(connection);
    socket.once('close', () => {
      all.delete(connection);
      const replies = [...connection.requests.values()];
      connection.requests.clear();
      for (const reply of replies) if (reply !== null) end(reply, true);
    });
    return connection;
  };
  app.server.on('connection', watch);

  app.addHook('onRequest', ({ raw }, reply, done) => {
    // A server with two addresses, such as localhost, tells of the connections to the first only.
    const { requests } = bySocket.get(raw.socket) ?? watch(raw.socket);
    // A request may be answered before it has come in whole. Its rest has come by now.
    if (requests.size > 0) for (const [request, answer] of requests) if (answer === null) requests.delete(request);
    requests.set(raw, reply);
    done();
  });
  // Not when headers are sent: those of a file wait until it is read.
  app.decorateRequest('hasAnswer', false);
  app.addHook('onSend', (request, _reply, payload, done) => {
    request.hasAnswer = true;
    if (abandoned.size > 0 && abandoned.delete(request)) over(request);
    done(null, payload);
  });
  app.addHook('onResponse', ({ raw }, reply, done) => {
    const connection = bySocket.get(raw.socket);
    if (connection?.requests.has(raw) === true) {
      if (raw.complete) connection.requests.delete(raw);
      else connection.requests.set(raw, null);
      end(reply, false);
      if (connection.isToClose && isAnswered(connection)) raw.socket.destroySoon();
    }
    done();
  });

  return {
    open: () => all,
    count: () => all.size,
    onEnd: (listener) => onEnd.push(listener),
    onOver: (listener) => onOver.push(listener),
  };
}

/** Whether nothing is left to answer; a request that has not come in whole cannot have been acted on. */
export function isAnswered({ requests }: Connection): boolean {
  for (const [request, answer] of requests) if (answer !== null && request.complete) return false;
  return true;
}

/** The reply that is to be sent next: answers leave in the order of their requests. */
export function nextReply({ requests }: Connection): FastifyReply | undefined {
  for (const reply of requests.values()) if (reply !== null) return reply;
  return undefined;
}
