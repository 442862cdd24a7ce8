import pg from 'pg';

const ofConnection = new WeakSet<object>();

/** Whether an error came from the connection of a {@link NotingClient}: what the network and TLS say does not tell whose it was. */
export function isOfConnection(error: object): boolean {
  return ofConnection.has(error);
}

/** A client of Postgres whose errors of its connection are known as such, wherever they are caught. */
export class NotingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // Before those of pg, which it adds when it connects: they hand the same error on to the query, the pool or who connects.
    const { connection } = this as unknown as { connection: NodeJS.EventEmitter };
    connection.on('error', (error: object) => ofConnection.add(error));
  }
}
