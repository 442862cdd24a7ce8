import { randomBytes, randomInt } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { isCode } from './processes.ts';

/** Where an embedded server listens on 127.0.0.1, and the password that opens it. */
export interface Connection {
  port: number;
  password: string;
}

/**
 * The connection kept in `file`, made on first use. The port stays the same from run to run, so that a bookmark in a
 * database client keeps working, until something else has taken it.
 */
export async function loadConnection(file: string): Promise<Connection> {
  const kept = await readConnection(file);
  if (kept !== undefined && (await isPortFree(kept.port))) return kept;
  const connection = {
    port: await findFreePort(),
    password: kept?.password ?? randomBytes(24).toString('base64url'),
  };
  await writePrivateFile(file, `${JSON.stringify(connection)}\n`);
  return connection;
}

async function readConnection(file: string): Promise<Connection | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Connection;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw new Error(`${file} holds the password of an embedded server, and cannot be read. Put it back as it was.`, {
      cause: error,
    });
  }
}

/** Writes a file that only its owner can read. A reader, even after a power cut, finds the old content or the new. */
export async function writePrivateFile(file: string, content: string): Promise<void> {
  const draft = await open(`${file}.new`, 'w', 0o600);
  try {
    await draft.writeFile(content);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${file}.new`, file);
}

/**
 * Below what systems give to outgoing connections, so that none of these can take the port of a server while that is started, or
 * started again.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/** A port of 127.0.0.1 that nothing listened on a moment ago. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port was found between ${FIRST_PORT} and ${LAST_PORT} on 127.0.0.1.`);
}

/** Whether nothing keeps a server from this port now that leaves it other ports. What leaves it none it says itself, and better. */
export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(!isCode(error, 'EADDRINUSE', 'EACCES')));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
